"""Put the numbers of the whole grid into one table each, with ranges, correlations, and how sure all of them are."""

from pathlib import Path

import pandas as pd

from whobenefits.logs import log_to
from whobenefits.tables import MEASURES, Table, read_tables, write_table
from whobenefits.uncertainty.grid import GRID_TABLES, grid_tables
from whobenefits.uncertainty.study import TABLES


def main(
    measures: list[str],
    uncertainty: dict[str, list[str]],
    outputs: dict[str, str],
    categories: dict[str, list[str]],
    empty_groups: str,
) -> None:
    """Write the tables of GRID_TABLES; `uncertainty` has the cells' paths by table, `outputs` a Parquet path for each
    table, and a CSV path as NAME_csv."""
    tables = grid_tables(
        measures=read_tables(MEASURES, measures),
        uncertainty={name: read_tables(TABLES[name], paths) for name, paths in uncertainty.items()},
        categories=categories,
        empty_groups=empty_groups,
    )
    for name, frame in tables.items():
        _write_both(frame, GRID_TABLES[name], outputs)


def _write_both(frame: pd.DataFrame, table: Table, outputs: dict[str, str]) -> None:
    write_table(frame, table, outputs[table.name])
    path = Path(outputs[f"{table.name}_csv"])
    frame[list(table.columns)].to_csv(path, index=False, lineterminator="\n")


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            measures=snakemake.input.measures,
            uncertainty={name: snakemake.input[name] for name in TABLES},
            outputs=dict(snakemake.output.items()),
            categories=snakemake.params.categories,
            empty_groups=snakemake.params.empty_groups,
        )
