"""Retrieve documents for the queries of one topic and task."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.retrieval.protocol import Retriever, retrieved, retriever_of, source_of
from whobenefits.retrieval.trec import write_trec_run
from whobenefits.tables import CORPUS, QUERIES, RUN, read_table, write_table


def main(
    retriever: Retriever, corpus: str, queries: str, index: str, run: str, trec: str, task: str, name: str, depth: int
) -> None:
    """Write the run of one retriever as a table and as a TREC run file, tagged with the retriever's name."""
    query_ids = read_table(QUERIES, queries)["query_id"].tolist()
    found = retrieved(retriever, read_table(CORPUS, corpus), query_ids, task, Path(index), depth)
    write_table(found, RUN, run)
    write_trec_run(found, trec, name)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        model, given = (next(iter(files), None) for files in (snakemake.input.model, snakemake.input.given))
        main(
            retriever=retriever_of(snakemake.params.retriever, source_of(model, given)),
            corpus=snakemake.input.corpus,
            queries=snakemake.input.queries,
            index=snakemake.input.index,
            run=snakemake.output.run,
            trec=snakemake.output.trec,
            task=snakemake.wildcards.task,
            name=snakemake.wildcards.retriever,
            depth=snakemake.params.depth,
        )
