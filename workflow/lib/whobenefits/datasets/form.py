"""The common form of all sources: records of one topic in, a corpus with its groups out, every drop counted."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Protocol

import pandas as pd

from whobenefits.categories import Category
from whobenefits.errors import DataError
from whobenefits.groups import quartile_groups
from whobenefits.sampling import document_cells

# Why a record is dropped, behind a source's own reasons; of several the first one that applies is counted.
REASONS = ("empty_title", "empty_body", "too_long", "no_label", "duplicate_id", "duplicate_title")


@dataclass(frozen=True)
class Record:
    """One record of a source, its title and text with single spaces between the words and none around them.

    `labels` has the group by category where the source gives one ("" is no valid label), `values` the number by
    category where the group is a quartile among the kept documents of the topic. `fault` is the source's own reason why
    this is no document, if there is one.
    """

    doc_id: str
    title: str
    text: str
    labels: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    fault: str = ""

    @property
    def words(self) -> int:
        """Whitespace words of the text: one more than its single spaces."""
        return self.text.count(" ") + 1 if self.text else 0


class Source(Protocol):
    """Where real documents come from. `reasons` are the faults that its records can have."""

    reasons: Sequence[str]

    def about(self, topic: str) -> Mapping[str, str]:
        """What dataset.csv says about a topic beside what is counted: text by column. Raises DataError as records does."""

    def records(self, topic: str) -> Iterable[Record]:
        """All records of one topic, in any order, with what makes some of them unusable left in.

        Raises DataError where the files are not what they must be, or where the source has no such topic.
        """


@dataclass(frozen=True)
class Documents:
    """The kept documents of one topic, how many records were dropped by reason, and what the source says of the topic."""

    corpus: pd.DataFrame
    groups: pd.DataFrame
    dropped: Mapping[str, int]
    about: Mapping[str, str]


def spaced(text: str) -> str:
    """The text with each run of white space as one space, and none around it."""
    return " ".join(text.split())


def title_key(title: str) -> str:
    """What two titles share that count as the same: NFKC, casefolded, with single spaces."""
    folded = unicodedata.normalize("NFKC", title).casefold()
    return spaced(unicodedata.normalize("NFKC", folded))


def topic_documents(
    source: Source, topic: str, categories: Mapping[str, Category], cells: Sequence[str], max_words: int
) -> Documents:
    """The corpus (doc_id, title, text) and groups (doc_id, category, group) of a topic's usable records, by doc_id.

    Usable is a record with a title, a text of at most `max_words` whitespace words and a group in each category of
    `cells`. Of usable records with the same doc_id the one with the smallest (title, text) in code point order stays,
    of those with the same title_key the one with the smallest doc_id. Groups are given for all categories in which a
    document has one. Raises DataError where nothing is left, or where a label is no group of its category.
    """
    dropped: Counter[str] = Counter(dict.fromkeys((*source.reasons, *REASONS), 0))
    unlabelled: Counter[str] = Counter()
    usable = []
    for record in source.records(topic):
        reason = fault_of(record, cells, max_words)
        if reason:
            dropped[reason] += 1
            unlabelled.update(_unlabelled(record, cells) if reason == "no_label" else ())
        else:
            usable.append(record)
    kept = distinct(usable, dropped)
    if not kept:
        lacking = f"; without a label in: {_counts(unlabelled)}" if unlabelled else ""
        raise DataError(
            f"topic {topic!r}: no document is left of {dropped.total()} records ({_counts(dropped)}{lacking}): raise "
            "dataset.max_words or change queries.cells"
        )
    corpus = pd.DataFrame([(r.doc_id, r.title, r.text) for r in kept], columns=["doc_id", "title", "text"])
    return Documents(corpus, _groups(kept, categories), dict(dropped), source.about(topic))


def fault_of(record: Record, cells: Sequence[str], max_words: int) -> str | None:
    """Why a record is dropped by itself, or None where it is usable."""
    if record.fault:
        return record.fault
    if not record.title:
        return "empty_title"
    if not record.text:
        return "empty_body"
    if record.words > max_words:
        return "too_long"
    return "no_label" if _unlabelled(record, cells) else None


def _unlabelled(record: Record, cells: Sequence[str]) -> list[str]:
    return [name for name in cells if not record.labels.get(name) and name not in record.values]


def distinct(records: Iterable[Record], dropped: Counter[str]) -> list[Record]:
    """The records by doc_id without those whose doc_id or title another one has; these are counted in `dropped`."""
    ids, titles, kept = set(), set(), []
    for record in sorted(records, key=_order):
        key = title_key(record.title)
        if record.doc_id in ids:
            dropped["duplicate_id"] += 1
        elif key in titles:
            dropped["duplicate_title"] += 1
        else:
            ids.add(record.doc_id)
            titles.add(key)
            kept.append(record)
    return kept


def _order(record: Record) -> tuple:
    # Labels and values decide between records that are equal in all else, so that the input order never does.
    return record.doc_id, record.title, record.text, sorted(record.labels.items()), sorted(record.values.items())


def _counts(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in dropped.items() if count)


def _groups(kept: list[Record], categories: Mapping[str, Category]) -> pd.DataFrame:
    labels = {slug: _labels(kept, category) for slug, category in categories.items()}
    rows = [
        (record.doc_id, slug, labels[slug][record.doc_id])
        for record in kept
        for slug in categories
        if record.doc_id in labels[slug]
    ]
    return pd.DataFrame(rows, columns=["doc_id", "category", "group"])


def _labels(kept: list[Record], category: Category) -> dict[str, str]:
    """The group by doc_id in one category, of the documents that have one."""
    slug = category.slug
    given = {record.doc_id: record.labels[slug] for record in kept if record.labels.get(slug)}
    for doc_id, group in given.items():
        if group not in category.groups:
            raise DataError(
                f"{doc_id}: {group!r} is no group of {slug}: its groups are {list(category.groups)}, correct the "
                "record or the category"
            )
    values = {record.doc_id: record.values[slug] for record in kept if slug in record.values}
    return given | quartile_groups(values, category.groups)


def dataset_summary(
    documents: Documents,
    queries: pd.DataFrame,
    topic: Mapping[str, str],
    categories: Mapping,
    cells: Sequence[str],
    given: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """One row about a topic: its queries and documents, their mean lengths in words, its cells, and the dropped records.

    `read` counts the topic's records; it is `documents` and all `dropped_…` columns together. `given` are the counts of
    queries that were given and not drawn.
    """
    corpus, dropped = documents.corpus, documents.dropped
    row = {
        "topic": topic["slug"],
        "label": topic["label"],
        **documents.about,
        "queries": len(queries),
        **(given or {}),
        "documents": len(corpus),
        "mean_body_words": corpus["text"].str.split().str.len().mean(),
        "mean_title_words": corpus["title"].str.split().str.len().mean(),
        "cells_filled": document_cells(documents.groups, cells).nunique(),
        "cells_possible": prod(len(categories[category].groups) for category in cells),
        "read": len(corpus) + sum(dropped.values()),
    }
    return pd.DataFrame([row | {f"dropped_{reason}": count for reason, count in dropped.items()}])


def write_summary(summary: pd.DataFrame, path: str | Path) -> None:
    """Write a topic's row as CSV, its means with two decimals."""
    summary.to_csv(path, index=False, float_format="%.2f", lineterminator="\n")
