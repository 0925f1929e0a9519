"""Write where the run comes from: provenance.json, methods.tex and citation.bib."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.report.provenance import provenance, write_provenance
from whobenefits.report.tables import dataset_table

if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        citation = snakemake.input.citation
        record = provenance(
            about=snakemake.params.about,
            labels=snakemake.params.labels,
            cells=snakemake.params.cells,
            manifests=list(snakemake.input.manifests),
            logs=snakemake.params.logs,
            checkout=Path(citation).parent,
        )
        folder = Path(snakemake.output.record).parent
        write_provenance(record, dataset_table(snakemake.input.summaries), citation, folder)
