"""Answers by content: a folder of append-only JSON-lines segments, each with one writer.

No locks and no shared file, so it is safe on a network file system and for any number of jobs at once. A killed job
leaves at most one torn line at the end of its own segment; readers pass over it. Deleting the folder loses nothing but
time: the same prompts are answered again. In bfloat16 rounding depends on which prompts share a batch, so that answers
generated together can differ from answers generated in several runs.
"""

import hashlib
import json
import os
import uuid
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from whobenefits.errors import DataError

# How each line begins; a key of 64 hexadecimal digits follows.
_START = b'{"key": "'


class Writer(Protocol):
    """Puts records into a segment."""

    def __call__(self, records: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the records, by key, so that they outlive the process."""


def content_key(*parts: Any) -> str:
    """SHA-256 of the parts as JSON: the name of what depends on nothing else."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def stored_records(folder: str | Path, wanted: Container[str] | None = None) -> dict[str, dict[str, Any]]:
    """The records of a store by key: of the `wanted` keys, or all.

    Where two segments have the same key, the first by name of segment counts. Memory grows with what is wanted, and
    other lines are not even parsed: a large study's store holds a hundred times what one job needs.
    """
    records: dict[str, dict[str, Any]] = {}
    for segment in sorted(Path(folder).glob("*.jsonl")):
        for key, record in _records(segment, wanted):
            records.setdefault(key, record)
    return records


def _records(segment: Path, wanted: Container[str] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    with segment.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            # What follows the last line end was being written when its writer was killed.
            if not line.endswith(b"\n") or _is_other(line, wanted):
                continue
            try:
                entry = json.loads(line)
                yield entry.pop("key"), entry
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DataError(
                    f"{segment}:{number}: is not a record of the store ({error!r}): delete this file, what it held is "
                    "generated again"
                ) from error


def _is_other(line: bytes, wanted: Container[str] | None) -> bool:
    """Whether the line, as segment_writer begins it, has a key that is not wanted."""
    key = line[len(_START) : len(_START) + 64]
    return wanted is not None and line.startswith(_START) and key.decode("ascii", "replace") not in wanted


@contextmanager
def segment_writer(folder: str | Path) -> Iterator[Writer]:
    """A function that appends records to a new segment, on disk when it returns. The segment is made at first use."""
    path = Path(folder) / f"{uuid.uuid4().hex}.jsonl"
    file = None

    def write(records: Mapping[str, Mapping[str, Any]]) -> None:
        nonlocal file
        if file is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb")
        lines = [json.dumps({"key": key} | dict(record), ensure_ascii=False) + "\n" for key, record in records.items()]
        file.write("".join(lines).encode())
        file.flush()
        os.fsync(file.fileno())

    try:
        yield write
    finally:
        if file is not None:
            file.close()
