"""Draw the figures."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.report.figure_files import drawn_figures, figure_data, write_figures
from whobenefits.report.run_tables import run_results


def main(tables: dict[str, str], labels: dict, folder: Path) -> None:
    """Write each figure into the folder, as SVG, PDF and PNG, and its data as CSV; `tables` are paths by name."""
    results = run_results(tables)
    write_figures(drawn_figures(results, labels), figure_data(results), folder)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            tables=dict(snakemake.input.items()),
            labels=snakemake.params.labels,
            folder=Path(snakemake.output.figures[0]).parent,
        )
