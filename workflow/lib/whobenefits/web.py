"""Downloads by https that go on where they ended."""

import http.client
import logging
import re
import shutil
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from whobenefits.errors import UserError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
TRIES = 5
TIMEOUT = 60


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirection only to an address that could be asked for itself."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        try:
            check_url(newurl)
        except UserError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_url(url: str) -> None:
    """Raise UserError where the address is neither https nor, for a host on this machine, http."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise UserError(f"{url}: is not fetched, only https is: use an https address")


def download(url: str, target: Path, pause: float = 1.0) -> None:
    """Write what is at an address to a file, over `target` with `.partial` behind its name, which a later try goes on with.

    A try that brings nothing is followed by a longer pause, `pause` seconds at first, and by at most 4 others. Raises
    UserError for an address that is refused or cannot be reached.
    """
    check_url(url)
    partial = target.with_name(f"{target.name}.partial")
    failures = 0
    while failures < TRIES:
        before = _size(partial)
        try:
            _append(url, partial)
            partial.replace(target)
            return
        except (OSError, http.client.HTTPException) as error:
            if not _may_pass(error):
                raise _failure(url, error) from error
            failures = 1 if _size(partial) > before else failures + 1
            last = error
            logging.info("%s: %s", url, error)
            time.sleep(pause * 2 ** (failures - 1) if failures < TRIES else 0)
    raise _failure(url, last) from last


def _failure(url: str, error: Exception) -> UserError:
    reason = getattr(error, "reason", None) or error
    code = f"{error.code} " if isinstance(error, urllib.error.HTTPError) else ""
    return UserError(f"{url}: could not be downloaded ({code}{reason}): check the address and the network, run again")


def _may_pass(error: Exception) -> bool:
    """Whether the same request may succeed later."""
    return not isinstance(error, urllib.error.HTTPError) or error.code in (408, 416, 429) or error.code >= 500


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _append(url: str, partial: Path) -> None:
    """Add what is missing of the file. Raises OSError or HTTPException where it is not whole afterwards."""
    have = _size(partial)
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.build_opener(_SafeRedirects).open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:
            # The file is shorter than what is here: not the same file.
            partial.unlink(missing_ok=True)
        raise
    with response:
        start, total = _span(response)
        with partial.open("ab" if start else "wb") as file:
            if start not in (0, have):
                raise ConnectionError(f"bytes from {start} on came, {have} were asked for")
            shutil.copyfileobj(response, file, 1 << 20)
    if total is not None and _size(partial) != total:
        raise ConnectionError(f"{_size(partial)} of {total} bytes came")


def _span(response: Any) -> tuple[int, int | None]:
    """First byte of an answer and length of the whole file, None where the server does not say."""
    if response.status == 206:
        found = re.match(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        if not found:
            raise ConnectionError("the server sent a part without saying which")
        return int(found[1]), None if found[2] == "*" else int(found[2])
    length = response.headers.get("Content-Length")
    return 0, int(length) if length else None
