"""How long the uncertainty of a grid as large as the published study's takes.

    .venv/bin/python benchmarks/uncertainty.py [DRAWS] [PROCESSES]

Made-up scores in tables of the study's size: 3 topics (159, 144 and 245 queries), 2 tasks, 3 retrievers, 2 LLMs, 4
categories of 4 groups, 10 documents for each query; one process takes a topic, task and LLM at a time. Prints the
seconds of each cell and of the whole grid; 10,000 draws and 2 processes unless told otherwise.
"""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

# Before numpy is loaded: the processes share the cores between them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow/lib"))

from whobenefits.uncertainty.study import cell_uncertainty  # noqa: E402

QUERIES = {"cities": 159, "geography": 144, "military-history": 245}
TASKS, LLMS, RETRIEVERS = ("article", "title"), ("llama", "gemma"), ("bm25", "contriever", "splade")
CATEGORIES = {f"category-{i}": [f"group-{j}" for j in range(4)] for i in range(4)}
DOCUMENTS, CONTEXT_SIZE, SEED = 2000, 10, 20


def cell_tables(topic: str, task: str, llm: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Outcomes, factors and groups of one cell."""
    rng = np.random.default_rng(SEED)
    place, n = {"topic": topic, "task": task, "llm": llm}, QUERIES[topic]
    ids = [f"d{i}" for i in range(DOCUMENTS)]
    labels = {name: rng.choice(names, DOCUMENTS) for name, names in CATEGORIES.items()}
    groups = pd.concat(pd.DataFrame({"doc_id": ids, "category": name, "group": labels[name]}) for name in labels)
    e_llm = rng.beta(4, 16, n)
    outcomes = [pd.DataFrame({"retriever": "none", "query_id": ids[:n], "measure": "ac_llm", "value": e_llm})]
    factors = []
    for retriever in RETRIEVERS:
        e_rag = np.clip(e_llm + rng.normal(0.03, 0.1, n), 0, 1)
        for measure, value in (("ac_rag", e_rag), ("delta", e_rag - e_llm)):
            columns = {"retriever": retriever, "query_id": ids[:n], "measure": measure, "value": value}
            outcomes.append(pd.DataFrame(columns))
        factors.append(shown_documents(retriever, ids, n, rng))
    return pd.concat(outcomes).assign(**place), pd.concat(factors).assign(**place), groups


def shown_documents(retriever: str, ids: list[str], n: int, rng: np.random.Generator) -> pd.DataFrame:
    """The factors of the documents that one retriever shows for each query."""
    rows = [rng.choice(DOCUMENTS, CONTEXT_SIZE, replace=False) for _ in range(n)]
    count = n * CONTEXT_SIZE
    return pd.DataFrame(
        {
            "retriever": retriever,
            "query_id": np.repeat(ids[:n], CONTEXT_SIZE),
            "doc_id": [ids[i] for row in rows for i in row],
            "rank": np.tile(np.arange(1, CONTEXT_SIZE + 1), n),
            "utility": np.maximum(rng.normal(0, 0.05, count), 0),
            "exposure": 1.0,
            "attribution": (rng.random(count) < 0.3).astype(float),
        }
    )


def timed(cell: tuple[str, str, str], draws: int) -> tuple[tuple[str, str, str], float, int]:
    """The cell, the seconds its uncertainty took, and how many rows it has."""
    tables = cell_tables(*cell)
    start = time.perf_counter()
    found = cell_uncertainty(*tables, CATEGORIES, draws, SEED)
    return cell, time.perf_counter() - start, sum(map(len, found.values()))


def main(draws: int, processes: int) -> None:
    """Time the grid and print."""
    cells = list(product(QUERIES, TASKS, LLMS))
    start = time.perf_counter()
    with ProcessPoolExecutor(processes) as pool:
        for cell, seconds, rows in pool.map(timed, cells, [draws] * len(cells)):
            print(f"{' '.join(cell):32} {seconds:6.1f} s  {rows:,} rows", flush=True)
    print(f"{len(cells)} cells, {draws:,} draws, {processes} processes: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    given = [int(value) for value in sys.argv[1:]]
    main(*(given + [10_000, 2][len(given) :]))
