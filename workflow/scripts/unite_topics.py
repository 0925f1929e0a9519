"""Unite the documents of all topics of the grid into one corpus to retrieve from."""

from whobenefits.datasets.union import united_topics
from whobenefits.logs import log_to
from whobenefits.tables import CORPUS, GROUPS, read_table, write_table


def main(topics: dict[str, tuple[str, str]], corpus: str, groups: str) -> None:
    """Write the corpus and the groups; `topics` are the paths of both tables by topic."""
    tables = {topic: (read_table(CORPUS, c), read_table(GROUPS, g)) for topic, (c, g) in topics.items()}
    documents, labels = united_topics(tables)
    write_table(documents, CORPUS, corpus)
    write_table(labels, GROUPS, groups)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            topics=dict(
                zip(
                    snakemake.params.topics,
                    zip(snakemake.input.corpora, snakemake.input.groups, strict=True),
                    strict=True,
                )
            ),
            corpus=snakemake.output.corpus,
            groups=snakemake.output.groups,
        )
