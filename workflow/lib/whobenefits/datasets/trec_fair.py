"""The TREC 2022 Fair Ranking track's Wikipedia articles: corpus, metadata and WikiProjects as JSON lines.

Each file is read once from its beginning to its end, and only what belongs to the wanted documents is kept, so that
memory grows with the topic and not with the corpus.
"""

import difflib
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from whobenefits.categories import SEVERAL, UNKNOWN, Category
from whobenefits.datasets.form import Record, spaced
from whobenefits.datasets.json_lines import (
    REMEDY,
    Row,
    kind_of,
    number_of,
    numbered_lines,
    parsed,
    place,
    shown,
    text_of,
    wanted_rows,
    whole_number,
)
from whobenefits.errors import DataError

Labels = tuple[str, ...]


@dataclass(frozen=True)
class WikiProject:
    """A topic of the track: the ids of the documents that belong to it, and how many of them are listed repeatedly."""

    topic_id: int
    title: str
    doc_ids: frozenset[int]
    repeated: int = 0


class TrecFair:
    """The track's three files, each plain or gzip."""

    reasons: Sequence[str] = (
        "listed_twice",
        "no_document",
        "no_metadata",
        "repeated_metadata",
        "conflicting_metadata",
    )

    def __init__(self, corpus: Path, metadata: Path, topics: Path, categories: Mapping[str, Category]) -> None:
        """Read documents, their labels and the topics from these files, and the groups of these categories."""
        self.corpus, self.metadata, self.topics = corpus, metadata, topics
        self.categories = categories
        self.wikiproject = cache(self._wikiproject)

    def about(self, topic: str) -> Mapping[str, str]:
        """The WikiProject's id and title, as one text."""
        project = self.wikiproject(topic)
        return {"wikiproject": f"{project.topic_id} {project.title}"}

    def records(self, topic: str) -> Iterator[Record]:
        """The records of the WikiProject with this id: one for each id that it lists, and what is there too often.

        Raises DataError where it is not in the file of topics, or where one of the files is broken.
        """
        project = self.wikiproject(topic)
        for _ in range(project.repeated):
            yield Record("", "", "", fault="listed_twice")
        yield from self.records_of(project.doc_ids)

    def records_of(self, doc_ids: Set[int]) -> Iterator[Record]:
        """A record for each of the ids, for each further line of the corpus and each further row of the metadata.

        An id that is not in the corpus is the fault no_document, a document without a row of metadata no_metadata. Of
        several rows of metadata one stays, see read_labels; each of the others is the fault repeated_metadata, or
        conflicting_metadata where its labels have not been seen for this document. Raises DataError for broken files.
        """
        labels, faults = read_labels(self.metadata, doc_ids, self.categories)
        yield from faults
        missing = set(doc_ids)
        for line, row in wanted_rows(self.corpus, "id", doc_ids):
            missing.discard(row["id"])
            yield self._record(row, labels.get(row["id"]), line)
        for doc_id in missing:
            yield Record(str(doc_id), "", "", fault="no_document")

    def _record(self, row: Row, labels: Labels | None, line: int) -> Record:
        title, text = (spaced(text_of(row, key, self.corpus, line)) for key in ("title", "plain"))
        if labels is None:
            return Record(str(row["id"]), title, text, fault="no_metadata")
        return Record(str(row["id"]), title, text, dict(zip(self.categories, labels, strict=True)))

    def wikiprojects(self) -> list[WikiProject]:
        """All topics of the file, with all ids of their documents."""
        return list(read_wikiprojects(self.topics))

    def _wikiproject(self, topic: str) -> WikiProject:
        titles = {}
        found = None
        for project in read_wikiprojects(self.topics):
            titles[str(project.topic_id)] = project.title
            if str(project.topic_id) == topic:
                found = project
        if found is None:
            raise DataError(f"{self.topics}: no WikiProject has the id {topic!r}: {_hint(topic, titles)}")
        return found


def _hint(topic: str, titles: Mapping[str, str]) -> str:
    near = difflib.get_close_matches(topic, sorted(titles), n=3, cutoff=0.5)
    known = ", ".join(f"{name!r} ({titles[name]})" for name in near or sorted(titles)[:5])
    return f"{'near it are' if near else 'some that are there:'} {known}"


