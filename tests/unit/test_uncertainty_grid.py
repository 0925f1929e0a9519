import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from uncertain import CATEGORIES, tables

from whobenefits.errors import DataError
from whobenefits.measures.groups import group_measures
from whobenefits.statistics import correlations_of, in_grid_order, ranges_of
from whobenefits.tables import MEASURES, read_table, write_table
from whobenefits.uncertainty.grid import EMPTY_AS_ZERO, GRID_TABLES, grid_tables
from whobenefits.uncertainty.multiplicity import benjamini_hochberg, holm
from whobenefits.uncertainty.study import TABLES, cell_uncertainty

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow/scripts"


def cell(seed, llm):
    """Measures and uncertainty of one topic, task and LLM."""
    source = tables(seed)
    source["outcomes"] = source["outcomes"].assign(llm=llm)
    source["factors"] = source["factors"].assign(llm=llm)
    found = cell_uncertainty(source["outcomes"], source["factors"], source["groups"], CATEGORIES, 200, 1)
    return group_measures(**source, categories=CATEGORIES), found


@pytest.fixture(scope="module")
def parts():
    made = [cell(1, "a"), cell(2, "b")]
    measures = pd.concat([measures for measures, _ in made], ignore_index=True)
    return measures, {name: pd.concat([u[name] for _, u in made], ignore_index=True) for name in made[0][1]}


@pytest.fixture(scope="module")
def grid(parts):
    return grid_tables(*parts, CATEGORIES)


def test_every_table_fits_its_schema(grid, tmp_path):
    assert grid.keys() == GRID_TABLES.keys()
    for name, frame in grid.items():
        write_table(frame, GRID_TABLES[name], tmp_path / f"{name}.parquet")


def test_the_numbers_are_those_without_uncertainty_in_the_same_order(grid, parts):
    measures = in_grid_order(parts[0], CATEGORIES)
    plain = {
        "measures": measures,
        "ranges": ranges_of(measures, CATEGORIES),
        "correlations": correlations_of(measures, CATEGORIES),
    }
    for name, frame in plain.items():
        pd.testing.assert_frame_equal(grid[name][frame.columns], frame, check_dtype=False)


def test_each_mean_lies_in_its_interval(grid):
    rows = grid["measures"].dropna(subset=["value", "low"])
    assert len(rows) > 50 and rows["low"].le(rows["value"] + 1e-9).all() and rows["value"].le(rows["high"] + 1e-9).all()


def test_the_adjusted_p_are_those_of_all_ranges_of_one_kind_over_the_whole_grid(grid):
    rows = grid["ranges"].query("measure == 'r_rag'")
    assert set(rows["llm"]) == {"a", "b"} and set(rows["n_tests"]) == {rows["p"].notna().sum()}
    np.testing.assert_allclose(rows["p_holm"], holm(rows["p"]))
    np.testing.assert_allclose(rows["p_bh"], benjamini_hochberg(rows["p"]))


def test_the_changes_of_ranges_are_one_family_of_their_own(grid):
    rows = grid["ranges"].query("measure == 'r_rag'")
    assert set(rows["change_n_tests"]) == {len(rows)} and rows["change_p"].notna().all()
    np.testing.assert_allclose(rows["change_p_holm"], holm(rows["change_p"]))
    np.testing.assert_allclose(rows["change_p_bh"], benjamini_hochberg(rows["change_p"]))
    others = grid["ranges"].query("measure != 'r_rag'")
    assert others["change_p_holm"].isna().all() and set(others["change_n_tests"]) == {0}


def test_each_kind_of_unevenness_is_a_family(grid):
    rows = grid["unevenness"].query("measure == 'ac_rag' and statistic == 'sd_between_groups'")
    assert set(rows["n_tests"]) == {len(rows)} and len(rows) == 8
    np.testing.assert_allclose(rows["p_holm"], holm(rows["p"]))


