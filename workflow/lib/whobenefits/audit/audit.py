"""The audit of a folder of per-group results: what follows from them, and what was stored, printed and said of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from whobenefits.audit import files
from whobenefits.audit.claims import COLUMNS as CLAIM_COLUMNS
from whobenefits.audit.claims import Reading, checked_claims, facts_of, read_claims
from whobenefits.audit.inputs import Fields, Inputs, read_inputs
from whobenefits.audit.printed import ALL, AS_PRINTED, Grid, cells, readings
from whobenefits.audit.recomputed import accuracy_points, correlations, measures_of, overall_means, range_points, ranges
from whobenefits.audit.stored import stored_averages, stored_sets
from whobenefits.statistics import MEAN

# The names of the readings of category names and correlations, under which claims are checked.
PRINTED, FITTED, CORRECTED = "as printed", "names that fit best", "names that fit best and ρ joined on labels"


@dataclass(frozen=True)
class PrintedTable:
    """A printed table with its readings (printed.readings) and cells (printed.cells)."""

    name: str
    readings: pd.DataFrame
    cells: pd.DataFrame
    names: tuple[str, ...]

    def best(self, scope: str = ALL) -> pd.Series:
        """The reading that most numbers fit."""
        return self.readings[self.readings["scope"] == scope].iloc[0]

    def plain(self, scope: str = ALL) -> pd.Series:
        """The table as it is printed."""
        of = self.readings[(self.readings["scope"] == scope) & (self.readings["columns"] == AS_PRINTED)]
        return of[of["labels"] == self.names].iloc[0]


@dataclass(frozen=True)
class Audit:
    """All that an audit finds; what was not given is None, `tables` then lacks the table."""

    folder: Path
    inputs: Inputs
    overall: pd.DataFrame
    ranges: pd.DataFrame
    correlations: pd.DataFrame | None
    tables: Mapping[str, PrintedTable]
    averages: pd.DataFrame | None
    sets: pd.DataFrame | None
    claims: pd.DataFrame | None


def audit(folder: str | Path, fields: Fields) -> Audit:
    """Audit the results in a folder. `fields`: files.known_fields. Raises DataError for a file that cannot be used."""
    inputs = read_inputs(folder, fields)
    wide, rho = ranges(inputs), correlations(inputs)
    tables = _printed_tables(inputs, wide)
    averages = None if inputs.stored is None or rho is None else stored_averages(inputs, rho)
    path = Path(folder) / files.CLAIMS
    return Audit(
        folder=Path(folder),
        inputs=inputs,
        overall=overall_means(inputs),
        ranges=wide,
        correlations=rho,
        tables=tables,
        averages=averages,
        sets=None if averages is None else stored_sets(inputs, measures_of(inputs), averages),
        claims=_claims(path, inputs, wide, rho, averages, tables) if path.is_file() else None,
    )


def _printed_tables(inputs: Inputs, wide: pd.DataFrame) -> dict[str, PrintedTable]:
    given = {"Table 3": (inputs.table3, accuracy_points(inputs)), "Table 4": (inputs.table4, range_points(wide))}
    tables = {}
    for name, (printed, values) in given.items():
        if printed is not None:
            grid = Grid(printed, values, inputs.fields)
            found = readings(grid)
            tables[name] = PrintedTable(name, found, cells(grid, found), tuple(grid.names))
    return tables


def _claims(
    path: Path,
    inputs: Inputs,
    wide: pd.DataFrame,
    rho: pd.DataFrame | None,
    averages: pd.DataFrame | None,
    tables: Mapping[str, PrintedTable],
) -> pd.DataFrame:
    """The claims under each reading that differs from those before it."""
    both = averages if averages is not None else _aligned(rho)
    accuracy, queries = accuracy_points(inputs), query_counts(inputs)
    facts = {
        reading.name: facts_of(reading, accuracy, wide, both, queries) for reading in claim_readings(inputs, tables)
    }
    return checked_claims(read_claims(path), facts)


def _aligned(rho: pd.DataFrame | None) -> pd.DataFrame | None:
    if rho is None:
        return None
    return rho[rho["retriever"] == MEAN].rename(columns={"category": "field", "value": "aligned"})


def claim_readings(inputs: Inputs, tables: Mapping[str, PrintedTable]) -> list[Reading]:
    """The readings for claims: as printed, as Table 4 fits best, and so with ρ joined on labels; no two alike."""
    plain = {item["short"]: field for field, item in inputs.fields.items()}
    fitted = dict(plain)
    if "Table 4" in tables:
        table = tables["Table 4"]
        fitted |= {name: plain[label] for name, label in zip(table.names, table.best()["labels"], strict=True)}
    first = "stored" if inputs.stored is not None else "aligned"
    wanted = [Reading(PRINTED, plain, first), Reading(FITTED, fitted, first), Reading(CORRECTED, fitted, "aligned")]
    kept: list[Reading] = []
    for reading in wanted:
        if all((reading.fields, reading.rho) != (other.fields, other.rho) for other in kept):
            kept.append(reading)
    return kept


def query_counts(inputs: Inputs) -> dict[str, int]:
    """Each topic's number of queries, where its groups' sizes are given: their sum in the first field."""
    first = next(iter(inputs.fields))
    counts: dict[str, int] = {}
    for (topic, field, _), n in inputs.sizes.items():
        if field == first:
            counts[topic] = counts.get(topic, 0) + n
    return counts


COORDINATES = ["topic", "task", "retriever", "llm", "category"]
COLUMNS = {
    "summary": ["what", "count", "of", "note"],
    "overall": ["topic", "task", "llm", "retriever", "mean", "spread", "stored", "difference", "reason"],
    "ranges": [*COORDINATES, "measure", "value", "lowest", "highest", "n_groups", "n_empty", "reason"],
    "correlations": [*COORDINATES, "factor", "outcome", "value", "n", "n_retrievers", "reason"],
    "readings": ["table", "scope", "names", "columns", "n_fit", "n", "distance"],
    "cells": [
        *("table", "topic", "task", "category", "llm", "position", "header", "printed", "under_header", "fits_header"),
        *("read_as_field", "read_as_column", "under_best", "fits_best", "fits_somewhere"),
    ],
    "stored_sets": ["task", "topic", "llm", "field", "status", "order", "n_orders", "n_values", "reason"],
    "stored_averages": [
        *("task", "topic", "llm", "field", "factor", "outcome"),
        *("stored", "aligned", "difference", "sign_changes"),
    ],
    "claims": list(CLAIM_COLUMNS),
}


def csv_tables(found: Audit, summary: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The audit's tables by the names of files.OUTPUTS; one that nothing was given for has no row."""
    parts = {
        "summary": summary,
        "overall": found.overall,
        "ranges": found.ranges,
        "correlations": found.correlations,
        "readings": _stacked(found, "readings"),
        "cells": _stacked(found, "cells"),
        "stored_sets": found.sets,
        "stored_averages": found.averages,
        "claims": found.claims,
    }
    return {
        name: pd.DataFrame(columns=COLUMNS[name]) if part is None else part[COLUMNS[name]]
        for name, part in parts.items()
    }


def _stacked(found: Audit, part: str) -> pd.DataFrame | None:
    tables = [_named(table, getattr(table, part)) for table in found.tables.values()]
    return pd.concat(tables, ignore_index=True) if tables else None


def _named(table: PrintedTable, frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.assign(table=table.name)
    if "labels" not in frame:
        return frame
    return frame.assign(
        names=[shown_names(table.names, labels) for labels in frame["labels"]],
        columns=[columns if isinstance(columns, str) else "|".join(columns) for columns in frame["columns"]],
    )


def shown_names(names: tuple[str, ...], labels: tuple[str, ...]) -> str:
    """Which printed category names stand for another; "" where all stand for themselves."""
    return "; ".join(f"{name} read as {label}" for name, label in zip(names, labels, strict=True) if name != label)
