"""Make the corpus, the groups and the queries of one topic."""

from whobenefits.categories import SOURCES
from whobenefits.datasets.form import dataset_summary, topic_documents
from whobenefits.datasets.sources import source_of
from whobenefits.logs import log_to
from whobenefits.sampling import draw_queries
from whobenefits.tables import CORPUS, GROUPS, QUERIES, write_table


def main(
    data: str, corpus: str, groups: str, queries: str, summary: str,
    topic: dict, dataset: dict, cells: list[str], seed: int, max_queries: int | None,
) -> None:  # fmt: skip
    """Write the tables of one topic; `data` is the manifest beside the files of the dataset's asset."""
    categories = SOURCES[dataset["source"]]
    source = source_of(dataset, data)
    documents = topic_documents(source, topic["select"], categories, cells, dataset["max_words"])
    drawn = draw_queries(documents.groups, cells, seed, max_queries)
    write_table(documents.corpus, CORPUS, corpus)
    write_table(documents.groups, GROUPS, groups)
    write_table(drawn, QUERIES, queries)
    table = dataset_summary(documents, drawn, topic, categories, cells)
    table.to_csv(summary, index=False, float_format="%.2f", lineterminator="\n")


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            data=snakemake.input.data,
            corpus=snakemake.output.corpus,
            groups=snakemake.output.groups,
            queries=snakemake.output.queries,
            summary=snakemake.output.summary,
            topic=snakemake.params.topic,
            dataset=snakemake.params.dataset,
            cells=snakemake.params.cells,
            seed=snakemake.params.seed,
            max_queries=snakemake.params.max_queries,
        )
