"""One schema per artefact, checked on read and on write."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from whobenefits.errors import DataError

_TYPES = {
    "str": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "strs": pa.list_(pa.string()),
}


@dataclass(frozen=True)
class Table:
    """Columns by name and type; a `?` behind the type allows missing values. `key` is unique in each table."""

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the table."""
        return pa.schema(
            [pa.field(name, _TYPES[kind.rstrip("?")], kind.endswith("?")) for name, kind in self.columns.items()]
        )


_CELL = {"topic": "str", "task": "str", "retriever": "str", "llm": "str"}

CORPUS = Table("corpus", {"doc_id": "str", "title": "str", "text": "str"}, ("doc_id",))
GROUPS = Table("groups", {"doc_id": "str", "category": "str", "group": "str"}, ("doc_id", "category"))
QUERIES = Table("queries", {"query_id": "str", "cell": "str"}, ("query_id",))
RUN = Table("run", {"query_id": "str", "doc_id": "str", "rank": "int", "score": "float"}, ("query_id", "doc_id"))
REQUESTS = Table(
    "requests",
    {
        "request_id": "str",
        "query_id": "str",
        "setting": "str",
        "retriever": "str?",
        "doc_id": "str?",
        "doc_ids": "strs",
    },
    ("query_id", "setting", "retriever", "doc_id"),
)
ANSWERS = Table(
    "answers",
    {
        "request_id": "str",
        "answer": "str",
        "prompt_tokens": "int",
        "cut_tokens": "int",
        "new_tokens": "int",
        "finish_reason": "str",
    },
    ("request_id",),
)
SCORES = Table("scores", {"request_id": "str", "measure": "str", "value": "float?"}, ("request_id", "measure"))
ATTRIBUTIONS = Table(
    "attributions",
    {"query_id": "str", "retriever": "str", "doc_id": "str", "score": "float?", "attributed": "bool"},
    ("query_id", "retriever", "doc_id"),
)
OUTCOMES = Table(
    "outcomes", _CELL | {"query_id": "str", "measure": "str", "value": "float?"}, (*_CELL, "query_id", "measure")
)
FACTORS = Table(
    "factors",
    _CELL
    | {
        "query_id": "str",
        "doc_id": "str",
        "rank": "int",
        "utility": "float?",
        "exposure": "float",
        "attribution": "float?",
    },
    (*_CELL, "query_id", "doc_id"),
)
MEASURES = Table(
    "measures",
    _CELL | {"category": "str", "group": "str", "measure": "str", "value": "float?", "n": "int", "reason": "str"},
    (*_CELL, "category", "group", "measure"),
)
RANGES = Table(
    "ranges",
    _CELL
    | {"category": "str", "measure": "str", "value": "float?", "lowest": "str?", "highest": "str?"}
    | {"n_groups": "int", "n_empty": "int", "n": "int", "reason": "str"},
    (*_CELL, "category", "measure"),
)
CORRELATIONS = Table(
    "correlations",
    _CELL
    | {"category": "str", "factor": "str", "outcome": "str", "value": "float?"}
    | {"n": "int", "n_retrievers": "int", "reason": "str"},
    (*_CELL, "category", "factor", "outcome"),
)


def write_table(frame: pd.DataFrame, table: Table, path: str | Path) -> None:
    """Write the frame as Parquet, its columns in the table's order, through a temporary file and a rename.

    Raises DataError, naming the path and the fault, where the frame does not fit the table.
    """
    arrow = _arrow(frame, table, path)
    # A name of its own, and not the process's number: a job of a killed Snakemake may still write on another machine.
    partial = Path(f"{path}.{uuid.uuid4().hex}.partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(arrow, partial)
    partial.replace(path)


def read_table(table: Table, path: str | Path) -> pd.DataFrame:
    """The frame in a Parquet file, or a DataError where the file is not one of these tables."""
    try:
        arrow = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: is not a Parquet file ({error}): remove it and run again") from error
    return _arrow(arrow.to_pandas(), table, path).to_pandas()


def read_tables(table: Table, paths: Sequence[str | Path]) -> pd.DataFrame:
    """The rows of several files of one table, in the order of the files. Raises DataError as read_table does."""
    return pd.concat([read_table(table, path) for path in paths], ignore_index=True)


def _arrow(frame: pd.DataFrame, table: Table, path: str | Path) -> pa.Table:
    wrong = set(frame.columns) ^ set(table.columns)
    if wrong:
        raise DataError(
            f"{path}: the columns {sorted(wrong)} are missing or not known in the table {table.name}: its columns are {list(table.columns)}"
        )
    _check_missing(frame, table, path)
    twice = frame.duplicated(list(table.key))
    if twice.any():
        raise DataError(
            f"{path}: {int(twice.sum())} rows repeat a key of the table {table.name}, first {frame.loc[twice, list(table.key)].iloc[0].to_dict()}"
        )
    try:
        return pa.Table.from_pandas(frame[list(table.columns)], schema=table.schema, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"{path}: a column of the table {table.name} has another type: {error}") from error


def _check_missing(frame: pd.DataFrame, table: Table, path: str | Path) -> None:
    for name, kind in table.columns.items():
        if not kind.endswith("?") and frame[name].isna().any():
            row = int(frame[name].isna().to_numpy().argmax())
            raise DataError(f"{path}: the column {name} of the table {table.name} has no value in row {row}")
