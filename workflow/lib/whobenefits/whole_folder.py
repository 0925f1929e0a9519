"""Folders that appear whole or not at all."""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """An empty folder beside `folder` to write into, which takes its place at the end.

    Two jobs that make the same folder at once (one of a killed Snakemake, one of the next) never write into one: what
    either of them leaves is whole. After an error nothing is left.
    """
    own = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")
    own.mkdir(parents=True)
    try:
        yield own
        _replace(folder, own)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _replace(folder: Path, own: Path) -> None:
    # A folder with files cannot be renamed over: what stands there is moved away first.
    old = own.with_suffix(".old")
    if folder.exists():
        folder.rename(old)
    own.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
