"""Members of zip archives, wheels and tar archives, as files."""

import difflib
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from whobenefits.errors import UserError

_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)


def extract_member(archive: Path, member: str, target: Path) -> None:
    """Write one member of an archive to a file; no other member is looked at.

    Raises UserError where the file is no archive or a broken one, where the member is not there (with the names that
    come near), and where it is no plain file of the archive: a link, a folder, an absolute path or one with `..`.
    """
    path = PurePosixPath(member)
    if path.is_absolute() or ".." in path.parts or "\\" in member:
        raise UserError(f"#{member}: leads out of its archive: such members are not taken")
    partial = target.with_name(f"{target.name}.partial")
    try:
        _extract(archive, member, partial)
    except _BROKEN as error:
        raise UserError(f"#{member}: its archive is broken ({error}): fetch it again") from error
    partial.replace(target)


def _extract(archive: Path, member: str, target: Path) -> None:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as pack, _zip_member(pack, member) as source:
            _copy(source, target)
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as pack, _tar_member(pack, member) as source:
            _copy(source, target)
    else:
        raise UserError(f"#{member}: what it should be a member of is no zip archive, wheel or tar archive")


def _copy(source: IO[bytes], target: Path) -> None:
    with target.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)


def _zip_member(pack: zipfile.ZipFile, member: str) -> IO[bytes]:
    _check_there(member, pack.namelist())
    info = pack.getinfo(member)
    if info.is_dir() or stat.S_ISLNK(info.external_attr >> 16):
        raise _no_file(member)
    return pack.open(info)


def _tar_member(pack: tarfile.TarFile, member: str) -> IO[bytes]:
    _check_there(member, pack.getnames())
    file = pack.extractfile(member) if pack.getmember(member).isfile() else None
    if file is None:
        raise _no_file(member)
    return file


def _no_file(member: str) -> UserError:
    return UserError(f"#{member}: is a folder or a link in its archive: name a plain file")


def _check_there(member: str, names: Iterable[str]) -> None:
    names = sorted(names)
    if member not in names:
        same_end = [name for name in names if PurePosixPath(name).name == PurePosixPath(member).name]
        near = same_end[:5] or difflib.get_close_matches(member, names, n=5, cutoff=0.4) or names[:5]
        raise UserError(f"#{member}: there is no such member in the archive: it has {', '.join(near) or 'none'}")
