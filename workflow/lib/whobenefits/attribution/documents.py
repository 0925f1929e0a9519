"""The attributions of every retrieved document that an LLM was given."""

import pandas as pd

from whobenefits.attribution.protocol import Attributor
from whobenefits.measures.joins import looked_up


def document_attributions(
    corpus: pd.DataFrame, requests: pd.DataFrame, answers: pd.DataFrame, attributor: Attributor
) -> pd.DataFrame:
    """The table of attributions: one row for each document of each request with retrieved documents.

    A document is its title, a line end and its text. A document missing from the corpus, and a request without an
    answer, are a DataError.
    """
    rows = requests.loc[requests["setting"] == "rag", ["request_id", "query_id", "retriever", "doc_ids"]]
    rows = rows.explode("doc_ids").rename(columns={"doc_ids": "doc_id"}).dropna(subset="doc_id")
    used = corpus[corpus["doc_id"].isin(rows["doc_id"])]
    documents = dict(zip(used["doc_id"], used["title"] + "\n" + used["text"], strict=True))
    texts = dict(zip(answers["request_id"], answers["answer"], strict=True))
    premises = looked_up(rows["doc_id"], documents, "a document of the corpus")
    support = attributor.support(list(zip(premises, looked_up(rows["request_id"], texts, "an answer"), strict=True)))
    made = rows[["query_id", "retriever", "doc_id"]].reset_index(drop=True)
    return made.assign(score=support.scores, attributed=support.attributed)
