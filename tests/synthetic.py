"""Result tables of a grid of any size, drawn from a seed: for tests of the report."""

import numpy as np
import pandas as pd

from whobenefits.categories import VITAL_ARTICLES
from whobenefits.statistics import correlations_of, ranges_of

SHARES = ("utility", "exposure", "attribution")


def labels(topics=1, tasks=2, retrievers=3, llms=2, categories=4):
    """Labels of a grid, as describe.labels_of gives them."""
    known = list(VITAL_ARTICLES.values())[:categories]
    return {
        "topics": {f"topic{i}": f"Topic {i}" for i in range(topics)},
        "tasks": dict([("article", "Article generation"), ("title", "Title generation")][:tasks]),
        "retrievers": {f"retriever{i}": f"Retriever {i}" for i in range(retrievers)},
        "llms": {f"llm{i}": f"Model {i}" for i in range(llms)},
        "categories": {
            c.slug: {"label": c.label, "short": c.short, "groups": list(c.groups), "note": c.note} for c in known
        },
    }


def results(grid, seed=0, n=3):
    """Measures, ranges and correlations of the grid."""
    random = np.random.default_rng(seed)
    rows = [row for cell in cells(grid) for row in cell_rows(cell, grid, random, n)]
    measures = pd.DataFrame(rows)
    groups = {name: item["groups"] for name, item in grid["categories"].items()}
    return measures, ranges_of(measures, groups), correlations_of(measures, groups)


def cells(grid):
    return [(t, k, m) for t in grid["topics"] for k in grid["tasks"] for m in grid["llms"]]


def cell_rows(cell, grid, random, n):
    """One cell's rows: accuracies of each group and over all, and shares that sum to 1."""
    for category, item in [*grid["categories"].items(), ("all", {"groups": ["all"]})]:
        alone = random.uniform(0.1, 0.3, len(item["groups"]))
        for retriever in ("none", *grid["retrievers"]):
            gains = random.uniform(-0.05, 0.3, len(alone))
            shares = random.dirichlet(np.ones(len(alone)), 3)
            for i, group in enumerate(item["groups"]):
                place = dict(zip(("topic", "task", "llm"), cell, strict=True))
                place |= {"retriever": retriever, "category": category, "group": group, "n": n, "reason": ""}
                if retriever == "none":
                    yield place | {"measure": "ac_llm", "value": alone[i]}
                    continue
                yield place | {"measure": "ac_rag", "value": alone[i] + gains[i]}
                yield place | {"measure": "delta", "value": gains[i]}
                if category != "all":
                    for j, name in enumerate(SHARES):
                        yield place | {"measure": name, "value": shares[j, i]}
                        yield place | {"measure": f"{name}_mean", "value": 5 * shares[j, i]}


ABOUT = {
    "name": "test",
    "seed": 1,
    "prompts": "paper",
    "retrieval": {"depth": 10, "context_size": 5},
    "scoring": {"measure": "rouge-l-f1", "stemming": False},
    "attribution": {"kind": "overlap", "threshold": 0.6, "description": "Lexical."},
    "assets": {
        "model": {"address": None, "files": {"m": {"address": ["pypi:a==1#m"], "sha256": "0"}}, "licence": "Apache-2.0"}
    },
}


def summary(path, topics):
    """A dataset.csv of one topic, at the path."""
    row = {"topic": topics, "label": topics.title(), "queries": 12, "documents": 100, "dropped_too_long": 3}
    pd.DataFrame([row]).to_csv(path, index=False)
    return str(path)
