"""The report as one self-contained page."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from whobenefits.categories import shown_group
from whobenefits.report.finding import finding
from whobenefits.report.tables import (
    UNDEFINED,
    accuracy_rows,
    accuracy_table,
    dataset_table,
    range_rows,
    range_table,
    shown_dataset,
    shown_number,
    undefined_note,
)

Labels = Mapping[str, Mapping]
ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
SHOWN = {
    "ac_llm": "AC, LLM alone",
    "ac_rag": "AC, RAG",
    "delta": "Δ",
    "utility": "U",
    "exposure": "E",
    "attribution": "A",
}


@dataclass(frozen=True)
class Results:
    """What the page is made from: the result tables, the topics' dataset.csv files, and the figures' SVG by name."""

    measures: pd.DataFrame
    ranges: pd.DataFrame
    correlations: pd.DataFrame
    summaries: Sequence[str]
    figures: Mapping[str, str | Path]

    def finding(self, labels: Labels, about: Mapping) -> list[str]:
        """The main finding in sentences."""
        return finding(self.measures, self.ranges, self.correlations, labels, about)


def page(results: Results, labels: Labels, about: Mapping) -> str:
    """The page as HTML: figures inline as SVG, no reference to any other file or host, all text escaped."""
    svgs = {name: inline_svg(Path(path).read_text(encoding="utf-8"), name) for name, path in results.figures.items()}
    return ENVIRONMENT.get_template("page.html").render(
        about=about,
        labels={**labels, "categories": _shown_categories(labels)},
        undefined=UNDEFINED,
        finding=results.finding(labels, about),
        figures=svgs,
        dataset=shown_dataset(dataset_table(results.summaries)),
        accuracy=_cells(accuracy_table(results.measures, labels), accuracy_rows(results.measures)),
        range_table=_cells(range_table(results.ranges, labels), range_rows(results.ranges)),
        groups=group_rows(results.measures, labels),
        correlations=correlation_rows(results.correlations, labels),
        settings=setting_rows(about),
        assets=[asset_row(name, asset) for name, asset in about["assets"].items()],
    )


def _shown_categories(labels: Labels) -> dict[str, dict]:
    return {
        name: {**item, "shown": [shown_group(group) for group in item["groups"]]}
        for name, item in labels["categories"].items()
    }


def write_page(results: Results, labels: Labels, about: Mapping, page_path: str, finding_path: str) -> None:
    """Write the page and, as plain text, its finding."""
    Path(page_path).write_text(page(results, labels, about), encoding="utf-8")
    Path(finding_path).write_text("\n".join(results.finding(labels, about)) + "\n", encoding="utf-8")


def inline_svg(text: str, name: str) -> Markup:
    """An SVG of ours for a page: without the XML head, with ids of its own so that figures do not share clip paths.

    It shrinks to no less than four fifths of its own width, so that its text stays legible; narrow screens scroll.
    """
    body = text[text.index("<svg") :]
    # A point is 4/3 of a page's pixels.
    body = re.sub(
        r'<svg ([^>]*?width="([\d.]+)pt")', lambda m: f'<svg style="{_widths(float(m[2]))}" {m[1]}', body, count=1
    )
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r"url\(#", f"url(#{name}-", body)
    body = re.sub(r'xlink:href="#', f'xlink:href="#{name}-', body)
    return Markup(re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S))


def _widths(points: float) -> str:
    pixels = points * 4 / 3
    return f"min-width: {pixels * 0.8:.0f}px; max-width: {max(pixels, 928):.0f}px"


def _cells(table: pd.DataFrame, source: pd.DataFrame) -> dict:
    """A wide table for the template; `source` has the rows it was made of, with the reasons of what is undefined."""
    rows = zip(table.index, table.to_numpy().tolist(), strict=True)
    return {
        "names": list(table.index.names),
        "topics": list(dict.fromkeys(topic for topic, _ in table.columns)),
        "columns": [name for _, name in table.columns],
        "rows": [(index, [shown_number(value) for value in values]) for index, values in rows],
        "note": undefined_note(table, source),
    }


def group_rows(measures: pd.DataFrame, labels: Labels) -> list[list[str]]:
    """Every group of every cell as people read it; accuracies x 100, shares in percent, undefined ones with reason."""
    keys = ["topic", "task", "llm", "category", "group", "retriever"]
    kept = measures[measures["category"].isin(list(labels["categories"])) & measures["measure"].isin(list(SHOWN))]
    values = kept.set_index([*keys, "measure"])[["value", "n", "reason"]].to_dict("index")
    rows = []
    for topic, task, llm, category, group, retriever in _points(labels):
        cell = (topic, task, llm, category, group)
        found = {m: values[*cell, "none" if m == "ac_llm" else retriever, m] for m in SHOWN}
        names = [labels["topics"][topic], labels["tasks"][task], labels["llms"][llm], labels["retrievers"][retriever]]
        shown = [_with_reason(found[m]) for m in SHOWN]
        rows.append(
            [*names, labels["categories"][category]["label"], shown_group(group), str(found["ac_llm"]["n"]), *shown]
        )
    return rows


def _points(labels: Labels) -> list[tuple[str, ...]]:
    return [
        (topic, task, llm, category, group, retriever)
        for topic in labels["topics"]
        for task in labels["tasks"]
        for llm in labels["llms"]
        for category, item in labels["categories"].items()
        for group in item["groups"]
        for retriever in labels["retrievers"]
    ]


def _with_reason(entry: Mapping) -> str:
    value = entry["value"]
    if value is None or math.isnan(value):
        return f"{UNDEFINED} ({entry['reason']})"
    return f"{value * 100:.1f}"


def correlation_rows(correlations: pd.DataFrame, labels: Labels) -> list[list[str]]:
    """Every correlation, per retriever and averaged, with the number of groups and of retrievers."""
    names = {"mean": "mean", **labels["retrievers"]}
    rows = []
    for row in correlations.itertuples():
        place = [labels["topics"][row.topic], labels["tasks"][row.task], labels["llms"][row.llm], names[row.retriever]]
        rho = f"{UNDEFINED} ({row.reason})" if math.isnan(row.value) else f"{row.value:.2f}"
        pair = [row.factor, "AC, RAG" if row.outcome == "ac_rag" else "Δ"]
        rows.append(
            [*place, labels["categories"][row.category]["label"], *pair, rho, str(row.n), str(row.n_retrievers)]
        )
    return rows


def asset_row(name: str, asset: Mapping) -> list[str]:
    """Name, licence and address of an asset; of files, the packages or files that they come from."""
    places = [part.split("#")[0] for file in asset["files"].values() for part in file["address"]]
    return [name, asset["licence"], asset["address"] or ", ".join(dict.fromkeys(places))]


def setting_rows(about: Mapping, place: str = "") -> list[tuple[str, str]]:
    """The settings as flat (place, value) pairs; the assets have a table of their own."""
    rows = []
    for key, value in about.items():
        where = f"{place}.{key}".lstrip(".")
        if where == "assets":
            continue
        rows += setting_rows(value, where) if isinstance(value, Mapping) and value else [(where, _plain(value))]
    return rows


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return (
        {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else str(value)
    )
