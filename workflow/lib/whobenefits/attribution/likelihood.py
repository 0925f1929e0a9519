"""Support by likelihood: how much more probable a document alone makes the LLM's own answer."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from heapq import nsmallest
from typing import NamedTuple

import numpy as np
import pandas as pd

from whobenefits.attribution.protocol import Pair, Support
from whobenefits.generation.prompts import Document, Template, Tokenizer, fitted_prompt
from whobenefits.measures.joins import looked_up
from whobenefits.retrieval.protocol import query_texts


class Case(NamedTuple):
    """The prompt with the document alone, the prompts it is compared with, and the answer to the one with all documents."""

    prompt: str
    baselines: tuple[str, ...]
    answer: str


class LikelihoodAttributor:
    """The rise of the answer's log-probability by the document alone, in nats a token of the answer.

    For query q, document d and answer y of n tokens, which the LLM gave to q with all retrieved documents:

        (log p(y | q, d) - mean over the controls c of log p(y | q, c)) / n

    where p is the LLM that gave y, with the prompts of the setting doc. The controls are documents drawn at random for q
    from those that were not retrieved for it; without controls, log p(y | q) is subtracted, with the prompt of the
    setting llm. exp of the score is the factor by which d raises the probability of a token, in the geometric mean. The
    score has no bounds; below 0, the answer is less probable with d. It is divided by n because log-probabilities grow
    with the length, and one threshold has to serve titles and articles. A document supports the answer where the score
    is at least the threshold. An answer of nothing but white space supports nothing: NaN, not attributed.

    It asks whether d by itself leads to the answer, as utility asks whether d by itself leads to a better one. So two
    documents that say the same are both credited, and what the LLM answers without documents is credited to none. The
    other way, to leave d out of the full context, asks what the answer would lose: it credits neither of two documents
    that say the same, and its k + 1 prompts have k documents each, so that it costs about k times as much. Here a list
    of k documents costs one pass over k prompts of one document each and one over each control's; no token is generated.

    Any document shows the LLM the form of an answer, which the prompt without documents does not, and how much that is
    worth depends on the answer; so controls. On the vital articles of geography, with SmolLM2-135M, one control and a
    threshold of 0.3, a factor of 1.35 a token, no document drawn at random supports an article and 6 % of them a title;
    of the retrieved ones it is 14 % and 3 %, as titles come from the query's own text. With the prompt without documents
    in place of the control, 8 % of random documents support an article and 23 % a title. Three controls change little.
    """

    def __init__(self, log_probabilities: Callable[[Sequence[Pair]], np.ndarray], threshold: float) -> None:
        """`log_probabilities` gives, of pairs of prompt and answer, the answer's mean over its tokens, in nats."""
        self.log_probabilities, self.threshold = log_probabilities, threshold

    def support(self, pairs: Sequence[Case]) -> Support:
        """The score and the verdict of each case; what several cases are compared with is computed once."""
        told = [case for case in pairs if case.answer.strip()]
        asked = list(dict.fromkeys((prompt, case.answer) for case in told for prompt in (case.prompt, *case.baselines)))
        known = dict(zip(asked, self.log_probabilities(asked), strict=True)) if asked else {}
        scores = np.array([_rise(case, known) for case in pairs], dtype=float)
        # NaN >= threshold is False
        return Support(scores, scores >= self.threshold)


def _rise(case: Case, known: Mapping[Pair, float]) -> float:
    if not case.answer.strip():
        return np.nan
    return known[case.prompt, case.answer] - np.mean([known[prompt, case.answer] for prompt in case.baselines])


@dataclass(frozen=True)
class LikelihoodCases:
    """Makes the cases of rows (query_id, doc_id, answer): the prompts are in all exactly those of generation.

    `templates` are the task's by setting (llm, doc); a prompt has at most `limit` tokens, `truncation` as in
    fitted_prompt. Each query has so many `controls`, which follow from the query and the documents to choose from.
    """

    templates: Mapping[str, Template]
    task: str
    tokenizer: Tokenizer
    limit: int
    truncation: str
    controls: int

    def __call__(self, rows: pd.DataFrame, corpus: pd.DataFrame) -> list[Case]:
        """The case of each row. A query or a document missing from the corpus is a DataError."""
        shown = rows.groupby("query_id", sort=False)["doc_id"].agg(lambda ids: list(dict.fromkeys(ids))).to_dict()
        drawn = {query: drawn_controls(query, docs, corpus["doc_id"], self.controls) for query, docs in shown.items()}
        texts = query_texts(corpus, list(shown), self.task).set_index("query_id")["text"]
        used = corpus[corpus["doc_id"].isin({doc for docs in (*shown.values(), *drawn.values()) for doc in docs})]
        documents = {row.doc_id: Document(row.title, row.text) for row in used.itertuples()}

        def prompts(query: str, docs: list[str]) -> dict[str, str]:
            found = looked_up(docs, documents, "a document of the corpus")
            return {doc: self._prompt("doc", texts[query], d) for doc, d in zip(docs, found, strict=True)}

        alone = {query: prompts(query, docs) for query, docs in shown.items()}
        baselines = {
            query: tuple(prompts(query, docs).values()) or (self._prompt("llm", texts[query]),)
            for query, docs in drawn.items()
        }
        cases = zip(rows["query_id"], rows["doc_id"], rows["answer"], strict=True)
        return [Case(alone[query][doc], baselines[query], answer) for query, doc, answer in cases]

    def _prompt(self, setting: str, query: str, *documents: Document) -> str:
        template = self.templates[setting]
        return fitted_prompt(template, query, documents, self.tokenizer, self.limit, self.truncation).text


def drawn_controls(query_id: str, doc_ids: Sequence[str], corpus: Iterable[str], count: int) -> list[str]:
    """`count` documents of the corpus but the query's own and `doc_ids`, fewer if there are fewer: the least by a hash.

    So another document in the corpus changes few draws, and the order of the corpus none.
    """
    excluded = {query_id, *doc_ids}
    others = (doc_id for doc_id in corpus if doc_id not in excluded)
    return nsmallest(count, others, key=lambda doc_id: sha256(json.dumps([query_id, doc_id]).encode()).digest())
