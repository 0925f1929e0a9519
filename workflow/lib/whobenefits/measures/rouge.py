"""ROUGE-L, in two ways that give different numbers for the same pair of texts."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer


def rouge_l_f1(references: Sequence[str], answers: Sequence[str], stemming: bool = False) -> np.ndarray:
    """ROUGE-L F1 of each answer against its reference, in [0, 1]; shape (n,).

    The longest common subsequence of words over the whole text, 2pr / (p + r) (Lin 2004), by the package rouge-score:
    lower case, words of a-z and 0-9, Porter stems where `stemming`. An answer without such a word scores 0: it says
    nothing of the reference. Against a reference of nothing but white space no answer can be measured: NaN.
    """
    return _each_once(partial(_f1, RougeScorer(["rougeL"], use_stemmer=stemming)), references, answers)


def rouge_l_summary(references: Sequence[str], answers: Sequence[str]) -> np.ndarray:
    """Summary-level ROUGE-L of each answer against its reference, in [0, 1); shape (n,).

    By the package rouge 1.0.1, as the public code of study Q calls it: a text is split at each ".", and a sentence at
    white space, so that case and punctuation count. The words of the longest common subsequence of each reference
    sentence with each answer sentence are united. All counts are of different words: r and p divide the size of the
    union by those of reference and answer, and the score is 2pr / (p + r + 1e-8). A word that occurs twice counts once,
    and words in another order across sentences still match, so it is seldom below `rouge_l_f1` on the same words.

    An answer of nothing but white space or only full stops scores 0: it says nothing of the reference. NaN where the
    reference is like that, and where two sentences are so long that the package exceeds Python's recursion limit, which
    takes about a thousand words in both together.
    """
    return _each_once(partial(_summary, Rouge(metrics=["rouge-l"], stats=["f"])), references, answers)


def _each_once(score: Callable[[str, str], float], references: Sequence[str], answers: Sequence[str]) -> np.ndarray:
    pairs = list(zip(references, answers, strict=True))
    values = {pair: score(*pair) for pair in dict.fromkeys(pairs)}
    return np.array([values[pair] for pair in pairs], dtype=float)


def _f1(scorer: RougeScorer, reference: str, answer: str) -> float:
    return scorer.score(reference, answer)["rougeL"].fmeasure if reference.strip() else np.nan


def _summary(scorer: Rouge, reference: str, answer: str) -> float:
    # Stripped first, as there: a space behind the last full stop would be a sentence with one word, the empty one.
    reference, answer = reference.strip(), answer.strip()
    if not reference.strip("."):
        return np.nan
    if not answer.strip("."):
        return 0.0
    try:
        return scorer.get_scores(answer, reference)[0]["rouge-l"]["f"]
    except RecursionError:
        return np.nan
