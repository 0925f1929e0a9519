"""Write the tables of the report."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.report.run_tables import run_results
from whobenefits.report.table_files import write_report_tables


def main(tables: dict[str, str], summaries: list[str], labels: dict, folder: Path) -> None:
    """Write the tables into the folder, as CSV, Markdown and LaTeX; `tables` are the result tables' paths by name."""
    write_report_tables(run_results(tables), summaries, labels, folder)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            tables=dict(snakemake.input.items()),
            summaries=snakemake.input.summaries,
            labels=snakemake.params.labels,
            folder=Path(snakemake.output.tables[0]).parent,
        )
