"""One log file for each job, with everything that the job prints, and a short word on the terminal when it fails."""

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whobenefits.errors import UserError


@contextmanager
def log_to(path: str | Path) -> Iterator[None]:
    """Send logging, standard output and standard error of this process to the file `path`.

    The file descriptors themselves are turned, so that what Java and compiled libraries print is kept too. A UserError
    ends the process with status 1, its message on the terminal and in the log; any other error is left to rise, its
    traceback in the log.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    terminal = os.dup(2)
    Path(path).write_text("", encoding="utf-8")
    # For appending: where a job of a killed Snakemake still runs beside the new one, neither writes over the other's lines.
    with Path(path).open("a", encoding="utf-8") as file, _turned(file.fileno()):
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr, force=True)
        try:
            yield
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            os.write(terminal, f"error: {error}\n".encode())
            raise SystemExit(1) from None
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os.close(terminal)


@contextmanager
def _turned(target: int) -> Iterator[None]:
    saved = [(number, os.dup(number)) for number in (1, 2)]
    sys.stdout.flush()
    sys.stderr.flush()
    for number, _ in saved:
        os.dup2(target, number)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in saved:
            os.dup2(copy, number)
            os.close(copy)
