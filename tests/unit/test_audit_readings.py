"""Readings of printed tables, orders of stored correlations, and claims: hand-worked cases and properties."""

import json
import random

import audited
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.audit.audit import audit, claim_readings
from whobenefits.audit.checks import COORDINATES
from whobenefits.audit.claims import read_claims
from whobenefits.audit.files import known_fields
from whobenefits.audit.inputs import read_inputs
from whobenefits.audit.printed import Grid, cells, fits, orders, readings
from whobenefits.audit.recomputed import correlations, measures_of
from whobenefits.audit.stored import permuted_means, stored_averages, stored_sets
from whobenefits.errors import DataError
from whobenefits.measures.factors import FACTORS
from whobenefits.statistics import spearman

FIELDS = known_fields()


def test_a_number_fits_what_it_rounds_to_and_a_tie_fits_both():
    # 1.25 is printed as 1.2 by some and as 1.3 by others.
    stored = np.array([1.25, 1.25, 1.2499, 1.2501, np.nan, 1.26])
    printed = np.array([1.2, 1.3, 1.3, 1.3, 1.3, 1.2])
    assert fits(stored, printed, 1).tolist() == [True, True, False, True, False, False]


def test_all_orders_of_few_names_and_swaps_of_many():
    assert len(orders("abcd")) == 24 and orders("abcd")[0] == tuple("abcd")
    assert len(orders("abcdef")) == 1 + 15


NAMES, COLUMNS = ("AoT", "Pop", "AoA"), ("none", "r1", "r2")
FIELD = {"AoT": "years_category", "Pop": "relative_pageviews_category", "AoA": "creation_date_category"}
THREE = {name: FIELDS[name] for name in FIELD.values()}


def printed_table(values, names, columns):
    """A table that prints the value of (topic, category, column) under the wrong names and headers."""
    rows = [
        {
            "topic": topic,
            "task": "title",
            "llm": "m",
            "category": name,
            "position": i + 1,
            "column": header,
            "decimals": 1,
        }
        | {"value": round(values[topic, "title", "m", FIELD[true_name], column], 1)}
        for topic in ("a", "b")
        for name, true_name in zip(NAMES, names, strict=True)
        for i, (header, column) in enumerate(zip(COLUMNS, columns, strict=True))
    ]
    return pd.DataFrame(rows)


@settings(max_examples=25, deadline=None)
@given(st.permutations(NAMES), st.permutations(COLUMNS), st.integers(0, 10**6))
def test_a_table_printed_under_any_names_and_headers_is_recognised(names, columns, seed):
    draw = random.Random(seed)
    numbers = [i + draw.random() for i in range(18)]  # all different by more than rounding, mostly
    draw.shuffle(numbers)
    places = [(topic, "title", "m", FIELD[name], column) for topic in "ab" for name in NAMES for column in COLUMNS]
    values = dict(zip(places, numbers, strict=True))
    grid = Grid(printed_table(values, names, columns), values, THREE)
    table = readings(grid)
    best = table.iloc[0]
    assert best["n_fit"] == best["n"] == 18
    true = table[(table["labels"] == tuple(names)) & (table["columns"] == tuple(columns)) & (table["scope"] == "all")]
    assert true["n_fit"].item() == 18
    assert cells(grid, table)["fits_best"].all()


def test_a_reading_that_moves_less_is_preferred_where_as_many_fit():
    values = {(t, "title", "m", FIELD[n], c): 7.0 for t in "ab" for n in NAMES for c in COLUMNS}
    best = readings(Grid(printed_table(values, NAMES, COLUMNS), values, THREE)).iloc[0]
    assert (best["labels"], best["columns"]) == (NAMES, "as printed")


def test_a_printed_number_without_a_result_is_not_compared():
    values = {("a", "title", "m", FIELD[n], c): 7.0 for n in NAMES for c in COLUMNS}
    whole = values | {("b", *place[1:]): 7.0 for place in values}
    grid = Grid(printed_table(whole, NAMES, COLUMNS), values, THREE)
    table = readings(grid)
    assert (table.iloc[0]["n_fit"], table.iloc[0]["n"]) == (9, 9)
    assert cells(grid, table)["under_best"].isna().sum() == 9


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return read_inputs(audited.write_folder(tmp_path_factory.mktemp("results")), FIELDS)


def one_category(inputs, field):
    measures = measures_of(inputs)
    return measures[measures["category"] == field]