def read_wikiprojects(path: Path) -> Iterator[WikiProject]:
    """The topics of a file, in its order. Raises DataError for a broken line, a wrong type or an id that comes again."""
    lines: dict[int, int] = {}
    for number, line in numbered_lines(path):
        row = parsed(path, number, line)
        topic_id = number_of(row, "id", path, number)
        if topic_id in lines:
            raise DataError(
                f"{place(path, number)}: the WikiProject {topic_id} is in line {lines[topic_id]:,} already: remove one"
            )
        lines[topic_id] = number
        doc_ids = _doc_ids(row.get("rel_docs"), path, number)
        listed = frozenset(doc_ids)
        yield WikiProject(topic_id, spaced(text_of(row, "title", path, number)), listed, len(doc_ids) - len(listed))


def _doc_ids(value: Any, path: Path, number: int) -> list[int]:
    if not isinstance(value, list):
        raise DataError(f"{place(path, number)}: 'rel_docs' is {kind_of(value)}, not a list of ids: {REMEDY}")
    for doc_id in value:
        if type(doc_id) is not int:
            whole_number(doc_id, "rel_docs", path, number)
    return value


def read_labels(
    path: Path, doc_ids: Set[int], categories: Mapping[str, Category]
) -> tuple[dict[int, Labels], list[Record]]:
    """The groups of the documents, in the order of the categories ("" for none), and a record for each row too many.

    Of several rows of a document the one with the most groups stays, of as many the one whose groups come first in code
    point order, so that their order in the file changes nothing. Raises DataError for broken files and for a label
    that is no group of its category.
    """
    seen: dict[int, Labels] = {}
    again: dict[int, list[Labels]] = defaultdict(list)
    shared: dict[Labels, Labels] = {}
    fields: Counter[str] = Counter()
    for line, row in wanted_rows(path, "page_id", doc_ids):
        fields.update(category.field for category in categories.values() if category.field in row)
        labels = tuple(_label(row.get(c.field), c, path, line) for c in categories.values())
        labels = shared.setdefault(labels, labels)
        if row["page_id"] in seen:
            again[row["page_id"]].append(labels)
        else:
            seen[row["page_id"]] = labels
    _warn_of_absent_fields(path, categories, fields)
    faults = []
    for doc_id, others in again.items():
        rows = [seen[doc_id], *others]
        seen[doc_id] = min(rows, key=lambda labels: (labels.count(""), labels))
        conflicts = len(set(rows)) - 1
        faults += [Record(str(doc_id), "", "", fault="conflicting_metadata")] * conflicts
        faults += [Record(str(doc_id), "", "", fault="repeated_metadata")] * (len(others) - conflicts)
    return seen, faults


def _label(value: Any, category: Category, path: Path, line: int) -> str:
    """The one group of a document in a category, or "" where it has none.

    A text is the label itself, and an empty text or no field is none. Of a list, or the keys of an object, one value is
    the label, several different ones are Several, and none is Unknown where the category has that group.
    """
    match value:
        case None | "":
            return ""
        case str():
            label = value
        case list() | dict():
            label = _joint_label(value, category, path, line)
        case _:
            raise _not_a_label(value, category, path, line)
    if label and label not in category.groups:
        raise DataError(
            f"{place(path, line)}: {category.field!r} is {label!r}, which is no group of {category.slug}: its groups "
            f"are {', '.join(category.groups)}: correct the line, or define the category under dataset.categories"
        )
    return label


def _joint_label(values: Iterable[Any], category: Category, path: Path, line: int) -> str:
    if not all(isinstance(value, str) for value in values):
        raise _not_a_label(values, category, path, line)
    labels = {value for value in values if value}
    unknown = next((label for label in sorted(labels) if label not in category.groups), None)
    if len(labels) == 1 or unknown:
        return unknown or labels.pop()
    return SEVERAL if labels else UNKNOWN if UNKNOWN in category.groups else ""


def _not_a_label(value: Any, category: Category, path: Path, line: int) -> DataError:
    return DataError(
        f"{place(path, line)}: {category.field!r} is {shown(value)}, neither a label nor a list of labels: {REMEDY} or "
        f"choose another field for {category.slug}"
    )


def _warn_of_absent_fields(path: Path, categories: Mapping[str, Category], fields: Counter[str]) -> None:
    absent = [f"{category.field} ({slug})" for slug, category in categories.items() if not fields[category.field]]
    if absent:
        logging.warning("%s: no row has the fields of these categories: %s", path, ", ".join(absent))
