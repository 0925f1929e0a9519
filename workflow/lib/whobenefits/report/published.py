"""A run beside the published numbers of the query-group study, where it has their cells."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from whobenefits.audit.files import known_fields
from whobenefits.audit.inputs import read_inputs
from whobenefits.audit.recomputed import correlations, measures_of, ranges
from whobenefits.categories import TREC_FAIR, shown_group
from whobenefits.report.comparison import comparison, summary
from whobenefits.report.inputs import Labels, Results
from whobenefits.report.lists import shown_value

# As the published files spell it.
RETRIEVERS = {"contriver": "contriever"}
WHAT = {
    "ac_llm": "AC, LLM alone", "ac_rag": "AC, RAG", "delta": "Δ", "utility": "U", "exposure": "E", "attribution": "A",
    "r_llm": "R of the LLM alone", "r_rag": "R with RAG", "r_delta": "R of the gains",
}  # fmt: skip


def published_results(folder: str | Path) -> Results:
    """The published per-group results in the form of a run, under the names that config/paper.yaml uses; no intervals."""
    inputs = read_inputs(folder, known_fields())
    slugs = {category.field: slug for slug, category in TREC_FAIR.items()}
    tables = [measures_of(inputs), ranges(inputs), correlations(inputs)]
    return Results(*(_renamed(table, slugs) for table in tables))


def _renamed(table: pd.DataFrame, slugs: Mapping[str, str]) -> pd.DataFrame:
    return table.assign(category=table["category"].replace(slugs), retriever=table["retriever"].replace(RETRIEVERS))


def shown(results: Results, labels: Labels, folder: str | Path) -> dict[str, Any] | None:
    """The comparison as the page shows it; None where no number has its like."""
    rows, _ = comparison(published_results(folder), results)
    rows = rows[rows["category"].isin(list(labels["categories"]))]
    if rows.empty:
        return None
    kept = rows[rows["kind"].isin(["accuracy", "range", "correlation"])]
    return {
        "sentence": f"{len(rows):,} numbers of this run have their like among the published per-group results of the query-group study.",
        "heads": ["What", "Numbers", "Median distance", "Largest distance", "Outside", "of"],
        "summary": [_summary_row(row) for row in summary(rows).itertuples()],
        "cell_heads": ["Topic", "Task", "LLM", "Retriever", "Category", "What", "Ours", "95 % interval", "Theirs", "Gap"],
        "cells": [_cell(row, labels) for row in kept.itertuples()],
    }  # fmt: skip


def what(name: str) -> str:
    """A number's name as people read it."""
    factor, _, outcome = name.partition(" with ")
    return f"ρ of {WHAT[factor]} with {WHAT[outcome]}" if outcome else WHAT[factor]


def _summary_row(row: Any) -> list[str]:
    digits = 2 if row.kind == "correlation" else 1
    return [what(row.what), f"{row.defined:,}", shown_value(row.median, digits), shown_value(row.largest, digits), f"{row.beyond:,}", f"{row.with_interval:,}"]  # fmt: skip


def _cell(row: Any, labels: Labels) -> list[str]:
    digits = 2 if row.kind == "correlation" else 1
    retriever = {"none": "none", "mean": "mean"}.get(row.retriever) or labels["retrievers"].get(
        row.retriever, row.retriever
    )
    category = labels["categories"][row.category]["label"] + (f": {shown_group(row.group)}" if row.group else "")
    names = [
        labels["topics"][row.topic],
        labels["tasks"][row.task],
        labels["llms"][row.llm],
        retriever,
        category,
        what(row.what),
    ]
    interval = "–" if pd.isna(row.b_low) else f"{row.b_low:.{digits}f} to {row.b_high:.{digits}f}"
    return [*names, shown_value(row.b, digits), interval, shown_value(row.a, digits), shown_value(row.change, digits)]
