import pandas as pd
import pytest

from whobenefits.datasets.union import united_topics
from whobenefits.errors import DataError


def topic(**documents):
    """Tables of documents given as id=(text, group)."""
    corpus = pd.DataFrame(
        [(d, d.upper(), text) for d, (text, _) in documents.items()], columns=["doc_id", "title", "text"]
    )
    groups = pd.DataFrame([(d, "age", g) for d, (_, g) in documents.items()], columns=["doc_id", "category", "group"])
    return corpus, groups


def test_a_document_of_two_topics_is_in_the_union_once():
    corpus, groups = united_topics(
        {"x": topic(b=("two", "old"), a=("one", "new")), "y": topic(b=("two", "old"), c=("three", "old"))}
    )
    assert corpus["doc_id"].tolist() == ["a", "b", "c"]
    assert groups.to_numpy().tolist() == [["a", "age", "new"], ["b", "age", "old"], ["c", "age", "old"]]


@pytest.mark.parametrize(("other", "what"), [(("changed", "old"), "texts"), (("two", "new"), "groups")])
def test_topics_that_disagree_on_a_document_cannot_be_united(other, what):
    message = f"the topics x, y give 1 documents different {what}, first .*'b'.*: set dataset.retrieval_corpus to topic"
    with pytest.raises(DataError, match=message):
        united_topics({"x": topic(b=("two", "old")), "y": topic(b=other)})
