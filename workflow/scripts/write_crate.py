"""Describe the run and its files as an RO-Crate."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.report.crate import write_crate

if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        write_crate(snakemake.input.record, Path(snakemake.output.crate).parent, list(snakemake.input.files))
