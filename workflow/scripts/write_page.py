"""Write the report's page and its finding."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.report.page import Results, write_page
from whobenefits.tables import CORRELATIONS, MEASURES, RANGES, read_table

if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        write_page(
            Results(
                measures=read_table(MEASURES, snakemake.input.measures),
                ranges=read_table(RANGES, snakemake.input.ranges),
                correlations=read_table(CORRELATIONS, snakemake.input.correlations),
                summaries=snakemake.input.summaries,
                figures={Path(path).stem: path for path in snakemake.input.figures},
            ),
            labels=snakemake.params.labels,
            about=snakemake.params.about,
            page_path=snakemake.output.page,
            finding_path=snakemake.output.finding,
        )
