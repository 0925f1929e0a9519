"""A small whole set of settings for tests, changed in one place at a time."""

import copy

SETTINGS = {
    "name": "test",
    "seed": 7,
    "grid": {
        "topics": ["lakes"],
        "tasks": ["article", "title"],
        "retrievers": ["bm25", "given"],
        "llms": ["small"],
        "categories": ["alphabetical"],
    },
    "dataset": {"source": "vital-articles", "asset": "articles"},
    "topics": {"lakes": {"label": "Lakes", "select": "Geography"}},
    "queries": {"cells": ["alphabetical", "age-of-topic"], "max_queries": 4},
    "retrieval": {"depth": 4, "context_size": 3},
    "retrievers": {
        "bm25": {"kind": "bm25", "label": "BM25"},
        "given": {"kind": "run", "label": "Given", "path": "runs/{topic}.{task}.trec"},
    },
    "llms": {"small": {"label": "Small", "model": "small", "context_tokens": 256}},
    "tasks": {"article": {"beams": 2, "max_new_tokens": 8}, "title": {"beams": 4, "max_new_tokens": 6, "stop": "line"}},
    "attribution": {"kind": "overlap"},
    "assets": {
        "articles": {"files": {"a.json": {"address": ["file:a.json"], "sha256": "0" * 64}}, "licence": "CC BY-SA"},
        "small": {"address": "file:small", "licence": "none"},
    },
}


def changed(path: str, value: object) -> dict:
    """The settings with the value at a dotted path replaced; a value of None removes the key."""
    settings = copy.deepcopy(SETTINGS)
    *parents, last = path.split(".")
    part = settings
    for name in parents:
        part = part[name]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return settings
