import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.errors import DataError
from whobenefits.measures.accuracy import group_accuracy, query_accuracy
from whobenefits.measures.means import NO_QUERY, UNDEFINED

COLUMNS = ["request_id", "query_id", "setting", "retriever", "doc_id"]
REQUESTS = pd.DataFrame(
    [
        ("l1", "q1", "llm", None, None),
        ("b1", "q1", "rag", "bm25", None),
        ("s1", "q1", "rag", "splade", None),
        ("l2", "q2", "llm", None, None),
        ("b2", "q2", "rag", "bm25", None),
        ("b2", "q2", "rag", "splade", None),
    ],
    columns=COLUMNS,
)


def scores(**values):
    return pd.DataFrame({"request_id": list(values), "measure": "rouge-l-f1", "value": list(values.values())})


SCORES = scores(l1=0.2, b1=0.5, s1=0.1, l2=0.4, b2=0.7)


def as_dict(outcomes):
    return {(r.retriever, r.query_id, r.measure): r.value for r in outcomes.itertuples()}


def test_outcomes_of_two_queries_and_two_retrievers_that_share_a_prompt():
    # q1: bm25 0.5 - 0.2 = 0.3, splade 0.1 - 0.2 = -0.1; q2: the two retrievers share b2, 0.7 - 0.4 = 0.3.
    got = as_dict(query_accuracy(REQUESTS, SCORES, ["splade", "bm25"]))
    assert got == pytest.approx(
        {
            ("none", "q1", "ac_llm"): 0.2,
            ("none", "q2", "ac_llm"): 0.4,
            ("bm25", "q1", "ac_rag"): 0.5,
            ("bm25", "q2", "ac_rag"): 0.7,
            ("bm25", "q1", "delta"): 0.3,
            ("bm25", "q2", "delta"): 0.3,
            ("splade", "q1", "ac_rag"): 0.1,
            ("splade", "q2", "ac_rag"): 0.7,
            ("splade", "q1", "delta"): -0.1,
            ("splade", "q2", "delta"): 0.3,
        }
    )


def test_an_undefined_score_stays_undefined():
    got = as_dict(query_accuracy(REQUESTS, scores(l1=np.nan, b1=0.5, s1=0.1, l2=0.4, b2=0.7), ["bm25"]))
    assert math.isnan(got["none", "q1", "ac_llm"])
    assert math.isnan(got["bm25", "q1", "delta"])
    assert got["bm25", "q1", "ac_rag"] == 0.5


@pytest.mark.parametrize(
    ("requests", "table", "message"),
    [
        (REQUESTS, SCORES[SCORES.request_id != "b2"], "a score of the request is missing for 'b2'"),
        (REQUESTS.drop(index=5), SCORES, r"with documents is missing for \('q2', 'splade'\)"),
        (REQUESTS.drop(index=0), SCORES, r"LLM alone is missing for \('q1',\)"),
    ],
)
def test_a_missing_request_or_score_is_an_error_that_names_it(requests, table, message):
    with pytest.raises(DataError, match=message):
        query_accuracy(requests, table, ["bm25", "splade"])


def outcomes(llm, rag, retriever="bm25"):
    parts = [("none", q, "ac_llm", v) for q, v in llm.items()] + [(retriever, q, "ac_rag", v) for q, v in rag.items()]
    return pd.DataFrame(parts, columns=["retriever", "query_id", "measure", "value"])


def by_group(rows, measure):
    return {row["group"]: (row["value"], row["n"], row["reason"]) for row in rows if row["measure"] == measure}


def test_group_accuracy_is_the_mean_over_the_group_s_queries_and_delta_their_difference():
    # Low: q1, q3: llm (0.2 + 0.4)/2 = 0.3, rag (0.5 + 0.9)/2 = 0.7, delta 0.4. High: q2: 0.6, 0.5, -0.1.
    table = outcomes({"q1": 0.2, "q2": 0.6, "q3": 0.4}, {"q1": 0.5, "q2": 0.5, "q3": 0.9})
    rows = group_accuracy(table, {"q1": "Low", "q3": "Low", "q2": "High"}, ["Low", "High"])
    assert by_group(rows, "ac_llm") == {"Low": (pytest.approx(0.3), 2, ""), "High": (0.6, 1, "")}
    assert by_group(rows, "ac_rag") == {"Low": (pytest.approx(0.7), 2, ""), "High": (0.5, 1, "")}
    assert by_group(rows, "delta") == {"Low": (pytest.approx(0.4), 2, ""), "High": (pytest.approx(-0.1), 1, "")}
    assert {row["retriever"] for row in rows if row["measure"] == "ac_llm"} == {"none"}


def test_a_group_without_a_query_is_undefined_and_never_0():
    rows = group_accuracy(outcomes({"q": 0.2}, {"q": 0.5}), {"q": "Low", "other": "High"}, ["Low", "High"])
    for measure in ("ac_llm", "ac_rag", "delta"):
        value, n, reason = by_group(rows, measure)["High"]
        assert (math.isnan(value), n, reason) == (True, 0, NO_QUERY)


def test_an_undefined_score_makes_its_group_undefined_with_a_reason():
    rows = group_accuracy(outcomes({"q": np.nan, "p": 0.1}, {"q": 0.5, "p": 0.2}), {"q": "a", "p": "a"}, ["a"])
    value, n, reason = by_group(rows, "delta")["a"]
    assert (math.isnan(value), n, reason) == (True, 2, UNDEFINED)
    assert by_group(rows, "ac_rag")["a"] == (pytest.approx(0.35), 2, "")


def test_a_query_without_a_label_counts_towards_no_group():
    rows = group_accuracy(outcomes({"q": 0.2, "p": 1.0}, {"q": 0.5, "p": 1.0}), {"q": "a"}, ["a"])
    assert by_group(rows, "ac_llm") == {"a": (0.2, 1, "")}


UNIT = st.floats(0, 1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(UNIT, UNIT, st.sampled_from("abc")), min_size=1, max_size=12), st.randoms())
def test_it_is_a_plain_loop_weighted_by_group_size_and_the_order_of_rows_changes_nothing(queries, random):
    llm = {f"q{i}": v for i, (v, _, _) in enumerate(queries)}
    rag = {f"q{i}": v for i, (_, v, _) in enumerate(queries)}
    labels = {f"q{i}": g for i, (_, _, g) in enumerate(queries)}
    table = outcomes(llm, rag)
    rows = group_accuracy(table, labels, ["a", "b", "c"])
    for group, (value, n, _) in by_group(rows, "ac_rag").items():
        members = [rag[q] for q in rag if labels[q] == group]
        assert n == len(members)
        assert math.isnan(value) if not members else value == pytest.approx(sum(members) / n, abs=1e-12)
    # Group means weighted by group size give the overall mean.
    weighted = sum(value * n for value, n, _ in by_group(rows, "ac_llm").values() if n)
    overall = by_group(group_accuracy(table, dict.fromkeys(llm, "all"), ["all"]), "ac_llm")["all"]
    assert weighted / len(queries) == pytest.approx(overall[0], abs=1e-12)
    shuffled = table.sample(frac=1, random_state=random.randrange(1000))
    assert str(group_accuracy(shuffled, labels, ["a", "b", "c"])) == str(rows)
