"""The rows behind the report's figures and tables: one row for what a reader sees at once, in points and percent."""

from collections.abc import Sequence

import pandas as pd

from whobenefits.report.inputs import Results

CELL = ["topic", "task", "llm", "category"]
SHARES = ("utility", "exposure", "attribution")
ENDS = ["value", "low", "high"]


def group_points(results: Results) -> pd.DataFrame:
    """A row for each group of each cell and retriever: accuracy without documents (`llm_value`) and
    with them (`rag`), and `delta`.

    Each in points (x 100) with its interval as `X_low` and `X_high`, NaN where undefined; `utility`, `exposure` and
    `attribution` are the group's shares in percent. `n` counts the group's queries, and `reason` says why something is
    undefined. The category "all" has one row over all queries.
    """
    measures = results.measures
    keys = [*CELL, "group", "retriever"]
    table = _measure(measures, "ac_rag", keys).rename(columns=_named("rag"))
    alone = _measure(measures, "ac_llm", keys).drop(columns=["retriever", "n"]).rename(columns=_named("llm"))
    gain = _measure(measures, "delta", keys).drop(columns="n").rename(columns=_named("delta"))
    table = table.merge(alone, on=[*CELL, "group"], how="left").merge(gain, on=keys, how="left")
    for share in SHARES:
        part = measures[measures["measure"] == share].set_index(keys)["value"] * 100
        table[share] = part.reindex(pd.MultiIndex.from_frame(table[keys])).to_numpy()
    reasons = ["rag_reason", "llm_reason", "rag_interval_reason", "delta_interval_reason"]
    return table.assign(reason=first_text(table, reasons)).drop(
        columns=[name for name in table.columns if name.endswith("_reason")]
    )


def _measure(measures: pd.DataFrame, name: str, keys: Sequence[str]) -> pd.DataFrame:
    rows = measures[measures["measure"] == name]
    return rows[[*keys, "n", *ENDS, "reason", "interval_reason"]].assign(**{end: rows[end] * 100 for end in ENDS})


def _named(prefix: str) -> dict[str, str]:
    # The name of the LLM stands under llm.
    ends = {"value": "llm_value" if prefix == "llm" else prefix, "low": f"{prefix}_low", "high": f"{prefix}_high"}
    return ends | {"reason": f"{prefix}_reason", "interval_reason": f"{prefix}_interval_reason"}


def first_text(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """The first of the columns that holds a text, row by row; "" where none does."""
    known = frame[list(columns)].astype(object)
    return known.where(known.notna() & (known != "")).bfill(axis=1).iloc[:, 0].fillna("")


def range_points(results: Results) -> pd.DataFrame:
    """The ranges, with one `note` for whatever of a row is undefined."""
    ranges = results.ranges
    kept = [*CELL, "retriever", "measure", *ENDS, "expected", "p", "p_holm", "p_bh", "detectable"]
    kept += ["lowest", "highest", "n_groups", "n_empty", "n"]
    notes = first_text(ranges, ["reason", "interval_reason", "p_reason", "power_reason"])
    return ranges[kept].assign(note=notes).reset_index(drop=True)


PAIRED = {
    "change_low": "change_low",
    "change_high": "change_high",
    "change_p": "p_paired",
    "change_p_holm": "p_paired_holm",
}


def gap_points(results: Results) -> pd.DataFrame:
    """R^rag beside the R^llm of the same cell: the columns of a range with the suffixes _rag and _llm, and `change`.

    `change` is R^rag - R^llm in points, so that more than 0 is a wider gap with documents, with its interval, and
    `p_paired` and `p_paired_holm` are those of its paired test, by itself and corrected; `note` says why they are not
    there.
    """
    ranges = results.ranges
    kept = [*CELL, "retriever", *ENDS, "expected", "n", "n_groups", *PAIRED]
    rag = ranges[ranges["measure"] == "r_rag"]
    notes = first_text(rag, ["reason", "change_reason"])
    alone = ranges.loc[ranges["measure"] == "r_llm", [*CELL, *ENDS, "expected"]]
    both = (
        rag[kept].rename(columns=PAIRED).assign(note=notes).merge(alone, on=CELL, how="left", suffixes=("_rag", "_llm"))
    )
    return both.assign(change=both["value_rag"] - both["value_llm"])


def correlation_points(results: Results) -> pd.DataFrame:
    """The correlations over groups, with one `note` for whatever of a row is undefined."""
    table = results.correlations
    kept = [*CELL, "retriever", "factor", "outcome", *ENDS, "p", "p_holm", "p_bh", "smallest_p", "n", "n_retrievers"]
    return table[kept].assign(note=first_text(table, ["reason", "uncertainty_reason"])).reset_index(drop=True)


def query_points(results: Results) -> pd.DataFrame:
    """What goes along with what at the level of queries: the regressions' slopes, one row for each model."""
    table = results.query_regressions
    kept = ["topic", "task", "llm", "category", "factor", "outcome", "model", *ENDS, "p", "p_holm", "n", "n_queries"]
    return table[kept].assign(note=first_text(table, ["reason"])).reset_index(drop=True)


STATISTICS = (
    *("overall", "group_min", "group_max", "difference_between_groups", "difference_to_overall"),
    *("sd_between_groups", "sd_between_groups_net", "ratio_between_groups", "ratio_to_overall"),
)
TESTED = (
    *("difference_between_groups", "difference_to_overall", "sd_between_groups"),
    *("ratio_between_groups", "ratio_to_overall"),
)
TESTS = ("expected", "p", "p_holm")


def unevenness_points(results: Results) -> pd.DataFrame:
    """The statistics of unevenness side by side: a row for each cell, retriever and measure, a column for each.

    Of those that are tested also `NAME_expected`, by chance, `NAME_p` and `NAME_p_holm`.
    """
    table = results.unevenness
    keys = [*CELL, "retriever", "measure"]
    tests = [f"{name}_{test}" for name in TESTED for test in TESTS]
    if table.empty:
        return pd.DataFrame(columns=[*keys, *STATISTICS, *tests, "note"])
    wide = table.pivot(index=keys, columns="statistic", values=["value", *TESTS])
    wide.columns = [name if kind == "value" else f"{name}_{kind}" for kind, name in wide.columns]
    known = table.assign(reason=table["reason"].fillna("")).groupby(keys)["reason"].max()
    wide = wide.reindex(columns=[*STATISTICS, *tests])
    return wide.assign(note=known.reindex(wide.index)).reset_index()


def query_correlation_points(results: Results) -> pd.DataFrame:
    """Spearman's ρ over the queries of a category, and over those of each group, by retriever."""
    table = results.query_correlations
    kept = [*CELL, "retriever", "group", "factor", "outcome", *ENDS, "p", "p_holm", "n"]
    return table[kept].assign(note=first_text(table, ["reason"])).reset_index(drop=True)
