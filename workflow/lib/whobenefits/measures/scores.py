"""The accuracy E of every answer of a topic, task and LLM."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from whobenefits.measures.joins import looked_up
from whobenefits.measures.rouge import rouge_l_f1, rouge_l_summary

# What of a query's own document the answer is compared with; the other half is the query.
REFERENCES = {"article": "text", "title": "title"}


def answer_scores(
    queries: pd.DataFrame,
    corpus: pd.DataFrame,
    requests: pd.DataFrame,
    answers: pd.DataFrame,
    task: str,
    stemming: bool,
    measure: str = "rouge-l-f1",
    failed: str = "undefined",
) -> pd.DataFrame:
    """The table of scores: E of the answer to each distinct request, in the order of the requests.

    The reference is the text of the query's document (task "article") or its title ("title"). E is by `measure`,
    "rouge-l-f1" (with Porter stems where `stemming`) or "rouge-l-summary". Where that is undefined, so is the score, or,
    with `failed` "zero", it is 0. A request without an answer, or a query without a document, is a DataError.
    """
    documents = dict(zip(corpus["doc_id"], corpus[REFERENCES[task]], strict=True))
    ids = queries["query_id"].tolist()
    references = dict(zip(ids, looked_up(ids, documents, "a document of the corpus"), strict=True))
    texts = dict(zip(answers["request_id"], answers["answer"], strict=True))
    asked = requests.drop_duplicates("request_id")
    values = _accuracies(
        measure,
        looked_up(asked["query_id"], references, "a query"),
        looked_up(asked["request_id"], texts, "an answer"),
        stemming,
    )
    values = np.nan_to_num(values, nan=0.0) if failed == "zero" else values
    return pd.DataFrame({"request_id": asked["request_id"].tolist(), "measure": measure, "value": values})


def _accuracies(measure: str, references: Sequence[str], answers: Sequence[str], stemming: bool) -> np.ndarray:
    if measure == "rouge-l-summary":
        return rouge_l_summary(references, answers)
    return rouge_l_f1(references, answers, stemming)
