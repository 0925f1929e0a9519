"""Score the answers of one LLM to the requests of one topic and task."""

from whobenefits.logs import log_to
from whobenefits.measures.scores import answer_scores
from whobenefits.tables import ANSWERS, CORPUS, QUERIES, REQUESTS, SCORES, read_table, write_table


def main(queries: str, corpus: str, requests: str, answers: str, scores: str, task: str, scoring: dict) -> None:
    """Write the accuracy of each answer; `scoring` has the measure and its options."""
    table = answer_scores(
        queries=read_table(QUERIES, queries),
        corpus=read_table(CORPUS, corpus),
        requests=read_table(REQUESTS, requests),
        answers=read_table(ANSWERS, answers),
        task=task,
        **scoring,
    )
    write_table(table, SCORES, scores)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            queries=snakemake.input.queries,
            corpus=snakemake.input.corpus,
            requests=snakemake.input.requests,
            answers=snakemake.input.answers,
            scores=snakemake.output.scores,
            task=snakemake.wildcards.task,
            scoring=snakemake.params.scoring,
        )
