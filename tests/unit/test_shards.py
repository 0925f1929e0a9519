import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.generation.shards import shard_requests


def requests(queries, each=3):
    rows = [(f"{query}{i}", query) for query in queries for i in range(each)]
    return pd.DataFrame(rows, columns=["request_id", "query_id"])


@given(st.sets(st.text("abc", min_size=1, max_size=4), max_size=12), st.integers(1, 5))
def test_each_query_is_in_one_shard_with_all_its_requests(queries, count):
    plan = requests(sorted(queries))
    shards = [shard_requests(plan, f"{number}-of-{count}") for number in range(1, count + 1)]
    assert sorted(row for shard in shards for row in shard["request_id"]) == sorted(plan["request_id"])
    held = [set(shard["query_id"]) for shard in shards]
    assert sum(map(len, held)) == len(queries)
    assert max(map(len, held)) - min(map(len, held)) <= 1


def test_the_order_of_the_requests_changes_no_shard():
    plan = requests("abcdefg")
    for number in (1, 2, 3):
        shard = f"{number}-of-3"
        again = shard_requests(plan.iloc[::-1], shard)
        assert set(again["request_id"]) == set(shard_requests(plan, shard)["request_id"])


@pytest.mark.parametrize("number", [1, 2])
def test_more_shards_than_queries_leave_some_empty(number):
    assert len(shard_requests(requests("a"), f"{number}-of-2")) == (3 if number == 1 else 0)
