"""An orderly end when the cluster asks for it: at the time limit, before preemption, on scancel."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from whobenefits.errors import UserError


class TerminatedError(UserError):
    """The process was asked to end, and does so at a moment when nothing is lost."""


@contextmanager
def deferred_termination() -> Iterator[Callable[[str], None]]:
    """Within this context SIGTERM does not end the process at once; the function that it gives does, when it is called.

    Call it after each piece of work that is kept, with a word on what is kept: it raises TerminatedError if the signal
    has come. What SLURM sends SIGKILL after (KillWait, half a minute by default) is still cut off.
    """
    received = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)

    def check(kept: str) -> None:
        if received:
            raise TerminatedError(f"asked to end (SIGTERM): {kept}; the next run goes on from there")

    previous = signal.signal(signal.SIGTERM, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGTERM, previous)
