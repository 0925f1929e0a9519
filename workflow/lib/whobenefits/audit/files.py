"""The files that an audit takes from a folder. Imports nothing heavy: the Snakefile asks for the names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whobenefits.categories import SOURCES

ACCURACY, FACTORS = "group_accuracy.csv", "group_factors.csv"
OVERALL, SIZES, STORED = "overall_accuracy.csv", "group_sizes.csv", "spearman_aligned.csv"
TABLE3, TABLE4, CLAIMS = "printed_table3.csv", "printed_table4.csv", "claims.json"
QUERY_LISTS = "query_ids_*.csv"
NAMES = (ACCURACY, FACTORS, OVERALL, SIZES, STORED, TABLE3, TABLE4, CLAIMS)
# What an audit writes beside its page, each as CSV.
OUTPUTS = (
    "summary",
    "overall",
    "ranges",
    "correlations",
    "readings",
    "cells",
    "stored_sets",
    "stored_averages",
    "claims",
)


def audited_files(folder: str | Path) -> list[str]:
    """Paths of the files of the folder that an audit reads, sorted; all but group_accuracy.csv may be absent."""
    folder = Path(folder)
    found = [folder / name for name in NAMES if (folder / name).is_file()]
    return sorted(str(path) for path in [*found, *folder.glob(QUERY_LISTS)])


def known_fields(own: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """What a file may name in its column `field`: by that name the `label`, the `short` name and the `groups` in order.

    A category is known by the field of the metadata that holds it and by its own name. `own` are the further categories
    of the settings (`dataset.categories`); they take the place of built-in ones.
    """
    built_in = [
        (name, {"label": category.label, "short": category.short, "groups": list(category.groups)})
        for source in SOURCES.values()
        for slug, category in source.items()
        for name in (slug, category.field)
        if name
    ]
    further = [
        (name, {"label": item["label"], "short": item["short"], "groups": list(item["groups"])})
        for slug, item in (own or {}).items()
        for name in (slug, item["field"])
    ]
    return dict(built_in + further)
