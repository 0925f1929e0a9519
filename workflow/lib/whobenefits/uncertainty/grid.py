"""The result tables of the whole grid: each number with its interval and its test beside it."""

from collections.abc import Mapping, Sequence

import pandas as pd

from whobenefits.errors import DataError
from whobenefits.statistics import RANGED, correlations_of, in_grid_order, ranges_of
from whobenefits.tables import CORRELATIONS, MEASURES, RANGES, Table
from whobenefits.uncertainty.multiplicity import with_adjusted
from whobenefits.uncertainty.schemas import (
    CORRELATION_TESTS,
    INTERVALS,
    QUERY_CORRELATIONS,
    QUERY_REGRESSIONS,
    RANGE_TESTS,
    UNEVENNESS,
    with_adjusted_columns,
)

CHANGE = ["change", "change_low", "change_high", "change_p"]
EMPTY_AS_ZERO = "a group without a query counts as 0"
# Tests that are adjusted for each other: all ranges of one kind; all correlations with one outcome by one retriever.
OF_RANGES, OF_CORRELATIONS, OF_REGRESSIONS = ["measure"], ["retriever", "outcome"], ["model", "outcome"]
OF_UNEVENNESS = ["measure", "statistic"]


def joined(table: Table, beside: Table) -> Table:
    """The table with the columns of another one that has the same key."""
    return Table(table.name, table.columns | beside.columns, table.key)


GRID_TABLES = {
    table.name: table
    for table in (
        joined(MEASURES, INTERVALS),
        with_adjusted_columns(with_adjusted_columns(joined(RANGES, RANGE_TESTS)), "change_"),
        with_adjusted_columns(joined(CORRELATIONS, CORRELATION_TESTS)),
        with_adjusted_columns(UNEVENNESS),
        with_adjusted_columns(QUERY_CORRELATIONS),
        with_adjusted_columns(QUERY_REGRESSIONS),
    )
}


def grid_tables(
    measures: pd.DataFrame,
    uncertainty: Mapping[str, pd.DataFrame],
    categories: Mapping[str, Sequence[str]],
    empty_groups: str = "undefined",
) -> dict[str, pd.DataFrame]:
    """The tables of GRID_TABLES, by name.

    `measures` are those of all cells, `uncertainty` the tables of study.TABLES, each of all cells, by name. Where empty
    groups count as 0 (`zero`), a range or correlation with such a group has no interval and no test: none of its draws
    could have one more query there. Its unevenness in other terms, which leaves empty groups out, is undefined. Raises
    DataError where a number has no row of uncertainty.
    """
    measures = in_grid_order(measures, categories)
    empty = _with_an_empty_group(measures) if empty_groups == "zero" else set()
    ranges = _beside(ranges_of(measures, categories), RANGES, uncertainty[RANGE_TESTS.name])
    correlations = _beside(correlations_of(measures, categories), CORRELATIONS, uncertainty[CORRELATION_TESTS.name])
    ranges = _untested(ranges, empty, ["low", "high", "expected", "p", "detectable", *CHANGE])
    correlations = _untested(correlations, empty, ["low", "high", "p", "smallest_p"])
    uneven = _sorted(uncertainty[UNEVENNESS.name], UNEVENNESS, categories)
    uneven = _untested(uneven, empty, ["value", "group", "expected", "p"], "reason")
    return {
        MEASURES.name: _beside(measures, MEASURES, uncertainty[INTERVALS.name]),
        RANGES.name: with_adjusted(with_adjusted(ranges, OF_RANGES), OF_RANGES, "change_"),
        CORRELATIONS.name: with_adjusted(correlations, OF_CORRELATIONS),
        UNEVENNESS.name: with_adjusted(uneven, OF_UNEVENNESS),
    } | _of_queries(uncertainty, categories)


def _of_queries(
    uncertainty: Mapping[str, pd.DataFrame], categories: Mapping[str, Sequence[str]]
) -> dict[str, pd.DataFrame]:
    """The tables at the level of queries."""
    families = ((QUERY_CORRELATIONS, OF_CORRELATIONS), (QUERY_REGRESSIONS, OF_REGRESSIONS))
    return {
        table.name: with_adjusted(_sorted(uncertainty[table.name], table, categories), family)
        for table, family in families
    }


def _beside(frame: pd.DataFrame, table: Table, beside: pd.DataFrame) -> pd.DataFrame:
    """The frame, in its order, with the columns of another one by the table's key."""
    key = list(table.key)
    merged = frame.merge(beside, on=key, how="left", validate="one_to_one", indicator="_side")
    lost = merged["_side"] != "both"
    if lost.any():
        raise DataError(
            f"{table.name}: {int(lost.sum())} rows have no uncertainty, first {merged.loc[lost, key].iloc[0].to_dict()}: "
            "remove the folders `uncertainty` of the results and run again"
        )
    return merged.drop(columns="_side")


def _with_an_empty_group(measures: pd.DataFrame) -> set[tuple]:
    """Topic, task, LLM and category of each cell with a group that has no query."""
    rows = measures[measures["measure"].isin(list(RANGED)) & (measures["n"] == 0)]
    return set(rows[["topic", "task", "llm", "category"]].itertuples(index=False, name=None))


def _untested(frame: pd.DataFrame, empty: set[tuple], columns: list[str], *reasons: str) -> pd.DataFrame:
    place = frame[["topic", "task", "llm", "category"]].itertuples(index=False, name=None)
    hit = pd.Series([row in empty for row in place], index=frame.index, dtype=bool)
    frame = frame.copy()
    frame.loc[hit, columns] = float("nan")
    for column in (*reasons, "interval_reason", "p_reason", "power_reason", "change_reason", "uncertainty_reason"):
        if column in frame:
            frame.loc[hit, column] = EMPTY_AS_ZERO
    return frame


def _sorted(frame: pd.DataFrame, table: Table, categories: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The rows by place, categories in the grid's order, and within one in the order in which they were made."""
    order = {name: number for number, name in enumerate(categories)}
    place = [name for name in ("topic", "task", "llm", "retriever") if name in table.key]
    keyed = frame.assign(_order=frame["category"].map(order))
    return keyed.sort_values([*place, "_order"], kind="stable", ignore_index=True).drop(columns="_order")
