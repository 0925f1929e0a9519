import numpy as np
import pandas as pd
import pytest
from uncertain import CATEGORIES, GROUPS, tables

from whobenefits.errors import DataError
from whobenefits.measures.groups import group_measures
from whobenefits.statistics import FEW_FILLED, correlations_of, ranges_of
from whobenefits.tables import read_table, write_table
from whobenefits.uncertainty.arrays import query_arrays
from whobenefits.uncertainty.bootstrap import by_group
from whobenefits.uncertainty.multiplicity import with_adjusted
from whobenefits.uncertainty.schemas import RANGE_TESTS, with_adjusted_columns
from whobenefits.uncertainty.study import TABLES, cell_uncertainty
from whobenefits.uncertainty.unevenness import crossed_groups


def uncertainty(source, categories=CATEGORIES, seed=1, draws=300, **crossed):
    return cell_uncertainty(source["outcomes"], source["factors"], source["groups"], categories, draws, seed, **crossed)


@pytest.fixture(scope="module")
def found():
    return uncertainty(tables(1))


@pytest.fixture(scope="module")
def measures():
    return group_measures(**tables(1), categories=CATEGORIES)


def same(first, second):
    for name, frame in first.items():
        pd.testing.assert_frame_equal(frame, second[name], check_exact=False, rtol=1e-9)


def test_every_table_fits_its_schema(tmp_path, found):
    for name, frame in found.items():
        write_table(frame, TABLES[name], tmp_path / f"{name}.parquet")
        assert len(read_table(TABLES[name], tmp_path / f"{name}.parquet")) == len(frame) > 0
    table = with_adjusted_columns(RANGE_TESTS)
    write_table(with_adjusted(found["range_tests"], ["measure"]), table, tmp_path / "adjusted.parquet")


def test_every_measure_has_one_interval_and_lies_in_it(found, measures):
    keys = ["topic", "task", "llm", "retriever", "category", "group", "measure"]
    joined = measures.merge(found["intervals"], on=keys, how="outer", validate="one_to_one", indicator=True)
    assert set(joined["_merge"]) == {"both"}
    assert (joined["interval_reason"] == "").mean() > 0.9
    kept = joined[joined["interval_reason"] == ""]
    assert ((kept["low"] <= kept["value"]) & (kept["value"] <= kept["high"])).all()
    assert (kept["low"] < kept["high"]).all()


def test_every_range_has_one_test_and_its_interval_ends_above_it(found, measures):
    keys = ["topic", "task", "llm", "retriever", "category", "measure"]
    joined = ranges_of(measures, CATEGORIES).merge(found["range_tests"], on=keys, how="outer", validate="one_to_one")
    assert joined["p"].between(0, 1).all()
    assert ((joined["low"] <= joined["value"]) & (joined["value"] <= joined["high"])).all()
    gaps = found["unevenness"].query("statistic == 'difference_between_groups'")["value"]
    assert sorted(gaps) == pytest.approx(sorted(joined["value"]))


def test_every_correlation_has_one_test_defined_where_it_is(found, measures):
    keys = ["topic", "task", "llm", "retriever", "category", "factor", "outcome"]
    joined = correlations_of(measures, CATEGORIES).merge(
        found["correlation_tests"], on=keys, how="outer", validate="one_to_one"
    )
    assert len(joined) == len(found["correlation_tests"]) == 2 * 6 * 3
    assert (joined["value"].isna() == joined["p"].isna()).all()
    # Of two groups there is no correlation.
    assert joined.loc[joined["category"] == "age", "p"].isna().all()
    assert (joined.loc[joined["category"] == "size", "smallest_p"] == 1 / 12).all()


def test_the_arrays_hold_what_the_measures_are_means_of(measures):
    source = tables(1)
    cell = query_arrays(source["outcomes"], source["factors"], source["groups"], "size", GROUPS)
    means = by_group(cell).sum(axis=-1) / cell.sizes
    by_key = measures[measures["category"] == "size"].set_index(["measure", "retriever", "group"])["value"]
    for i, (measure, retriever) in enumerate(cell.series):
        for g, group in enumerate(GROUPS):
            assert means[i, g] == pytest.approx(by_key[measure, retriever, group])
    for r, retriever in enumerate(cell.retrievers):
        for g, group in enumerate(GROUPS):
            assert cell.factors.mean(axis=2)[r, 0, g] == pytest.approx(by_key["utility_mean", retriever, group])


