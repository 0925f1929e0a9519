"""The attributions of every retrieved document that an LLM was given."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from whobenefits.attribution.protocol import Attributor, Pair
from whobenefits.measures.joins import looked_up

# What an attributor reads, one item for each row (query_id, doc_id, answer), from these rows and the corpus.
Inputs = Callable[[pd.DataFrame, pd.DataFrame], Sequence[Any]]


def text_pairs(rows: pd.DataFrame, corpus: pd.DataFrame) -> list[Pair]:
    """The document, which is its title, a line end and its text, and the answer: all that most attributors read."""
    used = corpus[corpus["doc_id"].isin(rows["doc_id"])]
    documents = dict(zip(used["doc_id"], used["title"] + "\n" + used["text"], strict=True))
    premises = looked_up(rows["doc_id"], documents, "a document of the corpus")
    return list(zip(premises, rows["answer"], strict=True))


def document_attributions(
    corpus: pd.DataFrame,
    requests: pd.DataFrame,
    answers: pd.DataFrame,
    attributor: Attributor,
    inputs: Inputs = text_pairs,
) -> pd.DataFrame:
    """The table of attributions: one row for each document of each request with retrieved documents.

    `inputs` makes what the attributor reads. A document missing from the corpus, and a request without an answer, are a
    DataError.
    """
    rows = requests.loc[requests["setting"] == "rag", ["request_id", "query_id", "retriever", "doc_ids"]]
    rows = rows.explode("doc_ids").rename(columns={"doc_ids": "doc_id"}).dropna(subset="doc_id")
    texts = dict(zip(answers["request_id"], answers["answer"], strict=True))
    rows = rows.assign(answer=looked_up(rows["request_id"], texts, "an answer")).reset_index(drop=True)
    support = attributor.support(inputs(rows[["query_id", "doc_id", "answer"]], corpus))
    made = rows[["query_id", "retriever", "doc_id"]]
    return made.assign(score=support.scores, attributed=support.attributed)
