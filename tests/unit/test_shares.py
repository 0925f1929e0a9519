import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.errors import DataError
from whobenefits.measures.groups import group_measures
from whobenefits.measures.means import ALL_ZERO, UNDEFINED
from whobenefits.measures.shares import group_means, group_shares, shares
from whobenefits.tables import MEASURES, write_table

REFERENCE = Path(__file__).parents[1] / "reference/query_group_fairness"


def documents(rows, retriever="bm25"):
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "utility", "attribution"])
    return frame.assign(retriever=retriever, exposure=1.0, rank=1)


# Two queries; documents x, y of group a, z of group b, w without a label.
DOCUMENTS = documents([("q1", "x", 0.2, 1.0), ("q1", "z", 0.1, 0.0), ("q2", "y", 0.4, 0.0), ("q2", "w", 0.9, 1.0)])
LABELS = {"x": "a", "y": "a", "z": "b"}


def test_group_means_are_sums_over_the_documents_divided_by_all_queries():
    # |Q| = 4, two of them without a document. Utility: a (0.2 + 0.4)/4 = 0.15, b 0.1/4 = 0.025.
    assert group_means(DOCUMENTS, "utility", LABELS, ["a", "b"], 4) == pytest.approx([0.15, 0.025])
    assert group_means(DOCUMENTS, "exposure", LABELS, ["a", "b"], 4) == pytest.approx([0.5, 0.25])
    assert group_means(DOCUMENTS, "attribution", LABELS, ["a", "b", "c"], 4) == pytest.approx([0.25, 0.0, 0.0])


def test_shares_are_parts_of_the_sum_over_the_groups():
    # 0.15 / 0.175 = 6/7 and 1/7.
    assert shares([0.15, 0.025]) == pytest.approx([6 / 7, 1 / 7])


def test_shares_of_nothing_are_undefined_and_not_0():
    assert np.isnan(shares([0.0, 0.0])).all()
    assert np.isnan(shares([np.nan, 1.0])).all()


def test_rows_carry_n_and_the_reason():
    rows = group_shares(documents([("q", "x", 0.0, 1.0)]), ["bm25"], LABELS, ["a", "b"], 3)
    found = {(r["group"], r["measure"]): (r["value"], r["n"], r["reason"]) for r in rows}
    assert found["a", "utility_mean"] == (0.0, 3, "")
    assert found["a", "attribution"] == (1.0, 3, "")
    assert found["b", "attribution"] == (0.0, 3, "")
    value, n, reason = found["a", "utility"]
    assert (math.isnan(value), n, reason) == (True, 3, ALL_ZERO)


def test_an_undefined_utility_makes_the_category_s_shares_undefined_but_only_its_group_s_mean():
    frame = documents([("q", "x", np.nan, 0.0), ("q", "z", 0.5, 0.0)])
    found = {(r["group"], r["measure"]): r for r in group_shares(frame, ["bm25"], LABELS, ["a", "b"], 1)}
    assert found["b", "utility_mean"]["value"] == 0.5
    for row in (found["a", "utility_mean"], found["a", "utility"], found["b", "utility"]):
        assert math.isnan(row["value"]) and row["reason"] == UNDEFINED


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_shares_sum_to_1_wherever_they_are_defined(means):
    got = shares(means)
    assert np.isnan(got).all() if sum(means) == 0 else math.isclose(got.sum(), 1, abs_tol=1e-9)


UNIT = st.floats(0, 1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["x", "y", "z", "w"]), UNIT, st.booleans()), max_size=10), st.integers(1, 5))
def test_group_means_are_those_of_a_plain_loop(rows, n):
    frame = documents([(f"q{i}", doc, u, float(a)) for i, (doc, u, a) in enumerate(rows)])
    expected = {"a": 0.0, "b": 0.0}
    for doc, u, _ in rows:
        if doc in LABELS:
            expected[LABELS[doc]] += u
    got = group_means(frame, "utility", LABELS, ["a", "b"], n)
    assert got == pytest.approx([expected["a"] / n, expected["b"] / n], abs=1e-12)
    assert got == group_means(frame[::-1], "utility", LABELS, ["a", "b"], n)


CELL = {"topic": "t", "task": "title", "llm": "m"}
CATEGORIES = {"size": ["Low", "High", "None"]}


def outcomes():
    rows = [("none", "q1", "ac_llm", 0.2), ("none", "q2", "ac_llm", 0.4)]
    rows += [("bm25", "q1", "ac_rag", 0.5), ("bm25", "q2", "ac_rag", 0.3)]
    rows += [("bm25", "q1", "delta", 0.3), ("bm25", "q2", "delta", -0.1)]
    return pd.DataFrame(rows, columns=["retriever", "query_id", "measure", "value"]).assign(**CELL)


def inputs():
    labels = [("q1", "Low"), ("q2", "High"), ("x", "High"), ("y", "High"), ("z", "Low"), ("unused", "Low")]
    groups = pd.DataFrame(labels, columns=["doc_id", "group"]).assign(category="size")
    other = groups.assign(category="other", group="Foreign")
    return {
        "outcomes": outcomes(),
        "factors": DOCUMENTS.assign(**CELL),
        "groups": pd.concat([groups, other], ignore_index=True),
        "queries": pd.DataFrame({"query_id": ["q1", "q2"], "cell": "c"}),
    }


