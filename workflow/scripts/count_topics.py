"""Count the documents of all WikiProjects, before and after the filters."""

from whobenefits.datasets.sources import source_of
from whobenefits.datasets.topic_counts import topic_counts
from whobenefits.logs import log_to


def main(data: list[str], topics: str, dataset: dict, cells: list[str]) -> None:
    """Write topics.csv from the dataset's files."""
    counts = topic_counts(source_of(dataset, data), cells, dataset["max_words"])
    counts.to_csv(topics, index=False, lineterminator="\n")


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            data=snakemake.input.data,
            topics=snakemake.output.topics,
            dataset=snakemake.params.dataset,
            cells=snakemake.params.cells,
        )
