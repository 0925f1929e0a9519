"""Measure the outcome of each query and the factors of each retrieved document, of one topic, task and LLM."""

from whobenefits.logs import log_to
from whobenefits.measures.accuracy import query_accuracy
from whobenefits.measures.factors import document_factors
from whobenefits.tables import ATTRIBUTIONS, FACTORS, OUTCOMES, REQUESTS, RUN, SCORES, read_table, write_table


def main(
    requests: str,
    scores: str,
    attributions: str,
    runs: dict[str, str],
    outcomes: str,
    factors: str,
    cell: dict[str, str],
    context_size: int,
) -> None:
    """Write the outcomes and the factors; `runs` are the paths by retriever, `cell` is topic, task and llm."""
    plan, values = read_table(REQUESTS, requests), read_table(SCORES, scores)
    lists = {name: read_table(RUN, path) for name, path in runs.items()}
    found = document_factors(plan, values, read_table(ATTRIBUTIONS, attributions), lists, context_size)
    write_table(query_accuracy(plan, values, lists).assign(**cell), OUTCOMES, outcomes)
    write_table(found.assign(**cell), FACTORS, factors)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            requests=snakemake.input.requests,
            scores=snakemake.input.scores,
            attributions=snakemake.input.attributions,
            runs=dict(zip(snakemake.params.retrievers, snakemake.input.runs, strict=True)),
            outcomes=snakemake.output.outcomes,
            factors=snakemake.output.factors,
            cell=snakemake.params.cell,
            context_size=snakemake.params.context_size,
        )