def test_the_order_of_rows_and_of_categories_and_the_other_categories_change_nothing(found):
    source = tables(1)
    mixed = {name: frame.sample(frac=1, random_state=3) for name, frame in source.items()}
    same(found, uncertainty(mixed))
    alone = uncertainty(mixed, {"age": CATEGORIES["age"]})
    both = {name: frame[frame["category"].isin(["all", "age"])].reset_index(drop=True) for name, frame in found.items()}
    same(both, alone)


def test_another_seed_draws_others(found):
    other = uncertainty(tables(1), seed=2)
    assert (found["range_tests"]["p"] != other["range_tests"]["p"]).any()
    pd.testing.assert_frame_equal(found["query_regressions"], other["query_regressions"])


def test_an_undefined_score_makes_only_its_group_and_the_ranges_undefined():
    source = tables(1)
    outcomes = source["outcomes"]
    outcomes.loc[(outcomes["query_id"] == "d00") & (outcomes["measure"] == "ac_rag"), "value"] = np.nan
    got = uncertainty(source)
    rows = got["intervals"].query("category == 'size' and measure == 'ac_rag'")
    assert rows.loc[rows["interval_reason"] != "", "group"].tolist() == ["Low", "Low"]
    ranges = got["range_tests"].query("measure == 'r_rag'")
    assert ranges["p"].isna().all() and (ranges["p_reason"] != "").all()
    assert got["range_tests"].query("measure == 'r_llm'")["p"].notna().all()


def test_crossed_groups_are_measured_like_any_category():
    source = tables(1, n=48)
    ids = source["queries"]["query_id"].tolist()
    groups, names = crossed_groups(source["groups"], "size", "age", ids, min_queries=4)
    assert len(names) >= 4
    got = uncertainty(source | {"groups": groups}, {"size+age": names})
    assert set(got["intervals"]["group"]) == {"all", *names}
    measured = group_measures(**source | {"groups": groups}, categories={"size+age": names})
    assert measured.query("measure == 'ac_llm' and category == 'size+age'")["n"].min() >= 4


def test_crossed_categories_have_rows_of_unevenness_alone_and_change_no_other(found):
    source = tables(1, n=48)
    plain, crossed = uncertainty(source), uncertainty(source, crossed=[["size", "age"]], min_queries=4)
    rows = crossed["unevenness"]
    same(plain, crossed | {"unevenness": rows[rows["category"] != "size+age"]})
    # d0 ... d47 have size i % 4 and age New where i % 3 == 0: 4 sizes x 16 New of 48, so 4 New and 8 Old of each size.
    gaps = rows.query("category == 'size+age' and statistic == 'difference_between_groups'")
    assert len(gaps) == 5 and gaps["n"].eq(48).all() and gaps["p"].between(0, 1).all()
    assert gaps["group"].str.fullmatch("(Low|Mid|High|Top) [|] (Old|New)").all()
    fewer = uncertainty(source, crossed=[["size", "age"]], min_queries=5)["unevenness"].query("category == 'size+age'")
    assert fewer["n"].eq(32).all() and not fewer["group"].str.contains("New", na=False).any()


def test_crossed_groups_of_too_few_queries_leave_nothing_to_compare():
    rows = uncertainty(tables(1), crossed=[["size", "age"]], min_queries=99)["unevenness"]
    rows = rows[rows["category"] == "size+age"]
    assert len(rows) == 45 and set(rows["reason"]) == set(rows["p_reason"]) == {FEW_FILLED} and rows["n"].eq(0).all()


def test_the_change_of_a_range_is_that_of_the_table_of_ranges(found, measures):
    ranges = ranges_of(measures, CATEGORIES).set_index(["category", "measure", "retriever"])["value"]
    rows = found["range_tests"].query("measure == 'r_rag'")
    assert len(rows) == 4 and rows["change_p"].between(0, 1).all()
    for row in rows.itertuples():
        alone = ranges[row.category, "r_llm", "none"]
        assert row.change == pytest.approx(ranges[row.category, "r_rag", row.retriever] - alone)


def test_a_label_that_the_category_does_not_have_and_a_second_cell_are_errors():
    source = tables(1)
    with pytest.raises(DataError, match="Top"):
        uncertainty(source, {"size": GROUPS[:3]})
    with pytest.raises(DataError, match="2 cells"):
        uncertainty(source | {"outcomes": pd.concat([source["outcomes"], source["outcomes"].assign(llm="other")])})
    with pytest.raises(DataError, match="ac_rag"):
        lost = source["outcomes"].query("not (query_id == 'd00' and retriever == 'bm25')")
        uncertainty(source | {"outcomes": lost})
