"""The sources by their name in the settings. A new source is one file and one entry here."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from whobenefits.datasets.form import Source
from whobenefits.datasets.vital_articles import VitalArticles

SOURCE_TYPES: dict[str, Callable[..., Source]] = {"vital-articles": VitalArticles}


def source_of(dataset: Mapping[str, Any], manifest: str | Path) -> Source:
    """The source of checked dataset settings; `manifest` is the asset.json beside the files of its asset."""
    options = {name: value for name, value in dataset.items() if name not in ("source", "asset", "max_words")}
    return SOURCE_TYPES[dataset["source"]](Path(manifest).parent, **options)
