"""Make the corpus, the groups and the queries of one topic."""

from whobenefits.categories import categories_of
from whobenefits.datasets.form import dataset_summary, topic_documents, write_summary
from whobenefits.datasets.sources import source_of
from whobenefits.datasets.topic_counts import selected_topic
from whobenefits.given_queries import given_queries
from whobenefits.logs import log_to
from whobenefits.sampling import draw_queries
from whobenefits.tables import CORPUS, GROUPS, QUERIES, write_table


def main(
    data: list[str], counts: str | None, ids: str | None, tables: dict[str, str],
    topic: dict, dataset: dict, cells: list[str], seed: int, max_queries: int | None,
) -> None:  # fmt: skip
    """Write the tables of one topic from the dataset's files, the counts of all topics and the given queries, if any."""
    categories = categories_of(dataset)
    select = selected_topic(topic["select"], counts)
    documents = topic_documents(source_of(dataset, data), select, categories, cells, dataset["max_words"])
    labels = documents.groups
    queries, given = given_queries(ids, labels, cells) if ids else (draw_queries(labels, cells, seed, max_queries), {})
    for frame, schema in ((documents.corpus, CORPUS), (labels, GROUPS), (queries, QUERIES)):
        write_table(frame, schema, tables[schema.name])
    write_summary(dataset_summary(documents, queries, topic, categories, cells, given), tables["summary"])


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            data=snakemake.input.data,
            counts=next(iter(snakemake.input.counts), None),
            ids=next(iter(snakemake.input.ids), None),
            tables=dict(snakemake.output.items()),
            topic=snakemake.params.topic,
            dataset=snakemake.params.dataset,
            cells=snakemake.params.cells,
            seed=snakemake.params.seed,
            max_queries=snakemake.params.max_queries,
        )
