"""All uncertainty of one topic, task and LLM."""

from collections import ChainMap
from collections.abc import Mapping, Sequence

import pandas as pd

from whobenefits.measures.groups import ALL
from whobenefits.uncertainty.arrays import QueryArrays, query_arrays
from whobenefits.uncertainty.bootstrap import resamples
from whobenefits.uncertainty.correlation_bootstrap import correlation_tests
from whobenefits.uncertainty.intervals import measure_intervals
from whobenefits.uncertainty.permutation import range_tests
from whobenefits.uncertainty.power import detectable_ranges
from whobenefits.uncertainty.query_level import query_correlations, query_regressions
from whobenefits.uncertainty.range_changes import range_changes
from whobenefits.uncertainty.ranges import range_intervals
from whobenefits.uncertainty.schemas import (
    CORRELATION_TESTS,
    INTERVALS,
    QUERY_CORRELATIONS,
    QUERY_REGRESSIONS,
    RANGE_TESTS,
    UNEVENNESS,
)
from whobenefits.uncertainty.seeds import generator
from whobenefits.uncertainty.unevenness import crossed_groups, unevenness

TABLES = {
    table.name: table
    for table in (INTERVALS, RANGE_TESTS, CORRELATION_TESTS, UNEVENNESS, QUERY_CORRELATIONS, QUERY_REGRESSIONS)
}


def cell_uncertainty(
    outcomes: pd.DataFrame,
    factors: pd.DataFrame,
    groups: pd.DataFrame,
    categories: Mapping[str, Sequence[str]],
    draws: int,
    seed: int,
    crossed: Sequence[tuple[str, str]] = (),
    min_queries: int = 1,
) -> dict[str, pd.DataFrame]:
    """The tables of uncertainty of one topic, task and LLM, by name (see `TABLES`).

    Of each pair of categories in `crossed` there is unevenness alone, between the crossed groups with at least
    `min_queries` queries. `draws` is the number of resamples and of shuffles (at least 1,000 for 95 % intervals of ranges, better 10,000). What
    is drawn depends on the seed, the topic, task, LLM and category only, not on the order of rows or of categories.
    """
    rows: dict[str, list[dict]] = {name: [] for name in TABLES}
    for category, names in ({ALL: [ALL]} | dict(categories)).items():
        arrays = query_arrays(outcomes, factors, groups, category, names)
        for name, found in category_uncertainty(arrays, draws, seed).items():
            rows[name] += [arrays.place | row for row in found]
    ids = sorted(set(outcomes["query_id"]))
    for first, second in crossed:
        table, names = crossed_groups(groups, first, second, ids, min_queries)
        arrays = query_arrays(outcomes, factors, table, f"{first}+{second}", names)
        rows[UNEVENNESS.name] += [arrays.place | row for row in _unevenness(arrays, draws, seed)]
    return {name: pd.DataFrame(rows[name], columns=list(table.columns)) for name, table in TABLES.items()}


def category_uncertainty(arrays: QueryArrays, draws: int, seed: int) -> dict[str, list[dict]]:
    """The rows of each table for one category; of the category "all" there are only intervals."""
    identity = _identity(arrays)
    drawn = resamples(arrays, draws, generator(seed, "bootstrap", *identity))
    found = {INTERVALS.name: measure_intervals(arrays, drawn)}
    if arrays.place["category"] == ALL:
        return found
    rng = generator(seed, "permutation", *identity)
    parts = (
        range_intervals(arrays, drawn),
        range_tests(arrays, draws, rng),
        detectable_ranges(arrays, seed),
        range_changes(arrays, drawn, draws, generator(seed, "swap", *identity)),
    )
    return found | {
        RANGE_TESTS.name: [dict(ChainMap(*rows)) for rows in zip(*parts, strict=True)],
        CORRELATION_TESTS.name: correlation_tests(arrays, drawn, draws, rng),
        UNEVENNESS.name: _unevenness(arrays, draws, seed),
        QUERY_CORRELATIONS.name: query_correlations(arrays),
        QUERY_REGRESSIONS.name: query_regressions(arrays),
    }


def _unevenness(arrays: QueryArrays, draws: int, seed: int) -> list[dict]:
    """Tested by the shuffles of the ranges' own tests: the difference between groups is the range, and has its p."""
    return unevenness(arrays, draws, generator(seed, "permutation", *_identity(arrays)))


def _identity(arrays: QueryArrays) -> list[str]:
    return [arrays.place[name] for name in ("topic", "task", "llm", "category")]
