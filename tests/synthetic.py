"""Result tables of a grid of any size, drawn from a seed: for tests of the report."""

import numpy as np
import pandas as pd

from whobenefits.categories import VITAL_ARTICLES
from whobenefits.report.inputs import Results
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
    """Measures, ranges and correlations of the grid; all uncertainty is undefined."""
    random = np.random.default_rng(seed)
    rows = [row for cell in cells(grid) for row in cell_rows(cell, grid, random, n)]
    measures = pd.DataFrame(rows)
    groups = {name: item["groups"] for name, item in grid["categories"].items()}
    found = Results(measures, ranges_of(measures, groups), correlations_of(measures, groups))
    return found.measures, found.ranges, found.correlations


def study(grid, seed=0, n=3):
    """All result tables of the grid, with intervals and tests that have the right form and no meaning."""
    return Results(*uncertain(*results(grid, seed, n), grid, np.random.default_rng(seed + 1)))


def uncertain(measures, ranges, correlations, grid, random):
    """The result tables in the order of Results, with made-up intervals and tests; no unevenness, no query level but
    regressions."""
    return (
        _with_ends(measures, 0.05).assign(interval_reason=""),
        _with_p(_with_ends(ranges, 5, 0), random).assign(
            expected=ranges["value"] * 0.6,
            detectable=ranges["value"] * 1.5,
            interval_reason="",
            p_reason="",
            power_reason="",
            change_low=-4.0,
            change_high=6.0,
            change_p=0.2,
            change_p_holm=1.0,
            change_reason="",
        ),
        _with_p(_with_ends(correlations, 0.5, -1, 1), random).assign(
            smallest_p=1 / 12, defined=1.0, uncertainty_reason=""
        ),
        pd.DataFrame(),
        pd.DataFrame(),
        _with_p(pd.DataFrame(regression_rows(grid, random)), random),
    )


def _with_ends(frame, half, lowest=-np.inf, highest=np.inf):
    low, high = frame["value"] - half, frame["value"] + half
    return frame.assign(low=low.clip(lower=lowest), high=high.clip(upper=highest))


def _with_p(frame, random):
    p = pd.Series(random.uniform(0.001, 1, len(frame))).mask(frame["value"].isna().to_numpy())
    return frame.assign(p=p.to_numpy(), p_holm=(p * 10).clip(upper=1).to_numpy(), p_bh=p.to_numpy(), n_tests=10)


def regression_rows(grid, random):
    for topic, task, llm in cells(grid):
        for category in grid["categories"]:
            for factor in SHARES:
                for outcome in ("ac_rag", "delta"):
                    for model in ("linear", "within-groups", "given-llm", "rank"):
                        value = random.uniform(-0.3, 0.6)
                        place = {"topic": topic, "task": task, "llm": llm, "category": category, "factor": factor}
                        row = {"outcome": outcome, "model": model, "value": value, "n": 36, "n_queries": 12}
                        yield place | row | {"low": value - 0.2, "high": value + 0.2, "reason": ""}


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
    "dataset": {"source": "vital-articles", "asset": "model", "max_words": 512},
    "queries": {"cells": ["popularity"], "max_queries": 12, "ids": None},
    "retrievers": {"retriever0": {"kind": "bm25", "label": "Retriever 0", "k1": 0.9, "b": 0.4}},
    "llms": {"llm0": {"label": "Model 0", "model": "model", "dtype": "auto", "context_tokens": 2048}},
    "tasks": {"title": {"beams": 4, "max_new_tokens": 16, "stop": "line"}},
    "measures": {"empty_groups": "undefined", "factor_decimals": None},
    "assets": {
        "model": {"address": None, "files": {"m": {"address": ["pypi:a==1#m"], "sha256": "0"}}, "licence": "Apache-2.0"}
    },
}


def summary(path, topics):
    """A dataset.csv of one topic, at the path."""
    row = {"topic": topics, "label": topics.title(), "queries": 12, "documents": 100, "dropped_too_long": 3}
    pd.DataFrame([row]).to_csv(path, index=False)
    return str(path)
