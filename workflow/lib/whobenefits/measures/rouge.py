"""ROUGE-L."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from rouge_score.rouge_scorer import RougeScorer


def rouge_l_f1(references: Sequence[str], answers: Sequence[str], stemming: bool = False) -> np.ndarray:
    """ROUGE-L F1 of each answer against its reference, in [0, 1]; shape (n,).

    The longest common subsequence of words over the whole text, 2pr / (p + r) (Lin 2004), by the package rouge-score:
    lower case, words of a-z and 0-9, Porter stems where `stemming`. An answer without such a word scores 0: it says
    nothing of the reference. Against a reference of nothing but white space no answer can be measured: NaN.
    """
    score = partial(_f1, RougeScorer(["rougeL"], use_stemmer=stemming))
    pairs = list(zip(references, answers, strict=True))
    values = {pair: score(*pair) for pair in dict.fromkeys(pairs)}
    return np.array([values[pair] for pair in pairs], dtype=float)


def _f1(scorer: RougeScorer, reference: str, answer: str) -> float:
    return scorer.score(reference, answer)["rougeL"].fmeasure if reference.strip() else np.nan
