"""Generate the answers of one LLM to the requests of one shard of a topic and task."""

from whobenefits.generation.answers import write_answers
from whobenefits.logs import log_to

if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        write_answers(
            requests=snakemake.input.requests,
            corpus=snakemake.input.corpus,
            templates=snakemake.input.templates,
            manifest=snakemake.input.model,
            answers=snakemake.output.answers,
            store=snakemake.params.store,
            task=snakemake.wildcards.task,
            shard=snakemake.wildcards.shard,
            decoding=snakemake.params.decoding,
            llm=snakemake.params.llm,
            threads=snakemake.threads,
        )
