"""The tables as files: CSV in full precision, Markdown and LaTeX in the paper's form."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from whobenefits.report.inputs import Labels, Results
from whobenefits.report.latex import latex_tables
from whobenefits.report.tables import (
    accuracy_rows,
    accuracy_table,
    dataset_table,
    markdown,
    plain_markdown,
    range_rows,
    range_table,
    shown_dataset,
    undefined_note,
)
from whobenefits.report.text import write_csv


def write_report_tables(results: Results, summaries: Sequence[str], labels: Labels, folder: str | Path) -> None:
    """Write table2, table3 and table4 as .csv and .md, and table2 to table6 as .tex, into the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    dataset = dataset_table(summaries)
    write_csv(dataset, folder / "table2.csv")
    (folder / "table2.md").write_text(plain_markdown(*shown_dataset(dataset)), encoding="utf-8")
    measures, ranges = results.measures, results.ranges
    _write_wide(folder / "table3", accuracy_table(measures, labels), accuracy_rows(measures), best=True)
    _write_wide(folder / "table4", range_table(ranges, labels), range_rows(ranges), best=False)
    for name, text in latex_tables(results, dataset, labels).items():
        (folder / f"{name}.tex").write_text(text, encoding="utf-8")


def _write_wide(path: Path, table: pd.DataFrame, rows: pd.DataFrame, best: bool) -> None:
    flat = table.set_axis([f"{topic} {column}" for topic, column in table.columns], axis=1)
    write_csv(flat.reset_index(), path.with_suffix(".csv"))
    note = f"\nROUGE-L x 100; N: the LLM alone. {undefined_note(table, rows)}".rstrip() + "\n"
    path.with_suffix(".md").write_text(markdown(table, best) + note, encoding="utf-8")
