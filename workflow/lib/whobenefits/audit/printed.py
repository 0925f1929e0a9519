"""A printed table against the results, cell by cell, under every reading of its category names and its columns."""

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations

import numpy as np
import pandas as pd

from whobenefits.audit.inputs import Fields

ROW = ["topic", "task", "llm", "category"]
AS_PRINTED = "as printed"
ALL = "all"
# More names than this have too many orders: then each order that swaps two names is tried.
FEW = 5


def orders(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Orders of the names, theirs first: all of up to five names, of more those in which at most two are swapped."""
    if len(names) <= FEW:
        return list(permutations(names))
    swapped = [tuple(names)]
    for i, j in combinations(range(len(names)), 2):
        order = list(names)
        order[i], order[j] = order[j], order[i]
        swapped.append(tuple(order))
    return swapped


def fits(stored: np.ndarray, printed: np.ndarray, decimals: int) -> np.ndarray:
    """Whether a number in full precision can be printed so: it differs by at most half a unit of the last decimal.

    Both ways of rounding a tie are accepted. False where either is NaN.
    """
    return np.abs(stored - printed) <= 0.5 * 10.0**-decimals + 1e-9


class Grid:
    """A printed table as arrays: rows x positions of numbers and of headers, beside the results."""

    def __init__(self, printed: pd.DataFrame, values: Mapping[tuple, float], fields: Fields):
        """`printed` as in Inputs; `values` in points by (topic, task, llm, field, column), the field "" for Table 3."""
        self.decimals = int(printed["decimals"].iloc[0])
        self.rows = list(printed[ROW].drop_duplicates().itertuples(index=False, name=None))
        self.columns = list(dict.fromkeys(printed.sort_values("position", kind="stable")["column"]))
        self.names = list(dict.fromkeys(printed["category"]))
        self._values, self._field = values, {item["short"]: name for name, item in fields.items()} | {"": ""}
        shape = len(self.rows), len(self.columns)
        self.numbers, self.heads = np.full(shape, np.nan), np.full(shape, -1)
        places = {row: i for i, row in enumerate(self.rows)}
        for cell in printed.itertuples():
            at = places[cell.topic, cell.task, cell.llm, cell.category], cell.position - 1
            self.numbers[at], self.heads[at] = cell.value, self.columns.index(cell.column)

    def fields(self, labels: Sequence[str]) -> dict[str, str]:
        """The field that each printed name stands for when the names are read as `labels`, in the order of `names`."""
        return {name: self._field[label] for name, label in zip(self.names, labels, strict=True)}

    def stored(self, labels: Sequence[str]) -> np.ndarray:
        """The results, rows x columns in the order of `columns`, when the names are read as `labels`."""
        field = self.fields(labels)
        rows = [
            [self._values.get((topic, task, llm, field[name], column), np.nan) for column in self.columns]
            for topic, task, llm, name in self.rows
        ]
        return np.array(rows, dtype=float)

    def heads_of(self, columns: Sequence[str] | str) -> np.ndarray:
        """Rows x positions: which of `columns` stands there, as its index; -1 where nothing is printed."""
        if isinstance(columns, str):
            return self.heads
        order = np.array([self.columns.index(name) for name in columns])
        return np.where(np.isnan(self.numbers), -1, order[None, :])

    def read(self, labels: Sequence[str], columns: Sequence[str] | str) -> np.ndarray:
        """The result that stands behind each printed number under a reading; NaN where there is none."""
        heads = self.heads_of(columns)
        values = np.take_along_axis(self.stored(labels), np.maximum(heads, 0), axis=1)
        return np.where(heads < 0, np.nan, values)


def readings(grid: Grid) -> pd.DataFrame:
    """How many printed numbers fit under each reading, the best one first; for all topics together and for each.

    `labels` names the category that each printed name is read as, `columns` what stands at each position ("as printed":
    under its header). `n` counts printed numbers with a result, `distance` is the sum of |result - printed| in points.
    Of readings that fit as many, the one that moves fewer names and columns comes first.
    """
    topics = np.array([topic for topic, *_ in grid.rows])
    scopes = {ALL: topics == topics} | {topic: topics == topic for topic in dict.fromkeys(topics.tolist())}
    made = []
    for labels in orders(grid.names):
        stored = grid.stored(labels)
        for columns in (AS_PRINTED, *orders(grid.columns)):
            heads = grid.heads_of(columns)
            values = np.where(heads < 0, np.nan, np.take_along_axis(stored, np.maximum(heads, 0), axis=1))
            moved = sum(a != b for a, b in zip(labels, grid.names, strict=True)), int((heads != grid.heads).sum())
            for scope, rows in scopes.items():
                made.append(_reading(grid, scope, labels, columns, values[rows], grid.numbers[rows]) | {"moved": moved})
    table = pd.DataFrame(made)
    table["_scope"] = table["scope"].map(list(scopes).index)
    table["_worse"] = -table["n_fit"]
    return (
        table.sort_values(["_scope", "_worse", "moved"], kind="stable")
        .drop(columns=["_scope", "_worse"])
        .reset_index(drop=True)
    )


def _reading(
    grid: Grid, scope: str, labels: Sequence[str], columns: Sequence[str] | str, values: np.ndarray, printed: np.ndarray
) -> dict:
    compared = ~np.isnan(values) & ~np.isnan(printed)
    return {
        "scope": scope,
        "labels": tuple(labels),
        "columns": columns,
        "n_fit": int(fits(values, printed, grid.decimals).sum()),
        "n": int(compared.sum()),
        "distance": float(np.abs(values - printed)[compared].sum()),
    }


def cells(grid: Grid, found: pd.DataFrame) -> pd.DataFrame:
    """Each printed number beside the result under its header and under the best reading, and whether these fit.

    `fits_somewhere`: it fits under at least one reading; else no reading explains it.
    """
    best = found[found["scope"] == ALL].iloc[0]
    plain, fitted = grid.read(grid.names, AS_PRINTED), grid.read(best["labels"], best["columns"])
    somewhere = _somewhere(grid)
    heads, field = grid.heads_of(best["columns"]), grid.fields(best["labels"])
    made = []
    for i, row in enumerate(grid.rows):
        for j in np.flatnonzero(~np.isnan(grid.numbers[i])):
            names = dict(zip(ROW, row, strict=True)) | {
                "position": int(j) + 1,
                "header": grid.columns[grid.heads[i, j]],
            }
            read_as = {"read_as_field": field[row[3]], "read_as_column": grid.columns[heads[i, j]]}
            values = {
                "printed": grid.numbers[i, j],
                "decimals": grid.decimals,
                "under_header": plain[i, j],
                "under_best": fitted[i, j],
            }
            made.append(names | read_as | values | {"fits_somewhere": bool(somewhere[i, j])})
    table = pd.DataFrame(made)
    for name, column in (("fits_header", "under_header"), ("fits_best", "under_best")):
        table[name] = fits(table[column].to_numpy(), table["printed"].to_numpy(), grid.decimals)
    return table


def _somewhere(grid: Grid) -> np.ndarray:
    """Rows x positions: whether any reading of the names and columns puts a fitting result there."""
    reached = np.zeros(grid.numbers.shape, dtype=bool)
    for labels in orders(grid.names):
        stored = grid.stored(labels)
        reached |= fits(stored[:, None, :], grid.numbers[:, :, None], grid.decimals).any(axis=2)
    return reached
