"""The page's data as compact JSON, its parts put together, and the size of each kept within bounds."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from whobenefits.categories import shown_group
from whobenefits.report.inputs import Labels, Results
from whobenefits.report.points import (
    correlation_points,
    gap_points,
    group_points,
    query_correlation_points,
    query_points,
    range_points,
    unevenness_points,
)
from whobenefits.report.text import json_text, visible, visible_data

TEMPLATES = Path(__file__).parent / "templates"
# In the order in which they build on each other.
SCRIPTS = ("core", "filters", "draw", "table", "views", "uneven", "along", "hero", "heat", "record", "lookup", "main")
# Rows of a table that the page carries: with these, and the bounds of figures and queries, it stays below 20 MB.
MOST_ROWS = 6_000
CODED = (
    "topic",
    "task",
    "llm",
    "retriever",
    "category",
    "group",
    "factor",
    "outcome",
    "measure",
    "model",
    "note",
    "reason",
)


def packed(frame: pd.DataFrame) -> dict[str, Any]:
    """A table column by column, full precision, undefined numbers as None; columns of names as places in `names`."""
    columns, names = {}, {}
    for name in frame.columns:
        values = frame[name]
        if name in CODED:
            codes, known = pd.factorize(values.fillna(""), sort=False)
            columns[name], names[name] = codes.tolist(), [visible(text) for text in known.tolist()]
        else:
            columns[name] = [
                None if missing else value for missing, value in zip(values.isna(), values.tolist(), strict=True)
            ]
    return {"length": len(frame), "columns": columns, "names": names}


def page_tables(results: Results, most: int = MOST_ROWS) -> tuple[dict[str, dict], list[str]]:
    """The tables that the page's figures are drawn from, by name, and a sentence for each that is too long for it."""
    frames = {
        "groups": group_points(results),
        "ranges": range_points(results),
        "gaps": gap_points(results),
        "correlations": correlation_points(results),
        "queries": query_points(results),
        "query_correlations": query_correlation_points(results),
        "unevenness": unevenness_points(results),
    }
    cut = [
        f"Of the table of {name} the page carries the first {most:,} of {len(frame):,} rows; all are in the files of the results."
        for name, frame in frames.items()
        if len(frame) > most
    ]
    return {name: packed(frame.head(most)) for name, frame in frames.items()}, cut


def study(labels: Labels, name: str) -> dict[str, Any]:
    """What the page's script needs to know of the study: its labels, and the groups' names as people read them."""
    groups = {group for item in labels["categories"].values() for group in item["groups"]}
    shown = {group: shown_group(group) for group in sorted(groups) if shown_group(group) != group}
    return visible_data(
        {"name": name, "labels": {kind: dict(items) for kind, items in labels.items()}, "groups": shown}
    )


def script() -> str:
    """The page's script: all parts in one."""
    parts = [(TEMPLATES / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return "(() => {\n" + "\n".join(parts) + "})();\n"


def script_hash(text: str) -> str:
    """How a content security policy names an inline script that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def json_part(data: Any) -> Markup:
    """Data for a script element of the page."""
    return Markup(json_text(data))


def style() -> Markup:
    """The page's style sheet."""
    return Markup((TEMPLATES / "page.css").read_text(encoding="utf-8"))


def query_list(rows: list[list]) -> list[Mapping[str, Any]]:
    """The list of queries for the page, from rows of sample.query_rows."""
    return visible_data([dict(zip(("topic", "query", "title", "file", "values"), row, strict=True)) for row in rows])
