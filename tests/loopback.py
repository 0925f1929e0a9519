"""A small web server on this machine for tests: files with ranges, answers by hand, and connections that are cut."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Site:
    """What the server has, and what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    # Answers by hand: path -> (status, headers).
    answers: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    # The connection is cut after so many bytes, once for each number.
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:  # noqa: N802
        self.do_GET()

    def do_GET(self) -> None:  # noqa: N802
        site = self.server.site
        path = self.path.partition("?")[0]
        site.asked.append((path, self.headers.get("Range")))
        status, headers = site.answers.get(path, (200 if path in site.files else 404, {}))
        body = site.files.get(path, b"") if status == 200 else b""
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked and site.ranges and status == 200:
            start, end = int(asked[1]), len(body)
            status = 206 if start < end else 416
            headers = {
                **headers,
                "Content-Range": f"bytes {start}-{end - 1}/{end}" if start < end else f"bytes */{end}",
            }
            body = body[start:]
        self.send_response(status)
        for name, value in {**site.headers, **headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[: site.cuts.pop(0)] if site.cuts and body else body)


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """The site, answering at `site.url` until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.site = site
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