@pytest.mark.parametrize("field", audited.GROUPS)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 2, 3), (3, 1, 0, 2)])
def test_permuted_means_are_those_of_spearman_on_permuted_lists(inputs, field, order):
    found = permuted_means(one_category(inputs, field), audited.GROUPS[field], [order])
    alone = np.array(audited.VALUES[field, ""])
    shares = dict(
        zip(FACTORS, (audited.SHARES[f"prob_{n}"] for n in ("utility", "exposure", "consumption")), strict=True)
    )
    for factor in FACTORS:
        rags = [np.array(audited.VALUES[field, retriever])[list(order)] for retriever in ("r1", "r2")]
        ac_rag = np.mean([spearman(shares[factor], rag).value for rag in rags])
        delta = np.mean([spearman(shares[factor], rag - alone).value for rag in rags])
        assert found[factor, "ac_rag"][0] == pytest.approx(ac_rag, abs=1e-12)
        assert found[factor, "delta"][0] == pytest.approx(delta, abs=1e-12)


def stored_under(inputs, order, wrong=0.0):
    """The averages that somebody stores whose accuracies stand in an order of their own."""
    rows = []
    for field, groups in audited.GROUPS.items():
        means = permuted_means(one_category(inputs, field), groups, [order])
        for factor in FACTORS:
            ac_rag, delta = (means[factor, outcome][0] for outcome in ("ac_rag", "delta"))
            pair = {"authors_file_rho_acrag": ac_rag + wrong, "authors_file_rho_delta": delta}
            rows.append(audited.CELL | {"field": field, "factor": factor} | pair)
    return rows


@pytest.mark.parametrize(
    ("order", "wrong", "status"),
    [((0, 1, 2, 3), 0, "aligned"), ((2, 0, 1, 3), 0, "permuted"), ((0, 1, 2, 3), 0.01, "unexplained")],
)
def test_a_set_is_aligned_permuted_or_unexplained(tmp_path, inputs, order, wrong, status):
    given_inputs = read_inputs(
        audited.write_folder(tmp_path, spearman_aligned=stored_under(inputs, order, wrong)), FIELDS
    )
    averages = stored_averages(given_inputs, correlations(given_inputs))
    sets = stored_sets(given_inputs, measures_of(given_inputs), averages)
    assert sets["status"].tolist() == [status] * 2
    expected = "" if status == "unexplained" else "|".join(audited.LETTERS[i] for i in order)
    assert sets.loc[sets["field"] == "first_letter_category", "order"].item() == expected


def test_a_set_with_a_group_without_a_value_is_not_permuted(tmp_path, inputs):
    rows = [row | {"value": ""} if row["group"] == "a-d" else row for row in audited.accuracy_rows()]
    stored = stored_under(inputs, (1, 0, 2, 3))
    folder = audited.write_folder(tmp_path, group_accuracy=rows, group_sizes=None, spearman_aligned=stored)
    found = audit(folder, FIELDS).sets.set_index("field")
    assert found.loc["first_letter_category", "status"] == "not checked"
    assert "with values" in found.loc["first_letter_category", "reason"]


def facts(**measures):
    """Facts by measure: {(llm, category): value}."""
    rows = [
        dict.fromkeys(COORDINATES, "") | {"measure": measure, "llm": llm, "category": category, "value": value}
        for measure, values in measures.items()
        for (llm, category), value in values.items()
    ]
    return pd.DataFrame(rows)


TABLE = facts(r_rag={("m", "AoT"): 5.04, ("m", "Pop"): 9.0, ("n", "AoT"): 6.0, ("n", "Pop"): 8.0})


def verdict(tmp_path, *checks, table=TABLE, **more):
    path = tmp_path / "claims.json"
    path.write_text(json.dumps([{"id": "c", "location": "p. 1", "says": "so", "checks": checks, **more}]), "utf-8")
    (claim,) = read_claims(path)
    assert claim.rule()
    return claim.verdict(table)


CHECKS = [
    ({"kind": "extreme", "which": "largest", "value": 9, "at": {"llm": "m"}}, True),
    ({"kind": "extreme", "which": "largest", "at": {"llm": "n"}}, False),
    ({"kind": "extreme", "which": "smallest", "value": 5.1, "at": {"category": "AoT"}}, False),
    ({"kind": "number", "among": {"llm": "m", "category": "AoT"}, "value": 5}, True),
    ({"kind": "number", "among": {"llm": "m"}, "value": 5}, False),
    # Pop: m 9 > n 8; AoT: m 5.04 < n 6.
    ({"kind": "compare", "dimension": "llm", "more": "m", "less": "n", "share": "all"}, False),
    ({"kind": "compare", "dimension": "llm", "more": "m", "less": "n", "share": "most"}, False),
    ({"kind": "compare", "dimension": "llm", "more": "m", "less": "n", "unless": [{"category": "AoT"}]}, True),
    ({"kind": "compare", "dimension": "llm", "more": "m", "less": "n", "unless": [{"category": "Pop"}]}, False),
    ({"kind": "compare", "dimension": "category", "more": "Pop", "less": "AoT"}, True),
    # Means: m 7.02, n 7; minima: m 5.04, n 6.
    ({"kind": "leads", "parts": ["llm"], "at": [{"llm": "m"}], "which": "largest"}, True),
    ({"kind": "leads", "parts": ["llm"], "at": [{"llm": "m"}], "which": "largest", "statistic": "min"}, False),
    ({"kind": "leads", "parts": ["llm"], "at": None, "which": "largest", "each": ["category"]}, True),
    ({"kind": "leads", "parts": ["category"], "at": None, "which": "largest", "each": ["llm"]}, False),
    ({"kind": "bound", "share": "all", "above": 5, "below": 9.5}, True),
    ({"kind": "bound", "share": "most", "above": 6}, False),
    ({"kind": "bound", "share": "some", "above": 8.5}, True),
    ({"kind": "bound", "among": {"llm": "nobody"}, "share": "all", "above": 0}, None),
]


