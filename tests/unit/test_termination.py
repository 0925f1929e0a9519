import os
import signal

import pytest

from whobenefits.termination import TerminatedError, deferred_termination


def test_the_signal_ends_the_work_only_where_it_is_asked_for():
    done = []
    with (
        pytest.raises(TerminatedError, match=r"asked to end \(SIGTERM\): 2 pieces are kept; the next run goes on"),
        deferred_termination() as end_if_asked,
    ):
        for piece in range(4):
            done.append(piece)
            if piece == 1:
                os.kill(os.getpid(), signal.SIGTERM)
            end_if_asked(f"{len(done)} pieces are kept")
    assert done == [0, 1]


def test_without_the_signal_nothing_ends_and_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with deferred_termination() as end_if_asked:
        end_if_asked("all")
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_handler_is_put_back_after_an_error_too():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ValueError), deferred_termination():
        raise ValueError
    assert signal.getsignal(signal.SIGTERM) is before
