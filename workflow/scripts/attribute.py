"""Find which retrieved documents support the answers of one LLM in one topic and task."""

from functools import partial
from pathlib import Path

from whobenefits.attribution.documents import document_attributions
from whobenefits.attribution.protocol import Attributor, attributor_of
from whobenefits.attribution.stored import StoredAttributor
from whobenefits.logs import log_to
from whobenefits.manifests import asset_identity
from whobenefits.tables import ANSWERS, ATTRIBUTIONS, CORPUS, REQUESTS, read_table, read_tables, write_table


def main(corpus: str, requests: str, answers: list[str], attributions: str, attributor: Attributor) -> None:
    """Write the attributions of the answers of all shards."""
    table = document_attributions(
        corpus=read_table(CORPUS, corpus),
        requests=read_table(REQUESTS, requests),
        answers=read_tables(ANSWERS, answers),
        attributor=attributor,
    )
    write_table(table, ATTRIBUTIONS, attributions)


def attributor(settings: dict, manifest: str | None, store: str) -> Attributor:
    """The attributor of the settings; one with a model, whose folder has this manifest, keeps its scores in the store."""
    if manifest is None:
        return attributor_of(settings, None)
    folder = Path(manifest).parent
    identity = {name: value for name, value in settings.items() if name not in ("model", "batch_tokens")}
    load = partial(attributor_of, settings, folder)
    return StoredAttributor(load, identity | {"model": asset_identity(folder)}, store)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            corpus=snakemake.input.corpus,
            requests=snakemake.input.requests,
            answers=snakemake.input.answers,
            attributions=snakemake.output.attributions,
            # the manifest is a list of one path or of none: which one depends on the attributor
            attributor=attributor(
                snakemake.params.attribution, str(snakemake.input.get("model", "")) or None, snakemake.params.store
            ),
        )
