"""How many documents each WikiProject has, before and after the filters, and the topics that are the largest."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from whobenefits.datasets.form import Record, distinct, fault_of
from whobenefits.datasets.trec_fair import TrecFair
from whobenefits.errors import DataError

LARGEST = re.compile(r"largest (\d+)")
COLUMNS = ("rank", "topic_id", "title", "listed", "documents")


def topic_counts(source: TrecFair, cells: Sequence[str], max_words: int) -> pd.DataFrame:
    """One row for each WikiProject (rank, topic_id, title, listed, documents), the most documents first.

    `listed` counts the distinct ids that the track lists, `documents` those that stay after all filters: it is the
    number that dataset.csv gives for the topic. Of as many documents the smaller id goes first. Two passes over the
    files for all topics together; memory grows with the titles of the documents that stay. Raises DataError where a
    file is broken.
    """
    projects = source.wikiprojects()
    listed = frozenset().union(*(project.doc_ids for project in projects))
    usable = _usable(source, listed, cells, max_words)
    rows = []
    for project in projects:
        records = [record for doc_id in project.doc_ids for record in usable.get(str(doc_id), ())]
        rows.append((project.topic_id, project.title, len(project.doc_ids), len(distinct(records, Counter()))))
    rows.sort(key=lambda row: (-row[3], row[0]))
    return pd.DataFrame([(rank, *row) for rank, row in enumerate(rows, 1)], columns=list(COLUMNS))


def _usable(source: TrecFair, doc_ids: frozenset[int], cells: Sequence[str], max_words: int) -> dict[str, list[Record]]:
    """The usable records by doc_id, without their texts and labels: what decides which of them are duplicates."""
    usable = defaultdict(list)
    for record in source.records_of(doc_ids):
        if fault_of(record, cells, max_words) is None:
            usable[record.doc_id].append(replace(record, text="", labels={}))
    return usable


def selected_topic(select: str, counts: str | Path | None) -> str:
    """What the source calls the topic: for `largest N` the id in row N of the counts, else `select` as it is.

    Raises DataError where there are fewer topics, or none with a document.
    """
    found = LARGEST.fullmatch(select)
    if counts is None or found is None:
        return select
    table = pd.read_csv(counts)
    row = int(found[1])
    filled = int((table["documents"] > 0).sum())
    if row > filled:
        raise DataError(
            f"{counts}: {select!r} selects nothing: {filled} WikiProjects have documents, choose a smaller number"
        )
    return str(table["topic_id"].iloc[row - 1])
