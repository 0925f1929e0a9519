"""The result tables that the report is made from, whichever of their columns of uncertainty are there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

Labels = Mapping[str, Mapping]
NOT_COMPUTED = "not computed in this run"
NUMBERS = {
    "measures": ("low", "high"),
    "ranges": (
        *("low", "high", "expected", "p", "p_holm", "p_bh", "detectable"),
        *("change_low", "change_high", "change_p", "change_p_holm"),
    ),
    "correlations": ("low", "high", "p", "p_holm", "p_bh", "smallest_p"),
    "unevenness": ("expected", "p", "p_holm", "p_bh"),
    "query_correlations": ("low", "high", "p", "p_holm", "p_bh"),
    "query_regressions": ("low", "high", "p", "p_holm", "p_bh"),
}
REASONS = {
    "measures": ("interval_reason",),
    "ranges": ("interval_reason", "p_reason", "power_reason", "change_reason"),
    "correlations": ("uncertainty_reason",),
}
KEYS = {
    "unevenness": ["topic", "task", "retriever", "llm", "category", "measure", "statistic", "value", "group"],
    "query_correlations": ["topic", "task", "retriever", "llm", "category", "group", "factor", "outcome", "value", "n"],
    "query_regressions": ["topic", "task", "llm", "category", "factor", "outcome", "model", "value", "n", "n_queries"],
}


@dataclass(frozen=True)
class Results:
    """The result tables; those of uncertainty may be empty, and columns that a run did not compute are NaN."""

    measures: pd.DataFrame
    ranges: pd.DataFrame
    correlations: pd.DataFrame
    unevenness: pd.DataFrame = field(default_factory=pd.DataFrame)
    query_correlations: pd.DataFrame = field(default_factory=pd.DataFrame)
    query_regressions: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __post_init__(self) -> None:
        """Give every table all columns that the report reads."""
        for name in NUMBERS:
            object.__setattr__(self, name, completed(getattr(self, name), name))


def completed(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table with every column that the report reads: NaN, with the reason, where the run did not compute it."""
    frame = frame if len(frame.columns) else pd.DataFrame(columns=[*KEYS[name], "reason"])
    missing = [column for column in NUMBERS[name] if column not in frame]
    reasons = [column for column in REASONS.get(name, ()) if column not in frame]
    return frame.assign(**dict.fromkeys(missing, float("nan")), **dict.fromkeys(reasons, NOT_COMPUTED))


def read_results(paths: Mapping[str, str | Path]) -> Results:
    """The result tables at the paths, by name; "measures", "ranges" and "correlations" must be among them.

    Read as they are: the workflow has checked them against their schemas, and a folder of an older run may lack columns.
    """
    return Results(**{name: _read(path) for name, path in paths.items() if name in NUMBERS})


def _read(path: str | Path) -> pd.DataFrame:
    return pq.read_table(path).to_pandas()


def folder_paths(folder: str | Path, names: Sequence[str] = tuple(NUMBERS)) -> dict[str, Path]:
    """The result tables that a results folder holds, by name."""
    paths = {name: Path(folder) / f"{name}.parquet" for name in names}
    return {name: path for name, path in paths.items() if path.is_file()}
