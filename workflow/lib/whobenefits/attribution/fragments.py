"""Support as the public code of study Q computes it: a zero-shot classifier chooses between fragments of the document."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import softmax

from whobenefits.attribution.nli import NliAttributor
from whobenefits.attribution.protocol import Pair, Support

TEMPLATE = "This example is {}."
# Tokens that template and special tokens need, with some room for a text that has other tokens once it is cut.
RESERVE = 10
# Pairs whose hypotheses are held at once: each has one hypothesis for each comma, beside the whole answer.
CHUNK = 256


class FragmentAttributor(NliAttributor):
    """How clearly the answer fits one fragment of the document better than the others, in [0, 1].

    What transformers' zero-shot-classification pipeline makes of the answer as the text to classify and of the document
    as its classes: the document is split at its commas, each fragment makes the hypothesis "This example is FRAGMENT."
    with the answer as the premise, and the softmax of the logits of entailment is taken over the fragments. The score is
    the largest part. A document without a comma is one class: the softmax is then over contradiction and entailment. A
    document supports the answer where the score is at least the threshold.

    So the score says which fragment is chosen, not whether it is entailed: an answer that contradicts all fragments can
    support a document, and with more commas the largest part gets smaller. Source: Fair-RAG/entailment/
    entailment_Roberta.py of github.com/dehghanm/QueryGroupFairness_in_RAG, commit 8c1e9ca8.

    An answer of nothing but white space, or a document of nothing but white space and commas, has a score of NaN and is
    not attributed; there, the first is 0. Each distinct pair is computed once.
    """

    truncation = "only_first"

    def support(self, pairs: Sequence[Pair]) -> Support:
        """The largest part and the verdict of each pair."""
        distinct = [pair for pair in dict.fromkeys(pairs) if pair[1].strip() and fragments(pair[0])]
        known = dict(zip(distinct, self._scores(distinct), strict=True))
        scores = np.array([known.get(pair, np.nan) for pair in pairs], dtype=float)
        return Support(scores, scores >= self.threshold)

    def _scores(self, pairs: Sequence[Pair]) -> Iterator[float]:
        for start in range(0, len(pairs), CHUNK):
            hypotheses = [self._hypotheses(*pair) for pair in pairs[start : start + CHUNK]]
            logits = self.logits([pair for part in hypotheses for pair in part])
            ends = np.cumsum([len(part) for part in hypotheses])[:-1]
            yield from (largest_part(rows, self.entailment) for rows in np.split(logits, ends))

    def _hypotheses(self, document: str, answer: str) -> list[Pair]:
        """One pair of premise and hypothesis for each fragment of the document."""
        # There, titles, texts and answers have single spaces in the place of line ends; a line end parts title and text.
        title, _, text = document.partition("\n")
        document = f"{_in_one_line(title)}\n{_in_one_line(text)}"
        document, answer = self._cut(document, _in_one_line(answer))
        # Cut to what can stand beside one token of premise: a pair that is too long loses the end of its premise.
        room = self.max_length - self.tokenizer.num_special_tokens_to_add(pair=True) - 1
        return [(answer, self._first(TEMPLATE.format(fragment), room)) for fragment in fragments(document)]

    def _cut(self, document: str, answer: str) -> Pair:
        """Document and answer, cut where they have more than `max_length` tokens together.

        Where each has more than half of that, both lose the rest; else the longer one what does not fit.
        """
        of_document, of_answer = self._size(document), self._size(answer)
        half = self.max_length // 2 - 2
        if of_document + of_answer <= self.max_length:
            return document, answer
        if min(of_document, of_answer) > half:
            return self._first(document, half - 2), self._first(answer, half - 2)
        if of_answer <= half:
            return self._first(document, self.max_length - RESERVE - of_answer), answer
        return document, self._first(answer, self.max_length - RESERVE - of_document)

    def _size(self, text: str) -> int:
        return len(self._ends(text))

    def _first(self, text: str, count: int) -> str:
        """The text up to the end of its first `count` tokens."""
        ends = self._ends(text)
        return text if len(ends) <= count else text[: ends[count - 1]]

    def _ends(self, text: str) -> list[int]:
        offsets = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        return [end for _, end in offsets]


def fragments(document: str) -> list[str]:
    """The parts of the text between commas, without white space around them, and without empty ones."""
    return [part.strip() for part in document.split(",") if part.strip()]


def largest_part(logits: np.ndarray, entailment: int) -> float:
    """The largest part of the softmax over the fragments, in (0, 1]; `logits` has shape (fragments, labels).

    Of a single fragment, the part of entailment in the softmax over contradiction and entailment, where contradiction is
    the first label, or, if that is entailment, the last.
    """
    if len(logits) == 1:
        contradiction = -1 if entailment == 0 else 0
        return float(softmax(logits[0, [contradiction, entailment]])[1])
    return float(softmax(logits[:, entailment]).max())


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


ATTRIBUTOR = FragmentAttributor
