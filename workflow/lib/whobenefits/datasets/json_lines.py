"""JSON lines, plain or gzip, of files too large to parse: only the lines that are wanted are parsed in full."""

import json
import re
import zlib
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from isal import igzip, isal_zlib

from whobenefits.errors import DataError

Row = dict[str, Any]
REMEDY = "correct the line or get the file again"
_GZIP = b"\x1f\x8b"
_ENDS = (b"}\n", b"}", b"}\r\n")
_BUFFER = 1 << 18


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, plain or gzip by its first bytes, with their numbers from 1; blank ones are left out.

    Raises DataError where there is no such file, or where its gzip stream is cut off or damaged.
    """
    number = 0
    try:
        with _opened(path) as file:
            for number, line in enumerate(file, 1):  # noqa: B007 - the number is told when the stream breaks
                if not line.isspace():
                    yield number, line
    except (EOFError, igzip.BadGzipFile, isal_zlib.error, zlib.error) as error:
        fault = str(error) or type(error).__name__
        raise DataError(
            f"{path}: the gzip stream is broken behind line {number:,} ({fault}): get the file again"
        ) from None
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file: correct the path in the settings") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}): correct the path or the file's rights") from None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
    # The buffer finds the lines in C; the gzip file alone would do it by a call for each line.
    with (
        igzip.open(path, "rb") if packed else path.open("rb", buffering=0) as raw,
        BufferedReader(raw, _BUFFER) as file,
    ):
        yield file


def wanted_rows(path: Path, key: str, wanted: Container[int]) -> Iterator[tuple[int, Row]]:
    """The line number and the parsed line of each line whose whole number under `key` is among the wanted ones.

    Of the other lines only the number is looked for, so that a fault elsewhere in them is not noticed. Raises DataError,
    with file, line number and remedy, for a broken file, a line without a number, and a wanted line that is no JSON.
    """
    number_in = number_finder(key)
    for line_number, line in numbered_lines(path):
        number = number_in(line)
        if number is None:
            row = parsed(path, line_number, line)
            if number_of(row, key, path, line_number) in wanted:
                yield line_number, row
        elif number in wanted:
            yield line_number, parsed(path, line_number, line)


def number_finder(key: str) -> Callable[[bytes], int | None]:
    """A function that gives the whole number under a top-level key of a line of JSON, or None where it is in doubt.

    Without doubt is a line whose first key is the key, with a whole number, which ends as an object does, and which has
    the key as a token nowhere else: then no nested object, text or second key can be meant, whatever the line holds.
    """
    spelled = "".join(map(_spellings, key))
    first = re.compile(rf'\s*\{{\s*"{spelled}"\s*:\s*(0|-?[1-9]\d{{0,17}})\s*[,}}]'.encode()).match
    again = re.compile(f'"{spelled}"'.encode()).search

    def number_in(line: bytes) -> int | None:
        found = first(line)
        if found is None or not line.endswith(_ENDS) or again(line, found.end()):
            return None
        return int(found[1])

    return number_in


def _spellings(character: str) -> str:
    """A character of a key as JSON can spell it: itself or an escape."""
    return rf"(?:{re.escape(character)}|\\u(?i:{ord(character):04x}))"


def parsed(path: Path, line_number: int, line: bytes) -> Row:
    """The object in a line. Raises DataError, with file and line number, where the line is no JSON object."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = _leniently_parsed(path, line_number, line)
    if not isinstance(row, dict):
        raise DataError(f"{place(path, line_number)}: is {kind_of(row)}, not an object: {REMEDY}")
    return row


def _leniently_parsed(path: Path, line_number: int, line: bytes) -> Any:
    """What orjson refuses and Python's own parser takes: numbers such as NaN, which some writers of JSON make."""
    try:
        row = json.loads(line.decode("utf-8"))
        # A half of a character (a lone surrogate) fails here, and not when the tables are written.
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{place(path, line_number)}: is not UTF-8 ({error}): {REMEDY}") from None
    except UnicodeEncodeError:
        raise DataError(f"{place(path, line_number)}: has a half of a character (a lone surrogate): {REMEDY}") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{place(path, line_number)}: is not JSON ({error}): {REMEDY}") from None
    return row


def number_of(row: Row, key: str, path: Path, line_number: int) -> int:
    """The whole number under a key of a row. Raises DataError where there is none."""
    if key not in row:
        raise DataError(f"{place(path, line_number)}: has no field {key!r}: {REMEDY}")
    return whole_number(row[key], key, path, line_number)


def whole_number(value: Any, name: str, path: Path, line_number: int) -> int:
    """The value, if it is a whole number. Raises DataError otherwise: `"12"`, 1.5 and true are none."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise DataError(
            f"{place(path, line_number)}: {name!r} is {kind_of(value)} ({shown(value)}), not a whole number: {REMEDY}"
        )
    return value


def text_of(row: Row, key: str, path: Path, line_number: int) -> str:
    """The text under a key of a row. Raises DataError where there is none."""
    if key not in row:
        raise DataError(f"{place(path, line_number)}: has no field {key!r}: {REMEDY}")
    if not isinstance(row[key], str):
        raise DataError(
            f"{place(path, line_number)}: {key!r} is {kind_of(row[key])} ({shown(row[key])}), not a text: {REMEDY}"
        )
    return row[key]


def place(path: Path, line_number: int) -> str:
    """Where something is, as errors say it."""
    return f"{path}, line {line_number:,}"


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def shown(value: Any) -> str:
    """The beginning of a JSON value, for errors."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"
