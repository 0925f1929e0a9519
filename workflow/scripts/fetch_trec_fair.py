"""Obtain the TREC 2022 Fair Ranking track's files through ir_datasets."""

from whobenefits.datasets.ir_files import link_files
from whobenefits.logs import log_to


def main(targets: dict[str, str]) -> None:
    """Make links to the files that ir_datasets keeps."""
    link_files(targets)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(targets=dict(snakemake.output.items()))
