"""Gather the answers of all shards of one topic, task and LLM."""

from whobenefits.logs import log_to
from whobenefits.tables import ANSWERS, read_tables, write_table


def main(shards: list[str], answers: str) -> None:
    """Write one table of the shards' answers."""
    write_table(read_tables(ANSWERS, shards).sort_values("request_id", ignore_index=True), ANSWERS, answers)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(shards=snakemake.input.shards, answers=snakemake.output.answers)
