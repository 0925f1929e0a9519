"""The report as one self-contained page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from whobenefits.report import provenance
from whobenefits.report.environment import ENVIRONMENT
from whobenefits.report.figure_parts import figure_parts
from whobenefits.report.finding import MAIN, finding
from whobenefits.report.inputs import Labels, Results
from whobenefits.report.lists import asset_rows, run_rows, setting_rows, shown_categories, wide_cells
from whobenefits.report.methods import methods
from whobenefits.report.packed import json_part, page_tables, query_list, script, script_hash, study, style
from whobenefits.report.sample import carried, listed
from whobenefits.report.tables import (
    UNDEFINED,
    accuracy_rows,
    accuracy_table,
    dataset_table,
    range_rows,
    range_table,
    shown_dataset,
)
from whobenefits.report.text import visible_data

SECTIONS = {
    "alike": "1a. All groups alike?",
    "even": "1b. Even?",
    "wider": "2. A wider gap?",
    "along": "3. What goes along?",
    "published": "Published numbers",
    "queries-view": "Any query",
    "paper": "The paper's form",
    "methods": "Methods",
    "provenance": "Where it comes from",
    "limits": "Limits",
}


@dataclass(frozen=True)
class Parts:
    """What the page is put together from, beside the result tables.

    `summaries` are the topics' dataset.csv files, `figures` the SVG files by name, `queries` the folder of the queries'
    records with its list.json, `record` the provenance, `bibtex` the entries to cite, and `published` this run beside
    published numbers (published.shown), if it has their cells.
    """

    summaries: Sequence[str]
    figures: Mapping[str, str | Path]
    queries: str | Path
    record: Mapping[str, Any]
    bibtex: str
    published: Mapping[str, Any] | None = field(default=None)


def page(results: Results, parts: Parts, labels: Labels, about: Mapping) -> str:
    """The page as HTML: no request to any host, all text escaped; queries that it does not carry lie beside it."""
    dataset = dataset_table(parts.summaries)
    everything = json.loads(Path(parts.queries, "list.json").read_text(encoding="utf-8"))
    rows = listed(everything)
    scripts = carried(parts.queries, [row[3] for row in rows])
    tables, cut = page_tables(results)
    return ENVIRONMENT.get_template("report.html").render(
        about=visible_data(about),
        labels=visible_data({**labels, "categories": shown_categories(labels)}),
        undefined=UNDEFINED,
        run=run_rows(about, labels, dataset, results.measures),
        finding=visible_data(finding(results, labels, about)),
        main=MAIN,
        cut=cut,
        sections=[(name, title) for name, title in SECTIONS.items() if name != "published" or parts.published],
        figures=figure_parts(parts.figures),
        dataset=visible_data(shown_dataset(dataset)),
        accuracy=visible_data(wide_cells(accuracy_table(results.measures, labels), accuracy_rows(results.measures))),
        range_table=visible_data(wide_cells(range_table(results.ranges, labels), range_rows(results.ranges))),
        published=parts.published,
        methods=visible_data(methods(about, labels, dataset.to_dict("records"))),
        bibtex=parts.bibtex,
        provenance=visible_data(provenance.shown(parts.record, labels)),
        settings=visible_data(setting_rows(about)),
        assets=visible_data(asset_rows(about, parts.record["files"])),
        carried=len(scripts),
        total=len(everything),
        listed=len(rows),
        **_data_parts(tables, rows, scripts, labels, about["name"]),
    )


def _data_parts(tables: Mapping, rows: list, scripts: Sequence[str], labels: Labels, name: str) -> dict[str, Any]:
    """Data and code of the interactive part."""
    text = script()
    return {
        "css": style(),
        "script": Markup(text),
        "script_hash": script_hash(text),
        "study_json": json_part(study(labels, name)),
        "tables_json": json_part(tables),
        "list_json": json_part(query_list(rows)),
        # The records are JSON already, in which nothing can end the element.
        "queries_json": Markup("[" + ",".join(map(_record, scripts)) + "]"),
    }


def _record(text: str) -> str:
    """The record that a query's script hands over, as JSON."""
    return text[text.index("(") + 1 : text.rindex(")")]


def write_page(
    results: Results, parts: Parts, labels: Labels, about: Mapping, page_path: str, finding_path: str
) -> None:
    """Write the page and, as plain text, its finding."""
    Path(page_path).write_text(page(results, parts, labels, about), encoding="utf-8")
    Path(finding_path).write_text("\n".join(finding(results, labels, about)) + "\n", encoding="utf-8")
