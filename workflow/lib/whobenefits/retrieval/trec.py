"""TREC run files: query_id Q0 doc_id rank score tag."""

import gzip
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from whobenefits.errors import DataError

_FORM = "query_id Q0 doc_id rank score tag"
_GZIP = b"\x1f\x8b"


def write_trec_run(run: pd.DataFrame, path: str | Path, tag: str) -> None:
    """Write the run (query_id, doc_id, rank, score) with single spaces; scores keep all their digits.

    Raises DataError for an id or a tag that is empty or has white space in it, which the form cannot hold.
    """
    for name in ("query_id", "doc_id"):
        _check_words(run[name], f"{path}: the {name}")
    _check_words([tag], f"{path}: the tag")
    rows = zip(run["query_id"], run["doc_id"], run["rank"], run["score"], strict=True)
    lines = [f"{query} Q0 {doc} {rank} {float(score)!r} {tag}\n" for query, doc, rank, score in rows]
    partial = Path(f"{path}.{os.getpid()}.partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text("".join(lines), encoding="utf-8")
    partial.replace(path)


def _check_words(words: pd.Series | list[str], place: str) -> None:
    for word in words:
        if not re.fullmatch(r"[^ \t\r\n]+", word):
            raise DataError(f"{place} {word!r} is empty or has white space in it: a TREC run file needs ids without")


def read_trec_run(path: str | Path) -> pd.DataFrame:
    """The rows (query_id, doc_id, rank, score) of a run file as they stand there; the file may be gzipped.

    Columns are parted by spaces or tabs; empty lines are skipped. Raises DataError with file and line for a line that
    has not six columns, whose rank is not a whole number or whose score is not a finite one, and for a document that
    a query has twice.
    """
    rows, seen = [], {}
    for number, line in _lines(Path(path)):
        row = _row(line, f"{path}:{number}")
        first = seen.setdefault(row[:2], number)
        if first != number:
            raise DataError(
                f"{path}:{number}: query {row[0]!r} has document {row[1]!r} in line {first} too: remove one"
            )
        rows.append(row)
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank", "score"])
    return frame.astype({"query_id": "str", "doc_id": "str", "rank": "int64", "score": "float64"})


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if content.startswith(_GZIP) else content).decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: is not there: put the run file there or correct the path of the retriever") from None
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise DataError(f"{path}: is not a text file in UTF-8, plain or gzipped ({error}): make it again") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(" \t\r"):
            yield number, line.strip(" \t\r")


def _row(line: str, place: str) -> tuple[str, str, int, float]:
    columns = re.split(r"[ \t]+", line)
    if len(columns) != 6:
        raise DataError(f"{place}: {line!r} has {len(columns)} columns instead of the 6 of {_FORM!r}: correct the line")
    query_id, _, doc_id, rank, score, _ = columns
    try:
        numbers = int(rank), float(score)
    except ValueError:
        numbers = 0, math.nan
    if not math.isfinite(numbers[1]):
        raise DataError(
            f"{place}: rank {rank!r} and score {score!r} must be a whole and a finite number: correct the line"
        )
    return query_id, doc_id, *numbers
