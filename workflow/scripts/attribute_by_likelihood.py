"""Find which retrieved documents make the answers of one LLM more probable to that LLM, in one topic and task."""

from functools import partial
from pathlib import Path

import torch

from whobenefits.attribution.documents import document_attributions
from whobenefits.attribution.likelihood import LikelihoodAttributor, LikelihoodCases
from whobenefits.attribution.log_probabilities import stored_log_probabilities
from whobenefits.generation.kinds import SETTINGS
from whobenefits.generation.loading import load_tokenizer
from whobenefits.generation.prompts import read_template
from whobenefits.logs import log_to
from whobenefits.tables import ANSWERS, ATTRIBUTIONS, CORPUS, REQUESTS, read_table, read_tables, write_table


def main(
    corpus: str,
    requests: str,
    answers: list[str],
    attributions: str,
    templates: list[str],
    manifest: str,
    store: str,
    attribution: dict,
    task: str,
    max_new_tokens: int,
    llm: dict,
    threads: int,
) -> None:
    """Write the attributions of the answers of all shards; `manifest`, `llm` and `threads` as those answers were made."""
    torch.set_num_threads(threads)
    options = {name: llm[name] for name in ("dtype", "gpus", "device_map", "batch_tokens")}
    folder = Path(manifest).parent
    table = document_attributions(
        corpus=read_table(CORPUS, corpus),
        requests=read_table(REQUESTS, requests),
        answers=read_tables(ANSWERS, answers),
        attributor=LikelihoodAttributor(
            partial(stored_log_probabilities, folder=folder, store=store, **options), attribution["threshold"]
        ),
        inputs=LikelihoodCases(
            templates=dict(zip(SETTINGS, map(read_template, templates), strict=True)),
            task=task,
            tokenizer=load_tokenizer(folder),
            limit=llm["context_tokens"] - max_new_tokens,
            truncation=llm["truncation"],
            controls=attribution["controls"],
        ),
    )
    write_table(table, ATTRIBUTIONS, attributions)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            corpus=snakemake.input.corpus,
            requests=snakemake.input.requests,
            answers=snakemake.input.answers,
            attributions=snakemake.output.attributions,
            templates=snakemake.input.templates,
            manifest=snakemake.input.model,
            store=snakemake.params.store,
            attribution=snakemake.params.attribution,
            task=snakemake.wildcards.task,
            max_new_tokens=snakemake.params.max_new_tokens,
            llm=snakemake.params.llm,
            threads=snakemake.threads,
        )
