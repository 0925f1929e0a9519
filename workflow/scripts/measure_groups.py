"""Measure the groups of every fairness category, of one topic, task and LLM."""

from whobenefits.logs import log_to
from whobenefits.measures.groups import group_measures
from whobenefits.tables import FACTORS, GROUPS, MEASURES, OUTCOMES, QUERIES, read_table, write_table


def main(
    outcomes: str, factors: str, groups: str, queries: str, measures: str, categories: dict[str, list[str]], rules: dict
) -> None:
    """Write the measures of the groups.

    `categories` are the groups of each category in their order, `rules` how empty groups count and what is rounded.
    """
    table = group_measures(
        outcomes=read_table(OUTCOMES, outcomes),
        factors=read_table(FACTORS, factors),
        groups=read_table(GROUPS, groups),
        queries=read_table(QUERIES, queries),
        categories=categories,
        **rules,
    )
    write_table(table, MEASURES, measures)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            outcomes=snakemake.input.outcomes,
            factors=snakemake.input.factors,
            groups=snakemake.input.groups,
            queries=snakemake.input.queries,
            measures=snakemake.output.measures,
            categories=snakemake.params.categories,
            rules=snakemake.params.rules,
        )
