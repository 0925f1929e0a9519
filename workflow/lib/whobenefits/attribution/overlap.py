"""Support by words: how many of an answer's content words the document holds. Deterministic, and needs no model."""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from whobenefits.attribution.protocol import Pair, Support

_WORD = re.compile(r"\w+")
# Function words of English, and the remains of contractions and genitives (it's, don't).
STOP_WORDS = frozenset(
    _WORD.findall("""
    a about above across after again against all almost along already also although always am among an and another any
    are around as at away
    be became because been before being below between both but by
    can cannot could
    d did do does doing done down during
    each either else even ever every
    few for from further
    had has have having he her here hers herself him himself his how however
    i if in into is it its itself
    just
    ll
    many may me might more most much must my myself
    near neither never no nor not now
    of off often on once one only or other our ours out over own
    per
    rather re
    s same several shall she should since so some still such
    t than that the their theirs them themselves then there these they this those though through thus to together too
    toward towards
    under until up upon us
    ve very via
    was we were what when where whether which while who whom whose why will with within without would
    yet you your yours yourself
    """)
)


class OverlapAttributor:
    """The share of an answer's distinct content words that occur in the document (title and text), in [0, 1].

    Words are the runs of letters, digits and underscores (`\\w+`) of the casefolded text; content words are those that
    are not in STOP_WORDS, numbers among them. Word forms and synonyms are not matched. A document supports the answer
    where the share is at least the threshold. An answer without content words supports nothing: NaN, not attributed.

    On the vital articles of geography, 35 words copied from one retrieved document reach 0.6 in 3.5 % of the other
    documents that tf-idf finds with it and in no random one (0.5: 8 % and 0.2 %). A title of two words shares one of
    them by chance with 5 % of random documents, and so reaches 0.5 but not 0.6 (0.6: 0.5 %).
    """

    def __init__(self, source: None, threshold: float) -> None:
        self.threshold = threshold

    def support(self, pairs: Sequence[Pair]) -> Support:
        """The share and the verdict of each pair."""
        scores = np.array([overlap(document, answer) for document, answer in pairs], dtype=float)
        # NaN >= threshold is False
        return Support(scores, scores >= self.threshold)


def overlap(document: str, answer: str) -> float:
    """The share of the answer's distinct content words that occur in the document; NaN without a content word."""
    words = _words(answer) - STOP_WORDS
    return len(words & _words(document)) / len(words) if words else np.nan


@lru_cache(maxsize=100_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


ATTRIBUTOR = OverlapAttributor
