"""Whether a run has cells of the published study. Imports nothing heavy: the Snakefile asks."""

from collections.abc import Mapping

KNOWN = {
    "topics": {"cities", "geography", "military-history"},
    "retrievers": {"bm25", "contriever", "splade"},
    "llms": {"llama-3.1-8b", "gemma-2-9b"},
}


def has_published_cells(about: Mapping, labels: Mapping[str, Mapping]) -> bool:
    """Whether a run can stand beside the published numbers: the track's documents, and a topic, a retriever and an LLM
    of the study by the names that config/paper.yaml has for them.
    """
    return about["dataset"]["source"] == "trec-fair" and all(KNOWN[kind] & set(labels[kind]) for kind in KNOWN)
