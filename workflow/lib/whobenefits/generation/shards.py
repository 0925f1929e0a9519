"""The parts of a topic and task that separate jobs generate."""

import hashlib

import pandas as pd


def shard_requests(requests: pd.DataFrame, shard: str) -> pd.DataFrame:
    """The rows of the table of requests that the shard `NUMBER-of-COUNT` (from 1) generates.

    All requests of a query are in one shard. The queries are dealt out in the order of their hashes, so that shards
    differ by at most one query and no group of queries is kept together.
    """
    number, count = map(int, shard.split("-of-"))
    dealt = sorted(set(requests["query_id"]), key=lambda query: (hashlib.sha256(query.encode()).digest(), query))
    return requests[requests["query_id"].isin(dealt[number - 1 :: count])].reset_index(drop=True)
