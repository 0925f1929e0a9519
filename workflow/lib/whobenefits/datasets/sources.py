"""The sources by their name in the settings. A new source is one file and one entry here."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from whobenefits.categories import categories_of
from whobenefits.datasets.form import Source
from whobenefits.datasets.trec_fair import TrecFair
from whobenefits.datasets.vital_articles import VitalArticles


def _vital_articles(dataset: Mapping[str, Any], manifest: Path) -> Source:
    # The files of the asset lie beside its manifest.
    return VitalArticles(manifest.parent)


def _trec_fair(dataset: Mapping[str, Any], corpus: Path, metadata: Path, topics: Path) -> Source:
    return TrecFair(corpus, metadata, topics, categories_of(dataset))


SOURCE_TYPES: dict[str, Callable[..., Source]] = {"vital-articles": _vital_articles, "trec-fair": _trec_fair}


def source_of(dataset: Mapping[str, Any], data: Sequence[str | Path]) -> Source:
    """The source of checked dataset settings.

    `data` are its files: the asset.json of its asset (vital-articles), or corpus, metadata and topics (trec-fair).
    """
    return SOURCE_TYPES[dataset["source"]](dataset, *map(Path, data))
