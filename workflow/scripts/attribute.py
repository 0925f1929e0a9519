"""Find which retrieved documents support the answers of one LLM in one topic and task."""

from pathlib import Path

from whobenefits.attribution.documents import document_attributions
from whobenefits.attribution.protocol import attributor_of
from whobenefits.logs import log_to
from whobenefits.tables import ANSWERS, ATTRIBUTIONS, CORPUS, REQUESTS, read_table, write_table


def main(
    corpus: str, requests: str, answers: str, attributions: str, attribution: dict, manifest: str | None = None
) -> None:
    """Write the attributions; `manifest` is the asset.json in the attributor's model folder, if it needs a model."""
    table = document_attributions(
        corpus=read_table(CORPUS, corpus),
        requests=read_table(REQUESTS, requests),
        answers=read_table(ANSWERS, answers),
        attributor=attributor_of(attribution, Path(manifest).parent if manifest else None),
    )
    write_table(table, ATTRIBUTIONS, attributions)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            corpus=snakemake.input.corpus,
            requests=snakemake.input.requests,
            answers=snakemake.input.answers,
            attributions=snakemake.output.attributions,
            attribution=snakemake.params.attribution,
            # a list of one path or of none: which one depends on the attributor
            manifest=str(snakemake.input.get("model", "")) or None,
        )
