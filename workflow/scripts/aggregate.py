"""Put the measures of the whole grid into one table, and derive the ranges and the correlations."""

from pathlib import Path

import pandas as pd

from whobenefits.logs import log_to
from whobenefits.statistics import correlations_of, in_grid_order, ranges_of
from whobenefits.tables import CORRELATIONS, MEASURES, RANGES, Table, read_table, write_table


def main(cells: list[str], outputs: dict[str, str], categories: dict[str, list[str]]) -> None:
    """Write measures, ranges and correlations; `outputs` has a Parquet path for each, and a CSV path as NAME_csv."""
    whole = in_grid_order(pd.concat([read_table(MEASURES, path) for path in cells], ignore_index=True), categories)
    ranges, correlations = ranges_of(whole, categories), correlations_of(whole, categories)
    for frame, table in ((whole, MEASURES), (ranges, RANGES), (correlations, CORRELATIONS)):
        _write_both(frame, table, outputs)


def _write_both(frame: pd.DataFrame, table: Table, outputs: dict[str, str]) -> None:
    write_table(frame, table, outputs[table.name])
    path = Path(outputs[f"{table.name}_csv"])
    frame[list(table.columns)].to_csv(path, index=False, lineterminator="\n")


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            cells=list(snakemake.input.measures),
            outputs=dict(snakemake.output.items()),
            categories=snakemake.params.categories,
        )
