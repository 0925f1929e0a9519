"""The accuracy E of every answer of a topic, task and LLM."""

import pandas as pd

from whobenefits.measures.joins import looked_up
from whobenefits.measures.rouge import rouge_l_f1

# What of a query's own document the answer is compared with; the other half is the query.
REFERENCES = {"article": "text", "title": "title"}


def answer_scores(
    queries: pd.DataFrame,
    corpus: pd.DataFrame,
    requests: pd.DataFrame,
    answers: pd.DataFrame,
    task: str,
    stemming: bool,
) -> pd.DataFrame:
    """The table of scores: ROUGE-L F1 of the answer to each distinct request, in the order of the requests.

    The reference is the text of the query's document (task "article") or its title ("title"). A request without an
    answer, or a query without a document, is a DataError.
    """
    documents = dict(zip(corpus["doc_id"], corpus[REFERENCES[task]], strict=True))
    ids = queries["query_id"].tolist()
    references = dict(zip(ids, looked_up(ids, documents, "a document of the corpus"), strict=True))
    texts = dict(zip(answers["request_id"], answers["answer"], strict=True))
    asked = requests.drop_duplicates("request_id")
    values = rouge_l_f1(
        looked_up(asked["query_id"], references, "a query"),
        looked_up(asked["request_id"], texts, "an answer"),
        stemming,
    )
    return pd.DataFrame({"request_id": asked["request_id"].tolist(), "measure": "rouge-l-f1", "value": values})
