"""Measure how sure the numbers of one topic, task and LLM are."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.tables import FACTORS, GROUPS, OUTCOMES, read_table, write_table
from whobenefits.uncertainty.study import TABLES, cell_uncertainty


def main(
    outcomes: str,
    factors: str,
    groups: str,
    tables: dict[str, str],
    categories: dict[str, list[str]],
    seed: int,
    rules: dict,
) -> None:
    """Write intervals, tests and query-level results.

    `tables` are the paths by name, `rules` how much is drawn and which categories are crossed.
    """
    found = cell_uncertainty(
        outcomes=read_table(OUTCOMES, outcomes),
        factors=read_table(FACTORS, factors),
        groups=read_table(GROUPS, groups),
        categories=categories,
        seed=seed,
        **rules,
    )
    for name, path in tables.items():
        write_table(found[name], TABLES[name], Path(path))


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            outcomes=snakemake.input.outcomes,
            factors=snakemake.input.factors,
            groups=snakemake.input.groups,
            tables=dict(snakemake.output.items()),
            categories=snakemake.params.categories,
            seed=snakemake.params.seed,
            rules=snakemake.params.rules,
        )
