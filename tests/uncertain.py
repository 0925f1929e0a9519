"""Small arrays and tables for the tests of uncertainty."""

import numpy as np
import pandas as pd

from whobenefits.uncertainty.arrays import QueryArrays

PLACE = {"topic": "t", "task": "title", "llm": "m"}
GROUPS = ["Low", "Mid", "High", "Top"]


def arrays(llm, label, rag=None, factors=None, n_groups=None):
    """Arrays of queries with the scores `llm` (Q,) and groups `label` (Q,); `rag` (R, Q), `factors` (R, F, Q, G)."""
    label, llm = np.asarray(label), np.asarray(llm, dtype=float)
    n, groups = len(label), n_groups or int(label.max()) + 1
    rag = np.zeros((0, n)) if rag is None else np.asarray(rag, dtype=float)
    shape = (len(rag), 3, n, groups)
    return QueryArrays(
        place=PLACE | {"category": "size"},
        groups=tuple(GROUPS[:groups]),
        retrievers=tuple(f"r{i}" for i in range(len(rag))),
        queries=tuple(f"q{i}" for i in range(n)),
        label=label,
        llm=llm,
        rag=rag,
        factors=np.zeros(shape) if factors is None else np.asarray(factors, dtype=float).reshape(shape),
    )


def tables(seed, n=24, retrievers=("bm25", "splade"), documents=60, k=4):
    """Outcomes, factors, groups and queries of one topic, task and LLM; two categories, some documents unlabelled."""
    rng = np.random.default_rng(seed)
    ids = [f"d{i:02}" for i in range(documents)]
    size = pd.DataFrame({"doc_id": ids, "category": "size", "group": [GROUPS[i % 4] for i in range(documents)]})
    age = pd.DataFrame(
        {"doc_id": ids, "category": "age", "group": [["Old", "New"][i % 3 == 0] for i in range(documents)]}
    )
    e_llm, outcomes, factors = rng.beta(2, 8, n), [], []
    outcomes += [("none", q, "ac_llm", e) for q, e in zip(ids, e_llm, strict=False)]
    for name in retrievers:
        for q, e, gain in zip(ids, e_llm, rng.normal(0.02, 0.05, n), strict=False):
            rag = min(max(e + gain, 0), 1)
            outcomes += [(name, q, "ac_rag", rag), (name, q, "delta", rag - e)]
            for rank, i in enumerate(rng.choice(documents, k, replace=False), 1):
                utility, attribution = max(rng.normal(0, 0.1), 0), float(rng.random() < 0.4)
                factors.append((name, q, ids[i], rank, utility, 1.0, attribution))
    columns = ["retriever", "query_id", "doc_id", "rank", "utility", "exposure", "attribution"]
    return {
        "outcomes": pd.DataFrame(outcomes, columns=["retriever", "query_id", "measure", "value"]).assign(**PLACE),
        "factors": pd.DataFrame(factors, columns=columns).assign(**PLACE),
        "groups": pd.concat([size.iloc[:-4], age]),
        "queries": pd.DataFrame({"query_id": ids[:n], "cell": ids[:n]}),
    }


CATEGORIES = {"size": GROUPS, "age": ["Old", "New"]}


def only(rows, **where):
    """The one row with these values."""
    found = [row for row in rows if all(row[name] == value for name, value in where.items())]
    assert len(found) == 1
    return found[0]
