"""Queries that are given by their ids instead of drawn."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from whobenefits.errors import DataError
from whobenefits.sampling import document_cells

# Names of the column that has the ids, in the order in which they are looked for.
ID_COLUMNS = ("query_id", "docno")


def read_ids(path: str | Path) -> list[str]:
    """The ids in a file, in its order: a CSV with a column `query_id` or `docno`, or one id a line.

    Raises DataError, with file, line and remedy, for a file that is not there or no UTF-8, a row without an id, an id
    that comes again, and lines with several columns but no such name above them.
    """
    found: dict[str, int] = {}
    for line, name in _numbered_ids(Path(path)):
        if not name:
            raise DataError(f"{path}, line {line}: has no id: correct or remove the line")
        if name in found:
            raise DataError(f"{path}, line {line}: the id {name!r} is in line {found[name]} already: remove one")
        found[name] = line
    return list(found)


def _numbered_ids(path: Path) -> list[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, [value.strip() for value in row]) for row in reader if row]
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file: correct queries.ids") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: is no CSV file in UTF-8 ({error}): correct queries.ids or the file") from None
    column = next((rows[0][1].index(name) for name in ID_COLUMNS if rows and name in rows[0][1]), None)
    if column is not None:
        return [(line, row[column] if column < len(row) else "") for line, row in rows[1:]]
    for line, row in rows:
        if len(row) != 1:
            raise DataError(
                f"{path}, line {line}: has {len(row)} columns, but no column is named {' or '.join(ID_COLUMNS)}: name the "
                "column with the ids, or write one id a line"
            )
    return [(line, row[0]) for line, row in rows]


def given_queries(path: str | Path, groups: pd.DataFrame, cells: Sequence[str]) -> tuple[pd.DataFrame, dict[str, int]]:
    """The given queries (query_id, cell), sorted by cell and id, and how many were given and how many are missing.

    Missing are the ids that are not among the kept documents, those in `groups` (doc_id, category, group). Raises
    DataError where none is left, and as read_ids does.
    """
    ids = read_ids(path)
    cell_of = document_cells(groups, cells)
    kept = [(name, cell_of[name]) for name in ids if name in cell_of.index]
    if not kept:
        some = f", such as {', '.join(ids[:3])}" if ids else ""
        raise DataError(
            f"{path}: none of the {len(ids)} given queries is among the kept documents{some}: correct queries.ids, or "
            "choose the topic and the filters that they were taken from"
        )
    queries = pd.DataFrame(kept, columns=["query_id", "cell"])
    queries = queries.sort_values(["cell", "query_id"], ignore_index=True)
    return queries, {"queries_given": len(ids), "queries_missing": len(ids) - len(kept)}
