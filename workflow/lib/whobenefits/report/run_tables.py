"""The result tables of this workflow's own run, checked against their schemas."""

from collections.abc import Mapping

from whobenefits.report.inputs import Results
from whobenefits.tables import read_table
from whobenefits.uncertainty.grid import GRID_TABLES


def run_results(paths: Mapping[str, str]) -> Results:
    """The result tables at the paths, by name; other names are passed over. Raises DataError as read_table does."""
    return Results(**{name: read_table(table, paths[name]) for name, table in GRID_TABLES.items() if name in paths})
