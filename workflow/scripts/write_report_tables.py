"""Write Tables 2 to 4."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.report.tables import write_report_tables
from whobenefits.tables import MEASURES, RANGES, read_table


def main(measures: str, ranges: str, summaries: list[str], labels: dict, folder: Path) -> None:
    """Write the tables into the folder, as CSV and Markdown."""
    write_report_tables(read_table(MEASURES, measures), read_table(RANGES, ranges), summaries, labels, folder)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            measures=snakemake.input.measures,
            ranges=snakemake.input.ranges,
            summaries=snakemake.input.summaries,
            labels=snakemake.params.labels,
            folder=Path(snakemake.output.tables[0]).parent,
        )