@pytest.mark.parametrize(("check", "holds"), CHECKS)
def test_checks_of_a_hand_made_table(tmp_path, check, holds):
    assert verdict(tmp_path, check).holds is holds


def rho(**signs):
    """Facts of correlations: for each category the values with the three factors."""
    rows = [
        dict.fromkeys(COORDINATES, "") | {"measure": "rho", "category": category, "factor": factor, "value": value}
        for category, values in signs.items()
        for factor, value in zip(FACTORS, values, strict=True)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        ({"sign": "alike", "share": "most"}, True),
        ({"sign": "alike"}, False),
        ({"sign": "alike", "unless": [{"category": "Alp"}]}, True),
        ({"sign": "alike", "unless": [{"category": ["Alp", "Pop"]}]}, True),
        ({"sign": "alike", "unless": [{"category": "Alp"}, {"category": "Pop"}]}, False),
        ({"sign": "positive", "share": "some"}, True),
        ({"sign": "negative", "share": "most"}, False),
    ],
)
def test_signs_of_correlations(tmp_path, check, holds):
    # A zero is neither sign.
    table = rho(AoT=(0.1, 0.2, 0.3), Pop=(-0.1, -0.2, -0.3), Alp=(0.1, 0.0, 0.3))
    assert verdict(tmp_path, {"kind": "signs", **check}, table=table).holds is holds


def test_a_claim_about_an_unnamed_panel_holds_if_it_does_in_one(tmp_path):
    check = {"kind": "bound", "share": "all", "above": 5.5}
    assert verdict(tmp_path, check, panel=["llm"]) == (True, "in n of 2")
    assert verdict(tmp_path, check | {"above": 8.5}, panel=["llm"]) == (False, "in no panel of 2")


def test_of_several_checks_one_that_fails_decides(tmp_path):
    passing, failing = {"kind": "bound", "share": "all", "above": 0}, {"kind": "bound", "share": "all", "above": 99}
    unknown = {"kind": "bound", "among": {"llm": "nobody"}, "share": "all", "above": 0}
    assert verdict(tmp_path, passing, failing, unknown).holds is False
    assert verdict(tmp_path, passing, unknown).holds is None
    assert verdict(tmp_path, passing, passing).holds is True


GOOD = {"id": "c", "location": "p. 1", "says": "so", "checks": [{"kind": "bound", "share": "all", "above": 0}]}


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("[{", "is not JSON"),
        (json.dumps([GOOD | {"checks": []}]), "claim 'c': 0.checks"),
        (json.dumps([GOOD | {"checks": [{"kind": "guess"}]}]), "claim 'c'"),
        (json.dumps([GOOD | {"checks": [{"kind": "bound", "share": "all", "over": 1}]}]), "over"),
        (json.dumps([GOOD | {"checks": [{"kind": "bound", "share": "all", "among": {"model": "m"}}]}]), "among"),
        (json.dumps([GOOD, GOOD]), "stands twice"),
        (json.dumps({"claims": [GOOD]}), "list"),
    ],
)
def test_a_claims_file_that_cannot_be_used_is_one_error(tmp_path, content, part):
    (tmp_path / "claims.json").write_text(content, "utf-8")
    with pytest.raises(DataError) as error:
        read_claims(tmp_path / "claims.json")
    assert part in str(error.value) and str(error.value).startswith(str(tmp_path / "claims.json"))


def test_readings_for_claims_differ_from_each_other(inputs):
    # Without a printed table and stored correlations there is only one: the names mean what they mean.
    (only,) = claim_readings(inputs, {})
    assert only.rho == "aligned" and only.fields == {"Alp": "first_letter_category", "AoT": "years_category"}