def test_the_measures_of_a_cell_are_joined_on_labels(tmp_path):
    got = group_measures(**inputs(), categories=CATEGORIES)
    write_table(got, MEASURES, tmp_path / "measures.parquet")
    value = got.set_index(["category", "group", "retriever", "measure"])["value"]
    # Overall: llm (0.2 + 0.4)/2 = 0.3, rag (0.5 + 0.3)/2 = 0.4.
    assert value["all", "all", "none", "ac_llm"] == pytest.approx(0.3)
    assert value["all", "all", "bm25", "delta"] == pytest.approx(0.1)
    assert value["size", "Low", "bm25", "ac_rag"] == 0.5
    assert math.isnan(value["size", "None", "bm25", "delta"])
    # Utility over |Q| = 2: High (0.2 + 0.4)/2 = 0.3, Low 0.1/2 = 0.05; w has no label. Share 0.3/0.35 = 6/7.
    assert value["size", "High", "bm25", "utility_mean"] == pytest.approx(0.3)
    assert value["size", "High", "bm25", "utility"] == pytest.approx(6 / 7)
    assert value["size", "None", "bm25", "exposure"] == 0.0
    assert set(got["topic"]) == {"t"} and set(got["llm"]) == {"m"}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_the_order_of_rows_changes_no_measure(seed):
    mixed = {name: frame.sample(frac=1, random_state=seed) for name, frame in inputs().items()}
    pd.testing.assert_frame_equal(
        group_measures(**mixed, categories=CATEGORIES), group_measures(**inputs(), categories=CATEGORIES)
    )


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("queries", lambda frame: frame.iloc[:1], "'q2'"),
        ("outcomes", lambda frame: frame.iloc[1:], "ac_llm of none: the query 'q1'"),
        ("factors", lambda frame: frame.assign(query_id="q9"), "factors: the query 'q9'"),
        ("groups", lambda frame: frame.assign(category="other"), "no label of size"),
        ("groups", lambda frame: frame.assign(category="size"), "'Foreign', which size does not have"),
        ("outcomes", lambda frame: frame.assign(llm=["m"] * 5 + ["n"]), "2 cells"),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(name, change, message):
    tables = inputs()
    with pytest.raises(DataError, match=message):
        group_measures(**tables | {name: change(tables[name])}, categories=CATEGORIES)


def by_measure(**rules):
    got = group_measures(**inputs(), categories=CATEGORIES, **rules)
    return got.set_index(["category", "group", "retriever", "measure"])[["value", "n", "reason"]]


def test_a_group_without_a_query_is_undefined_or_0_and_nothing_else_changes():
    plain, zero = by_measure(), by_measure(empty_groups="zero")
    # The group None has no query: ac_llm, ac_rag and delta. Its factors are defined either way, being over documents.
    changed = [("none", "ac_llm"), ("bm25", "ac_rag"), ("bm25", "delta")]
    empty = pd.MultiIndex.from_tuples([("size", "None", *names) for names in changed], names=plain.index.names)
    assert plain.loc[empty, "value"].isna().all() and set(plain.loc[empty, "reason"]) == {"no query in this group"}
    assert zero.loc[empty].values.tolist() == [[0.0, 0, ""]] * 3
    pd.testing.assert_frame_equal(zero.drop(empty), plain.drop(empty))


def test_an_undefined_score_and_a_factor_that_is_all_zero_are_not_made_0():
    tables = inputs()
    tables["outcomes"].loc[0, "value"] = np.nan
    tables["factors"] = tables["factors"].assign(utility=0.0)
    got = group_measures(**tables, categories=CATEGORIES, empty_groups="zero").set_index(["group", "measure"])["value"]
    assert math.isnan(got["Low", "ac_llm"]) and math.isnan(got["High", "utility"])


def test_factors_are_rounded_after_the_shares_and_accuracies_never():
    plain, rounded = by_measure(), by_measure(factor_decimals=1)
    # Utility over |Q| = 2: High 0.3, Low 0.05 -> 0.0 (half to even). Shares of the means that are not rounded: 6/7 = 0.857
    # -> 0.9 and 1/7 = 0.143 -> 0.1; of the rounded means they would be 1 and 0.
    assert rounded.loc[("size", "High", "bm25", "utility"), "value"] == 0.9
    assert rounded.loc[("size", "Low", "bm25", "utility"), "value"] == 0.1
    assert rounded.loc[("size", "Low", "bm25", "utility_mean"), "value"] == 0.0
    accuracies = [key for key in plain.index if key[3] in ("ac_llm", "ac_rag", "delta")]
    pd.testing.assert_frame_equal(rounded.loc[accuracies], plain.loc[accuracies])
    pd.testing.assert_frame_equal(rounded[["n", "reason"]], plain[["n", "reason"]])


def test_the_published_attributions_are_rounded_after_their_shares():
    # Each printed mean is a whole number of attributions over |Q|, which three decimals give back.
    table = pd.read_csv(REFERENCE / "group_factors.csv")
    n = table["topic"].map({"cities": 159, "geography": 144, "military-history": 245})
    counts = (table["avg_consumption"] * n).round()
    assert (counts / n).round(3).tolist() == table["avg_consumption"].tolist()
    sets = [table[name] for name in ("task", "topic", "retriever", "llm", "field")]
    of_rounded = table["avg_consumption"] / table["avg_consumption"].groupby(sets).transform("sum")
    made = counts.groupby(sets).transform(shares)
    assert made.round(3).tolist() == table["prob_consumption"].tolist()
    # Shares of the rounded means differ in 88 of the 576.
    assert (of_rounded.round(3) != table["prob_consumption"]).sum() == 88
