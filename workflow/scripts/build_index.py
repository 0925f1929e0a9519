"""Index the documents of one topic for one retriever."""

from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.retrieval.protocol import retriever_of, source_of
from whobenefits.tables import CORPUS, read_table
from whobenefits.whole_folder import whole_folder


def main(corpus: str, folder: str, retriever: dict, model: str | None) -> None:
    """Write the index into a folder; `model` is the manifest in the folder of the model, if the retriever has one."""
    with whole_folder(Path(folder)) as partial:
        retriever_of(retriever, source_of(model)).index(read_table(CORPUS, corpus), partial)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            corpus=snakemake.input.corpus,
            folder=snakemake.output.index,
            retriever=snakemake.params.retriever,
            model=next(iter(snakemake.input.model), None),
        )
