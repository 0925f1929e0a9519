"""Draw the figures."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.report.figures import drawn_figures, write_figures
from whobenefits.tables import CORRELATIONS, MEASURES, RANGES, read_table


def main(measures: str, ranges: str, correlations: str, labels: dict, folder: Path) -> None:
    """Write each figure into the folder, as SVG, PDF and PNG."""
    tables = read_table(MEASURES, measures), read_table(RANGES, ranges), read_table(CORRELATIONS, correlations)
    write_figures(drawn_figures(*tables, labels), folder)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            measures=snakemake.input.measures,
            ranges=snakemake.input.ranges,
            correlations=snakemake.input.correlations,
            labels=snakemake.params.labels,
            folder=Path(snakemake.output.figures[0]).parent,
        )
