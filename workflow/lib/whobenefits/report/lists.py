"""The page's plain tables as rows of text: data, models and settings."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from whobenefits.categories import shown_group
from whobenefits.report.inputs import Labels
from whobenefits.report.notes import span
from whobenefits.report.tables import UNDEFINED, shown_number, undefined_note
from whobenefits.report.text import visible, visible_data


def run_rows(about: Mapping, labels: Labels, dataset: pd.DataFrame, measures: pd.DataFrame) -> list[tuple[str, str]]:
    """What was run, in a few lines: data, retrievers, LLMs, tasks, protocol, attributor, queries a group."""
    topics = [f"{row.label} ({row.queries:,} queries, {row.documents:,} documents)" for row in dataset.itertuples()]
    groups = measures[(measures["measure"] == "ac_llm") & (measures["category"] != "all")]["n"]
    context = f"k = {about['retrieval']['context_size']} documents"
    score = "ROUGE-L F1 × 100" + (", stemmed" if about["scoring"]["stemming"] else "")
    rows = [
        ("Study", about["name"]),
        ("Data", "; ".join(topics)),
        ("Queries in a group", span(groups)),
        ("Tasks", ", ".join(labels["tasks"].values())),
        ("Retrievers", ", ".join(labels["retrievers"].values())),
        ("LLMs", ", ".join(labels["llms"].values())),
        ("Protocol", f'prompts "{about["prompts"]}", {context}, {score}, seed {about["seed"]}'),
        ("Attributor", about["attribution"]["kind"]),
    ]
    return visible_data([list(row) for row in rows])


def wide_cells(table: pd.DataFrame, source: pd.DataFrame) -> dict[str, Any]:
    """A wide table for the template; `source` has the rows it was made of, with the reasons of what is undefined."""
    rows = zip(table.index, table.to_numpy().tolist(), strict=True)
    return {
        "names": list(table.index.names),
        "topics": list(dict.fromkeys(topic for topic, _ in table.columns)),
        "columns": [name for _, name in table.columns],
        "rows": [(index, [shown_number(value) for value in values]) for index, values in rows],
        "note": undefined_note(table, source),
    }


def shown_categories(labels: Labels) -> dict[str, dict]:
    """The categories with their groups as people read them, under `shown`."""
    return {
        name: {**item, "shown": [visible(shown_group(group)) for group in item["groups"]]}
        for name, item in labels["categories"].items()
    }


def asset_rows(about: Mapping, identities: Mapping[str, Mapping]) -> list[list[str]]:
    """Name, licence, address and identity of each asset; of files, the packages or files that they come from."""
    return [asset_row(name, asset, identities.get(name, {})) for name, asset in about["assets"].items()]


def asset_row(name: str, asset: Mapping, identity: Mapping) -> list[str]:
    """One asset's row."""
    places = [part.split("#")[0] for file in asset["files"].values() for part in file["address"]]
    where = asset["address"] or ", ".join(dict.fromkeys(places))
    return [name, asset["licence"], where, identity.get("identity", "not on record")]


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
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return (
        {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else str(value)
    )


def shown_value(value: float, digits: int) -> str:
    """A number with a sign only below 0, and a dash where it is undefined; never -0.0."""
    return UNDEFINED if pd.isna(value) else f"{round(value, digits) + 0.0:.{digits}f}"
