"""Compare two runs or two protocols: `python -m whobenefits.report.compare FIRST SECOND OUT`, the first two results folders.

Writes OUT/index.html and OUT/comparison.csv.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from whobenefits.categories import shown_group
from whobenefits.errors import DataError, UserError
from whobenefits.report.comparison import BEYOND, ONE_SIDED, comparison, sentences, summary
from whobenefits.report.environment import ENVIRONMENT
from whobenefits.report.inputs import Results, folder_paths, read_results
from whobenefits.report.lists import setting_rows, shown_value
from whobenefits.report.packed import style
from whobenefits.report.published import what
from whobenefits.report.text import visible_data, write_csv

NEEDED = ("measures", "ranges", "correlations")
# Rows that the page shows: the largest moves come first, and all are in the CSV file.
MOST = 400


def read_run(folder: str | Path) -> tuple[Results, dict[str, Any]]:
    """The result tables of a results folder and its provenance ({} without one)."""
    paths = folder_paths(folder)
    missing = [name for name in NEEDED if name not in paths]
    if missing:
        raise DataError(f"{folder}: has no {missing[0]}.parquet: give the results folder of a run that is done")
    record = Path(folder, "report/provenance.json")
    return read_results(paths), json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}


def changed_settings(a: Mapping, b: Mapping) -> list[list[str]]:
    """Settings in which two provenances differ: the key, the value of the first and that of the second."""
    first, second = (dict(setting_rows(record.get("settings", {}))) for record in (a, b))
    keys = [*first, *(key for key in second if key not in first)]
    return [[key, first.get(key, "–"), second.get(key, "–")] for key in keys if first.get(key) != second.get(key)]


def page(
    rows: pd.DataFrame, only: dict[str, int], names: tuple[str, str], settings: list[list[str]], labels: Mapping
) -> str:
    """The comparison as one self-contained page, text escaped."""
    order = rows.assign(_beyond=rows["standing"].isin([BEYOND, ONE_SIDED]), _size=rows["change"].abs())
    largest = order.sort_values(["_beyond", "_size"], ascending=False, kind="stable").dropna(subset="change")
    shown = [
        cell
        for kind in ("range", "accuracy", "correlation")
        for cell in _cells(largest[largest["kind"] == kind], labels)
    ]
    return ENVIRONMENT.get_template("compare.html").render(
        css=style(),
        names=visible_data(list(names)),
        sentences=visible_data(sentences(rows, only)),
        summary=[_summary(row) for row in summary(rows).itertuples()],
        settings=visible_data(settings),
        cells=visible_data(shown),
        total=len(rows),
    )


def _cells(rows: pd.DataFrame, labels: Mapping) -> list[list[str]]:
    return [_cell(row, labels) for row in rows.head(MOST).itertuples()]


def _cell(row: Any, labels: Mapping) -> list[str]:
    digits = 2 if row.kind == "correlation" else 1
    named = [
        _name(labels, kind, getattr(row, column))
        for kind, column in (("topics", "topic"), ("tasks", "task"), ("llms", "llm"), ("retrievers", "retriever"))
    ]
    category = _name(labels, "categories", row.category) + (
        f": {shown_group(row.group)}" if row.group not in ("", "all") else ""
    )
    values = [_with_ends(row.a, row.a_low, row.a_high, digits), _with_ends(row.b, row.b_low, row.b_high, digits)]
    return [*named, category, what(row.what), *values, f"{row.change:+.{digits}f}", row.standing]


def _name(labels: Mapping, kind: str, name: str) -> str:
    item = labels.get(kind, {}).get(name, name)
    return item["label"] if isinstance(item, Mapping) else item


def _with_ends(value: float, low: float, high: float, digits: int) -> str:
    ends = "" if pd.isna(low) or pd.isna(high) else f" [{low:.{digits}f}, {high:.{digits}f}]"
    return shown_value(value, digits) + ends


def _summary(row: Any) -> list[str]:
    digits = 2 if row.kind == "correlation" else 1
    return [what(row.what), str(row.numbers), str(row.defined), shown_value(row.median, digits), shown_value(row.largest, digits), f"{row.beyond} of {row.with_interval}"]  # fmt: skip


def write_comparison(first: str | Path, second: str | Path, out: str | Path) -> None:
    """Compare two results folders; raises DataError where one is none, and where they have no number in common."""
    (a, a_record), (b, b_record) = read_run(first), read_run(second)
    rows, only = comparison(a, b)
    if rows.empty:
        raise DataError(
            f"{first} and {second}: have no topic, task, retriever, LLM and category in common: name them alike"
        )
    labels = {
        kind: {**a_record.get("labels", {}).get(kind, {}), **b_record.get("labels", {}).get(kind, {})}
        for kind in ("topics", "tasks", "llms", "retrievers", "categories")
    }
    Path(out).mkdir(parents=True, exist_ok=True)
    write_csv(rows, Path(out, "comparison.csv"))
    text = page(rows, only, (str(first), str(second)), changed_settings(a_record, b_record), labels)
    Path(out, "index.html").write_text(text, encoding="utf-8")
    print("\n".join(sentences(rows, only)))
    print(f"The page: {Path(out, 'index.html')}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("two results folders and a folder to write to: make compare A=results B=other")
    try:
        write_comparison(*sys.argv[1:])
    except UserError as error:
        sys.exit(f"error: {error}")
