"""Which queries the page carries itself, so that it can be mailed alone: all, or as many as fit, evenly spread."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from whobenefits.report.lookup import plain

# Bytes of query records inside the page.
ROOM = 4_000_000
# Bytes of the list of queries.
LIST_ROOM = 2_500_000


def evenly_spread(count: int) -> list[int]:
    """The numbers from 0 to count - 1 in an order whose every beginning is spread over all of them (van der Corput)."""
    bits = max(1, (count - 1).bit_length())
    turned = (int(f"{i:0{bits}b}"[::-1], 2) for i in range(2**bits))
    return [i for i in turned if i < count]


def carried(folder: str | Path, paths: Sequence[str], room: int = ROOM) -> list[str]:
    """The scripts of as many of the queries' files as fit into so many bytes; every file where all fit."""
    texts, left = [], room
    for i in evenly_spread(len(paths)):
        size = (Path(folder) / paths[i]).stat().st_size
        if size <= left:
            left -= size
            texts.append((i, (Path(folder) / paths[i]).read_text(encoding="utf-8")))
    return [text for _, text in sorted(texts)]


def listed(rows: Sequence[list], room: int = LIST_ROOM) -> list[list]:
    """As many rows of the list of queries as fit into so many bytes, evenly spread, in their order; all where they fit."""
    sizes = [len(json.dumps(row)) for row in rows]
    if sum(sizes) <= room:
        return list(rows)
    kept, left = [], room
    for i in evenly_spread(len(rows)):
        left -= sizes[i]
        if left < 0:
            break
        kept.append(i)
    return [rows[i] for i in sorted(kept)]


def query_rows(topic: str, paths: Sequence[str], titles: Mapping[str, str], outcomes: pd.DataFrame) -> list[list]:
    """The list of a topic's queries: topic, query, title, file, and its accuracies by task, LLM and retriever.

    `titles` by query in the order of the paths; `outcomes` is a table of outcomes. Accuracies are in [0, 1] or None,
    under "TASK LLM RETRIEVER", the LLM alone under the retriever "none".
    """
    kept = outcomes[outcomes["measure"].isin(["ac_llm", "ac_rag"])]
    values: dict[str, dict[str, float | None]] = {}
    for row in kept.itertuples():
        values.setdefault(row.query_id, {})[f"{row.task} {row.llm} {row.retriever}"] = plain(row.value)
    pairs = zip(titles.items(), paths, strict=True)
    return [[topic, query, title, path, values.get(query, {})] for (query, title), path in pairs]
