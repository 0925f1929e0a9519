"""Tables 2 to 4 of the query-group study, as CSV in full precision and as Markdown in the paper's form."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

Labels = Mapping[str, Mapping]
UNDEFINED = "–"


def dataset_table(summaries: Sequence[str | Path]) -> pd.DataFrame:
    """Table 2: one row for each topic, from the topics' dataset.csv files."""
    return pd.concat([pd.read_csv(path) for path in summaries], ignore_index=True)


def accuracy_table(measures: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Table 3: average ROUGE-L x 100 over all queries; columns are (topic, N or retriever), N the LLM alone."""
    overall = measures[(measures["category"] == "all") & measures["measure"].isin(["ac_llm", "ac_rag"])]
    keys = ["task", "llm", "topic", "retriever"]
    values = (overall.set_index(keys)["value"] * 100).to_dict()
    rows = [(task, llm) for task in labels["tasks"] for llm in labels["llms"]]
    return _wide(rows, labels, lambda row, topic, retriever: values.get((*row, topic, retriever)), ["Task", "LLM"])


def range_table(ranges: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Table 4: R^llm in the columns N, R^rag in those of the retrievers, in ROUGE-L points."""
    kept = ranges[ranges["measure"].isin(["r_llm", "r_rag"])]
    values = kept.set_index(["task", "category", "llm", "topic", "retriever"])["value"].to_dict()
    rows = [(task, cat, llm) for task in labels["tasks"] for cat in labels["categories"] for llm in labels["llms"]]
    names = ["Task", "Category", "LLM"]
    return _wide(rows, labels, lambda row, topic, retriever: values.get((*row, topic, retriever)), names)


def _wide(rows: list[tuple[str, ...]], labels: Labels, value, names: list[str]) -> pd.DataFrame:
    columns = [(topic, retriever) for topic in labels["topics"] for retriever in ("none", *labels["retrievers"])]
    shown = pd.MultiIndex.from_tuples(
        [(labels["topics"][t], "N" if r == "none" else labels["retrievers"][r]) for t, r in columns]
    )
    data = [[value(row, *column) for column in columns] for row in rows]
    index = pd.MultiIndex.from_tuples([tuple(_label(labels, key) for key in row) for row in rows], names=names)
    return pd.DataFrame(data, index, shown, dtype=float)


def _label(labels: Labels, key: str) -> str:
    for kind in ("tasks", "llms"):
        if key in labels[kind]:
            return labels[kind][key]
    return labels["categories"][key]["short"]


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


def plain_markdown(table: pd.DataFrame) -> str:
    """A flat table as Markdown, its numbers as they are."""
    rows = [list(table.columns), ["---"] * table.shape[1], *table.astype(str).to_numpy().tolist()]
    return "\n".join(_line(row) for row in rows) + "\n"


def write_report_tables(
    measures: pd.DataFrame, ranges: pd.DataFrame, summaries: Sequence[str], labels: Labels, folder: str | Path
) -> None:
    """Write table2, table3 and table4 into the folder, each as .csv and .md."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    second = dataset_table(summaries)
    second.to_csv(folder / "table2.csv", index=False)
    (folder / "table2.md").write_text(plain_markdown(second), encoding="utf-8")
    for name, table in (("table3", accuracy_table(measures, labels)), ("table4", range_table(ranges, labels))):
        flat = table.set_axis([f"{topic} {column}" for topic, column in table.columns], axis=1)
        flat.reset_index().to_csv(folder / f"{name}.csv", index=False, na_rep="NaN")
        (folder / f"{name}.md").write_text(markdown(table, best=name == "table3") + _note(table), encoding="utf-8")


def _note(table: pd.DataFrame) -> str:
    note = "\nROUGE-L x 100; N: the LLM alone."
    if table.isna().any(axis=None):
        note += f" {UNDEFINED}: undefined, the reason stands in measures.csv or ranges.csv."
    return note + "\n"
