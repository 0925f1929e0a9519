"""Tables 2 to 4 of the query-group study, and their Markdown in the paper's form."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import pandas as pd

Labels = Mapping[str, Mapping]
UNDEFINED = "–"
HEADS = {"tasks": "Task", "categories": "Category", "llms": "LLM"}


def dataset_table(summaries: Sequence[str | Path]) -> pd.DataFrame:
    """Table 2: one row for each topic, from the topics' dataset.csv files."""
    return pd.concat([pd.read_csv(path) for path in summaries], ignore_index=True)


def accuracy_table(measures: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Table 3: average ROUGE-L x 100 over all queries; columns are (topic, N or retriever), N the LLM alone."""
    overall = accuracy_rows(measures)
    values = (overall.set_index(["task", "llm", "topic", "retriever"])["value"] * 100).to_dict()
    return _wide(("tasks", "llms"), labels, values)


def accuracy_rows(measures: pd.DataFrame) -> pd.DataFrame:
    """The rows of the measures that Table 3 shows."""
    return measures[(measures["category"] == "all") & measures["measure"].isin(["ac_llm", "ac_rag"])]


def range_table(ranges: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Table 4: R^llm in the columns N, R^rag in those of the retrievers, in ROUGE-L points."""
    values = range_rows(ranges).set_index(["task", "category", "llm", "topic", "retriever"])["value"].to_dict()
    return _wide(("tasks", "categories", "llms"), labels, values)


def range_rows(ranges: pd.DataFrame) -> pd.DataFrame:
    """The rows of the ranges that Table 4 shows."""
    return ranges[ranges["measure"].isin(["r_llm", "r_rag"])]


def _wide(kinds: Sequence[str], labels: Labels, values: Mapping[tuple[str, ...], float]) -> pd.DataFrame:
    """Values by (one name of each kind, topic, retriever) as a table with a row for each combination of the kinds."""
    columns = [(topic, retriever) for topic in labels["topics"] for retriever in ("none", *labels["retrievers"])]
    shown = pd.MultiIndex.from_tuples(
        [(labels["topics"][t], "N" if r == "none" else labels["retrievers"][r]) for t, r in columns]
    )
    rows = list(product(*(labels[kind] for kind in kinds)))
    data = [[values.get((*row, *column)) for column in columns] for row in rows]
    named = [tuple(_label(labels, kind, name) for kind, name in zip(kinds, row, strict=True)) for row in rows]
    index = pd.MultiIndex.from_tuples(named, names=[HEADS[kind] for kind in kinds])
    return pd.DataFrame(data, index, shown, dtype=float)


def _label(labels: Labels, kind: str, name: str) -> str:
    item = labels[kind][name]
    return item["short"] if kind == "categories" else item


def shown_number(value: float, digits: int = 1) -> str:
    """A number as the tables show it."""
    return UNDEFINED if value is None or math.isnan(value) else f"{value:.{digits}f}"


def markdown(table: pd.DataFrame, best: bool = False) -> str:
    """A wide table as Markdown; `best` sets the largest value of each task and topic in bold, as the paper does."""
    cells = table.map(shown_number)
    if best:
        cells = _bold(table, cells)
    heads = [*table.index.names, *(f"{topic} {name}" for topic, name in table.columns)]
    rows = [[*index, *values] for index, values in zip(table.index, cells.to_numpy().tolist(), strict=True)]
    return "\n".join(_line(row) for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def _bold(table: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    cells = cells.copy()
    for task in table.index.unique(0):
        for topic in table.columns.unique(0):
            block = table.loc[[task], [topic]]
            largest = block.max(axis=None)
            for row, column in [(r, c) for r in block.index for c in block.columns if block.loc[r, c] == largest]:
                cells.loc[row, column] = f"**{cells.loc[row, column]}**"
    return cells


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def plain_markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A flat table as Markdown."""
    return "\n".join(_line(row) for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def shown_dataset(dataset: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Table 2 as people read it: the topic's label in place of its name, means to one decimal, counts grouped by 3."""
    kept = dataset.drop(columns="topic")
    heads = ["Topic" if name == "label" else name.replace("_", " ").capitalize() for name in kept.columns]
    return heads, [[_shown(value) for value in row] for row in kept.astype(object).to_numpy().tolist()]


def _shown(value: object) -> str:
    if isinstance(value, float):
        return shown_number(value)
    return value if isinstance(value, str) else f"{value:,}"


def undefined_note(table: pd.DataFrame, rows: pd.DataFrame) -> str:
    """What the dashes of a table stand for, with the reasons from the rows it was made of; "" without a dash."""
    if not table.isna().any(axis=None):
        return ""
    reasons = sorted(set(rows.loc[rows["value"].isna(), "reason"])) or ["not among the results"]
    return f"{UNDEFINED}: undefined ({'; '.join(reasons)})."
