"""Which documents become queries: one for each filled cell, or a smaller even cover of the groups."""

import hashlib
from collections.abc import Sequence

import numpy as np
import pandas as pd

SEPARATOR = " | "
# How many first cells the search for an even cover starts from.
STARTS = 32


def document_cells(groups: pd.DataFrame, cells: Sequence[str]) -> pd.Series:
    """The cell of each document, its groups in the categories of `cells` joined by " | ", indexed by doc_id, sorted.

    `groups` has doc_id, category, group. Documents without a group in one of the categories are left out.
    """
    chosen = groups[groups["category"].isin(list(cells))]
    wide = chosen.pivot(index="doc_id", columns="category", values="group")
    wide = wide.reindex(columns=list(cells)).dropna().sort_index()
    return pd.Series([SEPARATOR.join(row) for row in wide.to_numpy()], index=wide.index, dtype="str")


def draw_queries(groups: pd.DataFrame, cells: list[str], seed: int, max_queries: int | None) -> pd.DataFrame:
    """The drawn documents (query_id, cell), sorted by cell: one for each filled cell of the categories in `cells`.

    In each cell the document whose SHA-256 of seed and doc_id is the smallest is drawn, so that the order of the
    documents changes nothing, another document changes at most its own cell's draw, and a coarser set of categories
    draws from among the same documents. With fewer `max_queries` than filled cells an even cover of the groups is
    chosen, see even_cells; None draws all.
    """
    by_document = document_cells(groups, cells)
    drawn = by_document.reset_index(name="cell")
    drawn["draw"] = [_digest(seed, doc_id) for doc_id in drawn["doc_id"]]
    drawn = drawn.sort_values(["cell", "draw", "doc_id"]).drop_duplicates("cell").set_index("cell")
    if max_queries is not None and max_queries < len(drawn):
        drawn = drawn.loc[even_cells(list(drawn.index), seed, max_queries)]
    return drawn.reset_index().rename(columns={"doc_id": "query_id"})[["query_id", "cell"]]


def _digest(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest()


def even_cells(cells: Sequence[str], seed: int, size: int) -> list[str]:
    """So many of the cells, sorted, that each category's groups get numbers of cells as even as this search finds.

    The cost of a choice is the number of groups without a cell, then the sum over all groups of their squared number of
    cells: for a category with a given number of groups this is the smaller the more even they are. From a first cell
    on, cells are added one by one, each time the cheapest, then exchanged for others as long as an exchange lowers the
    cost. This starts from each of several first cells, and the cheapest end is taken. Of equally good ones the cell
    with the smallest SHA-256 of seed and cell goes first. The optimum itself is not guaranteed: it is a hard covering
    problem.
    """
    ordered = sorted(cells, key=lambda cell: (_digest(seed, cell), cell))
    members = _members(ordered)
    ends = [_choice(members, first, size) for first in range(min(STARTS, len(ordered)))]
    best = min(ends, key=lambda chosen: _cost(members, chosen), default=[])
    return sorted(cell for cell, taken in zip(ordered, best, strict=True) if taken)


def _choice(members: np.ndarray, first: int, size: int) -> np.ndarray:
    """Which cells are chosen when the search starts from the first one; shape (cells,)."""
    chosen = np.zeros(len(members), dtype=bool)
    chosen[first] = True
    for _ in range(min(size, len(members)) - 1):
        chosen[_cheapest(members, chosen)] = True
    while (swap := _best_swap(members, chosen)) is not None:
        chosen[list(swap)] = ~chosen[list(swap)]
    return chosen


def _cost(members: np.ndarray, chosen: np.ndarray) -> tuple[int, int]:
    counts = members[chosen].sum(axis=0)
    return int((counts == 0).sum()), int((counts**2).sum())


def _members(cells: Sequence[str]) -> np.ndarray:
    """Which groups a cell is in, as 0 and 1, shape (cells, groups of all categories)."""
    pairs = [[(place, group) for place, group in enumerate(cell.split(SEPARATOR))] for cell in cells]
    columns = {pair: i for i, pair in enumerate(sorted({pair for cell in pairs for pair in cell}))}
    members = np.zeros((len(cells), len(columns)), dtype=np.int64)
    for row, cell in enumerate(pairs):
        members[row, [columns[pair] for pair in cell]] = 1
    return members


def _steps(members: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much the cost rises with one more cell of each group, and how much with one fewer; shape (groups,)."""
    counts = members[chosen].sum(axis=0)
    # More than all squares together, so that no evenness outweighs a group without a cell.
    empty = members.size * len(members) + 1
    return 2 * counts + 1 - empty * (counts == 0), 1 - 2 * counts + empty * (counts == 1)


def _cheapest(members: np.ndarray, chosen: np.ndarray) -> int:
    more, _ = _steps(members, chosen)
    return int(np.ma.masked_array(members @ more, chosen).argmin())


def _best_swap(members: np.ndarray, chosen: np.ndarray) -> tuple[int, int] | None:
    """The exchange (a chosen cell, another one) that lowers the cost most, or None where none does."""
    more, fewer = _steps(members, chosen)
    inside, outside = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    if not (len(inside) and len(outside)):
        return None
    # A group that both cells are in stays as it is: what its two steps would cost is taken back.
    shared = (members[inside] * (more + fewer)) @ members[outside].T
    change = (members[inside] @ fewer)[:, None] + members[outside] @ more - shared
    best = np.unravel_index(change.argmin(), change.shape)
    return (int(inside[best[0]]), int(outside[best[1]])) if change[best] < 0 else None
