import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.errors import DataError
from whobenefits.measures.factors import document_factors, utility

REQUESTS = pd.DataFrame(
    [
        ("l", "q", "llm", None, None),
        ("r", "q", "rag", "bm25", None),
        ("dx", "q", "doc", None, "x"),
        ("dy", "q", "doc", None, "y"),
    ],
    columns=["request_id", "query_id", "setting", "retriever", "doc_id"],
)
RUN = pd.DataFrame({"query_id": "q", "doc_id": ["z", "y", "x"], "rank": [3, 2, 1], "score": [1.0, 2.0, 3.0]})
ATTRIBUTIONS = pd.DataFrame(
    {"query_id": "q", "retriever": "bm25", "doc_id": ["y", "x"], "score": [0.9, np.nan], "attributed": [True, False]}
)


def scores(**values):
    return pd.DataFrame({"request_id": list(values), "measure": "rouge-l-f1", "value": list(values.values())})


SCORES = scores(l=0.3, r=0.9, dx=0.5, dy=0.1)


def test_utility_is_the_gain_over_the_llm_alone_and_never_negative():
    # x: 0.5 - 0.3 = 0.2; y: 0.1 - 0.3 < 0, so 0.
    assert utility([0.5, 0.1], [0.3, 0.3]) == pytest.approx([0.2, 0.0])


def test_an_undefined_accuracy_makes_an_undefined_utility():
    assert np.isnan(utility([np.nan, 0.5], [0.3, np.nan])).all()


def test_factors_of_the_documents_in_the_context():
    # k = 2: z at rank 3 was not shown.
    got = document_factors(REQUESTS, SCORES, ATTRIBUTIONS, {"bm25": RUN}, 2)
    columns = ["retriever", "query_id", "doc_id", "rank", "utility", "exposure", "attribution"]
    assert got[columns].values.tolist() == [
        ["bm25", "q", "x", 1, pytest.approx(0.2), 1.0, 0.0],
        ["bm25", "q", "y", 2, 0.0, 1.0, 1.0],
    ]


def test_an_undefined_score_makes_only_its_own_document_undefined():
    table = scores(l=0.3, r=0.5, dx=np.nan, dy=0.4)
    got = document_factors(REQUESTS, table, ATTRIBUTIONS, {"bm25": RUN}, 2)["utility"].tolist()
    assert math.isnan(got[0]) and got[1] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context_size": 3}, r"the document alone is missing for \('q', 'z'\)"),
        ({"attributions": ATTRIBUTIONS.iloc[:1]}, r"missing for \('q', 'bm25', 'x'\)"),
        ({"scores": SCORES[SCORES.request_id != "dy"]}, "a score of the request is missing for 'dy'"),
        ({"requests": REQUESTS.drop(index=0)}, r"LLM alone is missing for \('q',\)"),
    ],
)
def test_a_missing_join_is_an_error_that_names_the_id(change, message):
    inputs = {"requests": REQUESTS, "scores": SCORES, "attributions": ATTRIBUTIONS, "context_size": 2} | change
    with pytest.raises(DataError, match=message):
        document_factors(runs={"bm25": RUN}, **inputs)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=8), st.integers(1, 8), st.randoms())
def test_it_is_a_plain_loop_and_the_order_of_rows_changes_nothing(docs, k, random):
    names = [f"d{i}" for i in range(len(docs))]
    requests = pd.DataFrame(
        [("l", "q", "llm", None, None)] + [(f"r{d}", "q", "doc", None, d) for d in names], columns=REQUESTS.columns
    )
    run = pd.DataFrame({"query_id": "q", "doc_id": names, "rank": range(1, len(names) + 1), "score": 0.0})
    table = scores(l=0.4, **{f"r{d}": value for d, (value, _) in zip(names, docs, strict=True)})
    flags = [flag for _, flag in docs]
    given_flags = ATTRIBUTIONS.iloc[:0].reindex(range(len(names)))
    given_flags = given_flags.assign(query_id="q", retriever="bm25", doc_id=names, score=0.5, attributed=flags)
    got = document_factors(requests, table, given_flags, {"bm25": run}, k)
    assert got["doc_id"].tolist() == names[:k]
    assert got["utility"].tolist() == [max(value - 0.4, 0) for value, _ in docs[:k]]
    assert got["attribution"].tolist() == [float(flag) for flag in flags[:k]]
    mixed = [frame.sample(frac=1, random_state=random.randrange(1000)) for frame in (requests, table, given_flags, run)]
    pd.testing.assert_frame_equal(got, document_factors(*mixed[:3], {"bm25": mixed[3]}, k))
