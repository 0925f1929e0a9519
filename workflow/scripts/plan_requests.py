"""Plan what has to be generated for one topic and task."""

from whobenefits.generation.kinds import SETTINGS
from whobenefits.generation.plan import request_plan
from whobenefits.generation.prompts import read_template
from whobenefits.logs import log_to
from whobenefits.tables import QUERIES, REQUESTS, RUN, read_table, write_table


def main(
    queries: str,
    runs: list[str],
    templates: list[str],
    requests: str,
    retrievers: list[str],
    context_size: int,
    context_order: str,
) -> None:
    """Write the requests: each distinct prompt has one id."""
    plan = request_plan(
        queries=read_table(QUERIES, queries)["query_id"].tolist(),
        runs={name: read_table(RUN, run) for name, run in zip(retrievers, runs, strict=True)},
        templates=dict(zip(SETTINGS, map(read_template, templates), strict=True)),
        context_size=context_size,
        context_order=context_order,
    )
    write_table(plan, REQUESTS, requests)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            queries=snakemake.input.queries,
            runs=snakemake.input.runs,
            templates=snakemake.input.templates,
            requests=snakemake.output.requests,
            retrievers=snakemake.params.retrievers,
            context_size=snakemake.params.context_size,
            context_order=snakemake.params.context_order,
        )