def test_rows_of_crossed_groups_stand_behind_those_of_the_categories(parts):
    measures, uncertainty = parts
    rows = uncertainty["unevenness"]
    crossed = rows[rows["category"] == "age"].assign(category="size+age")
    made = grid_tables(measures, uncertainty | {"unevenness": pd.concat([crossed, rows])}, CATEGORIES)["unevenness"]
    assert list(dict.fromkeys(made["category"])) == ["size", "age", "size+age"]


def test_the_order_of_the_cells_changes_nothing(parts, grid):
    measures, uncertainty = parts
    turned = grid_tables(measures[::-1], {name: frame[::-1] for name, frame in uncertainty.items()}, CATEGORIES)
    for name in ("measures", "ranges", "correlations"):
        pd.testing.assert_frame_equal(turned[name], grid[name])


def test_a_number_without_uncertainty_is_an_error_that_names_it(parts):
    measures, uncertainty = parts
    lost = uncertainty | {"intervals": uncertainty["intervals"].query("llm == 'a'")}
    with pytest.raises(DataError, match=r"measures: \d+ rows have no uncertainty, first .*'llm': 'b'"):
        grid_tables(measures, lost, CATEGORIES)


def test_a_range_with_an_empty_group_that_counts_as_0_has_no_interval_and_no_test(parts, grid):
    measures, uncertainty = parts
    emptied = measures.copy()
    hit = (emptied["llm"] == "a") & (emptied["category"] == "size") & (emptied["group"] == "Top")
    emptied.loc[hit & emptied["measure"].isin(["ac_llm", "ac_rag", "delta"]), ["value", "n"]] = 0.0, 0
    made = grid_tables(emptied, uncertainty, CATEGORIES, empty_groups="zero")
    for name, columns in (("ranges", ["low", "high", "p", "expected"]), ("correlations", ["low", "high", "p"])):
        where = (made[name]["llm"] == "a") & (made[name]["category"] == "size")
        assert where.any() and made[name].loc[where, columns].isna().all().all()
        reason = "p_reason" if name == "ranges" else "uncertainty_reason"
        assert set(made[name].loc[where, reason]) == {EMPTY_AS_ZERO}
        assert name == "correlations" or set(made[name].loc[where, "change_reason"]) == {EMPTY_AS_ZERO}
        pd.testing.assert_frame_equal(made[name].loc[~where, columns[:2]], grid[name].loc[~where, columns[:2]])
    uneven = made["unevenness"].query("llm == 'a' and category == 'size'")
    assert len(uneven) and uneven[["value", "p", "group"]].isna().all().all()
    assert set(uneven["reason"]) == {EMPTY_AS_ZERO}


def test_the_cells_files_become_one_sorted_table_each_with_csv_beside_it(parts, grid, tmp_path):
    measures, uncertainty = parts
    paths = {name: [] for name in ("measures", *TABLES)}
    for llm in ("b", "a"):
        for name, frame in ({"measures": measures} | uncertainty).items():
            path = tmp_path / f"{llm}_{name}.parquet"
            write_table(frame[frame["llm"] == llm], {"measures": MEASURES, **TABLES}[name], path)
            paths[name].append(str(path))
    outputs = {name: str(tmp_path / f"{name}.parquet") for name in GRID_TABLES}
    outputs |= {f"{name}_csv": str(tmp_path / f"{name}.csv") for name in GRID_TABLES}
    main = runpy.run_path(str(SCRIPTS / "aggregate.py"), run_name="script")["main"]
    main(paths.pop("measures"), paths, outputs, CATEGORIES, "undefined")
    for name, table in GRID_TABLES.items():
        pd.testing.assert_frame_equal(
            read_table(table, outputs[name]), grid[name][list(table.columns)], check_dtype=False
        )
        csv = pd.read_csv(outputs[f"{name}_csv"], keep_default_na=False, na_values={"value": [""]})
        assert list(csv.columns) == list(table.columns) and len(csv) == len(grid[name])
        if "value" in table.columns:
            assert csv["value"].tolist() == pytest.approx(grid[name]["value"].tolist(), nan_ok=True)
