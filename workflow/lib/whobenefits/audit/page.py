"""The audit as one self-contained page, with its tables as CSV beside it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from whobenefits.audit.audit import Audit, PrintedTable, csv_tables, shown_names
from whobenefits.audit.files import OUTPUTS, audited_files
from whobenefits.audit.printed import ALL, AS_PRINTED
from whobenefits.audit.stored import ALIGNED
from whobenefits.audit.summary import finding, summary
from whobenefits.report.tables import UNDEFINED, shown_number

ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
# Readings of a printed table that the page shows: the best of all, and the best of each topic.
SHOWN_READINGS = 5
YES = {True: "yes", False: "no"}


def page(found: Audit) -> str:
    """The page as HTML: no reference to any other file or host, all text escaped."""
    claims = [] if found.claims is None else _claims(found.claims)
    return ENVIRONMENT.get_template("audit.html").render(
        files=[Path(path).name for path in audited_files(found.folder)],
        finding=finding(found),
        summary=[
            [row.what, row.count, row.of, row.note] for row in summary(found).astype(object).itertuples(index=False)
        ],
        overall=_overall_rows(found.overall),
        tables=[_table(table) for table in found.tables.values()],
        ranges=_range_rows(found),
        sets=None if found.sets is None else _sets(found.sets),
        averages=[] if found.averages is None else _average_rows(found),
        doubtful=[claim for claim in claims if not _sound(claim)],
        sound=[claim for claim in claims if _sound(claim)],
        readings=[] if found.claims is None else list(found.claims["reading"].unique()),
        undefined=UNDEFINED,
    )


def write_audit(found: Audit, page_path: str | Path) -> None:
    """Write the page, and beside it a CSV file for each of files.OUTPUTS."""
    page_path = Path(page_path)
    page_path.parent.mkdir(parents=True, exist_ok=True)
    page_path.write_text(page(found), encoding="utf-8")
    tables = csv_tables(found, summary(found))
    for name in OUTPUTS:
        tables[name].to_csv(page_path.parent / f"{name}.csv", index=False, lineterminator="\n")


def _overall_rows(overall: pd.DataFrame) -> list[list[str]]:
    return [
        [row.topic, row.task, row.llm, row.retriever]
        + [shown_number(row.mean * 100, 3), shown_number(row.stored * 100, 3), _small(row.difference)]
        for row in overall.sort_values(["topic", "task", "llm"], kind="stable").itertuples()
    ]


def _small(value: float) -> str:
    return UNDEFINED if pd.isna(value) else f"{value:.1e}"


def _table(table: PrintedTable) -> dict:
    named = any(table.names)
    scopes = [scope for scope in table.readings["scope"].unique() if scope != ALL]
    first = table.readings[table.readings["scope"] == ALL].head(SHOWN_READINGS)
    plain_first = [table.plain(), *(row for _, row in first.iterrows())]
    per_topic = [(scope, reading) for scope in scopes for reading in (table.plain(scope), table.best(scope))]
    return {
        "name": table.name,
        "heads": ["Of", "Columns", *(["Category names"] if named else []), "fit", "of", "distance"],
        "named": named,
        "readings": _once(_reading_row(table, "all", reading) for reading in plain_first),
        "per_topic": _once(_reading_row(table, scope, reading) for scope, reading in per_topic),
        "n_readings": int((table.readings["scope"] == ALL).sum()),
        "misfits": _cell_rows(table, ~table.cells["fits_best"]),
        "cells": _cell_rows(table, table.cells["position"] > 0),
    }


def _reading_row(table: PrintedTable, scope: str, reading: pd.Series) -> list[str]:
    columns = reading["columns"] if reading["columns"] == AS_PRINTED else ", ".join(reading["columns"])
    names = [shown_names(table.names, reading["labels"]) or AS_PRINTED] if any(table.names) else []
    return [scope, columns, *names, str(reading["n_fit"]), str(reading["n"]), f"{reading['distance']:.1f}"]


def _once(rows: Iterable[list[str]]) -> list[list[str]]:
    """The rows without those that say again what an earlier one says."""
    return list(map(list, dict.fromkeys(map(tuple, rows))))


def _cell_rows(table: PrintedTable, kept: pd.Series) -> list[list[str]]:
    named = any(table.names)
    read_as = dict(zip(table.names, table.best()["labels"], strict=True))
    return [
        [row.topic, row.task, *([row.category] if named else []), row.llm, str(row.position), row.header]
        + [f"{row.printed:.{row.decimals}f}", shown_number(row.under_header, 2)]
        + [f"{read_as[row.category]} {row.read_as_column}".strip(), shown_number(row.under_best, 2)]
        + [YES[row.fits_best], YES[row.fits_somewhere]]
        for row in table.cells[kept].itertuples()
    ]


def _range_rows(found: Audit) -> list[list[str]]:
    keys = ["topic", "task", "llm", "category"]
    by_place = found.ranges.set_index([*keys, "retriever", "measure"])["value"].to_dict()
    rag = found.ranges[found.ranges["measure"] == "r_rag"]
    rows = []
    for *place, retriever in rag[[*keys, "retriever"]].itertuples(index=False, name=None):
        alone = by_place[(*place, "none", "r_llm")]
        both = [by_place[(*place, retriever, measure)] for measure in ("r_rag", "r_delta")]
        short = found.inputs.fields[place[3]]["short"]
        wider = UNDEFINED if pd.isna(alone) or pd.isna(both[0]) else YES[both[0] > alone]
        rows.append([*place[:3], place[3], short, retriever, *map(shown_number, (alone, *both)), wider])
    return rows


def _sets(sets: pd.DataFrame) -> dict[str, list[list[str]]]:
    aligned = sets["status"] == ALIGNED
    return {"others": _set_rows(sets[~aligned]), "aligned": _set_rows(sets[aligned])}


def _set_rows(sets: pd.DataFrame) -> list[list[str]]:
    return [
        [row.task, row.topic, row.llm, row.field, row.status]
        + [row.order.replace("|", ", ") or row.reason or UNDEFINED, str(row.n_orders)]
        for row in sets.itertuples()
    ]


def _average_rows(found: Audit) -> list[list[str]]:
    rows = found.averages.sort_values("difference", key=abs, ascending=False, kind="stable")
    return [
        [row.task, row.topic, row.llm, row.field, row.factor, "AC, RAG" if row.outcome == "ac_rag" else "Δ"]
        + [shown_number(value, 2) for value in (row.stored, row.aligned, row.difference)]
        + [YES[row.sign_changes]]
        for row in rows.itertuples()
        if not abs(row.difference) <= 1e-9
    ]


def _claims(claims: pd.DataFrame) -> list[dict]:
    """Each claim once, with what was found under each reading; what is the same under all is said once."""
    asked = set(claims["beside"])
    parts = dict(tuple(claims.groupby("id", sort=False)))
    return [_claim(part) | {"has_beside": name in asked} for name, part in parts.items()]


def _sound(claim: dict) -> bool:
    """Whether a claim of the text holds in each reading; what is asked beside a claim stays below it, in sight."""
    return set(claim["verdicts"]) == {"holds"} and not claim["beside"] and not claim["has_beside"]


def _claim(part: pd.DataFrame) -> dict:
    first = part.iloc[0]
    return {
        "location": first["location"],
        "says": first["says"],
        "rule": first["checked_as"],
        "beside": bool(first["beside"]),
        "verdicts": list(part["verdict"]),
        "found": _found(part),
    }


def _found(part: pd.DataFrame) -> Sequence[tuple[str, str]]:
    if part["found"].nunique() == 1:
        return [("", part["found"].iloc[0])]
    return [("; ".join(same["reading"]), found) for found, same in part.groupby("found", sort=False)]
