import os
import signal

import numpy as np
import pytest

from whobenefits.attribution import stored
from whobenefits.attribution.protocol import Support
from whobenefits.attribution.stored import StoredAttributor
from whobenefits.termination import TerminatedError

PAIRS = [("a lake", "lake"), ("a river", ""), ("a lake", "lake"), ("a sea", "sea")]


class Words:
    """Scores 1 where the document holds the answer, NaN for an empty answer; counts what it is asked."""

    def __init__(self):
        self.asked = []

    def support(self, pairs):
        self.asked += pairs
        scores = np.array([float(answer in document) if answer else np.nan for document, answer in pairs])
        return Support(scores, scores >= 0.5)


def attributor(folder, identity="words"):
    words = Words()
    return StoredAttributor(lambda: words, identity, folder), words


def test_each_pair_is_scored_once_and_the_store_gives_it_back_the_same(tmp_path):
    first, words = attributor(tmp_path)
    got = first.support(PAIRS)
    assert (
        got.scores.tolist()[:1] == [1.0]
        and np.isnan(got.scores[1])
        and got.attributed.tolist() == [True, False, True, True]
    )
    assert len(words.asked) == 3
    second, words = attributor(tmp_path)
    again = second.support(PAIRS)
    assert words.asked == []
    np.testing.assert_array_equal(again.scores, got.scores)
    np.testing.assert_array_equal(again.attributed, got.attributed)


def test_only_new_pairs_are_scored(tmp_path):
    attributor(tmp_path)[0].support(PAIRS)
    more, words = attributor(tmp_path)
    more.support([*PAIRS, ("a sea", "lake")])
    assert words.asked == [("a sea", "lake")]


def test_another_model_or_other_settings_take_nothing_from_the_store(tmp_path):
    attributor(tmp_path)[0].support(PAIRS)
    other, words = attributor(tmp_path, {"threshold": 0.9})
    other.support(PAIRS)
    assert len(words.asked) == 3


def test_a_job_that_is_asked_to_end_keeps_the_chunk_in_hand(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "CHUNK", 1)

    class Ended(Words):
        def support(self, pairs):
            os.kill(os.getpid(), signal.SIGTERM)
            return super().support(pairs)

    ended = StoredAttributor(Ended, "words", tmp_path)
    with pytest.raises(TerminatedError, match="1 of 3 missing scores are kept"):
        ended.support(PAIRS)
    rest, words = attributor(tmp_path)
    rest.support(PAIRS)
    assert len(words.asked) == 2
    # the longest pair goes first
    assert ("a lake", "lake") not in words.asked


def test_no_pairs_need_no_model(tmp_path):
    none = StoredAttributor(lambda: pytest.fail("loaded"), "words", tmp_path).support([])
    assert none.scores.shape == none.attributed.shape == (0,)
