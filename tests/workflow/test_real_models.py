"""The demo's own models and data on two queries and a few tokens, recomputed from the answers in plain Python."""

import math
import re
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from checkouts import ROOT, copied
from markupsafe import escape

from whobenefits import tables
from whobenefits.uncertainty.grid import GRID_TABLES
from whobenefits.uncertainty.study import TABLES

CATEGORIES = {
    "age-of-topic": ["Unknown", "Pre-1900s", "20th century", "21st century"],
    "alphabetical": ["a-d", "e-k", "l-r", "s-"],
}
TASKS, RETRIEVERS, LLMS = ("article", "title"), ("bm25", "splade", "minilm"), ("smollm2-135m", "gemma3-270m")
K = 2


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A whole run; models and data are fetched into the checkout's resources folder, once for all test runs."""
    config = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    config["results"], config["resources"] = "results", str(ROOT / "resources")
    config["grid"]["categories"] = list(CATEGORIES)
    config["queries"] = {"cells": list(CATEGORIES), "max_queries": 2}
    config["retrieval"] = {"depth": 3, "context_size": K}
    config["tasks"] = {
        "article": {"beams": 2, "max_new_tokens": 5, "stop": "pattern"},
        "title": {"beams": 4, "max_new_tokens": 4, "stop": "line"},
    }
    checkout = copied(tmp_path_factory.mktemp("real"), config)
    checkout.run()
    return checkout


def rows(run, path):
    return pq.read_table(run.results / path).to_pylist()


def lcs(a, b):
    """Length of the longest common subsequence, the textbook's table."""
    line = [0] * (len(b) + 1)
    for x in a:
        new = [0]
        for j, y in enumerate(b, 1):
            new.append(line[j - 1] + 1 if x == y else max(new[-1], line[j]))
        line = new
    return line[-1]


def rouge_l(reference, answer):
    a, b = (re.sub(r"[^a-z0-9]+", " ", text.lower()).split() for text in (reference, answer))
    hits = lcs(a, b)
    return 0.0 if hits == 0 else 2 * (hits / len(a)) * (hits / len(b)) / (hits / len(a) + hits / len(b))


def test_every_artefact_has_its_schema(run):
    topic = "geography"
    kinds = {
        f"{topic}/{n}.parquet": t
        for n, t in (("corpus", tables.CORPUS), ("groups", tables.GROUPS), ("queries", tables.QUERIES))
    }
    kinds |= {f"{topic}/{k}/runs/{r}.parquet": tables.RUN for k, r in product(TASKS, RETRIEVERS)}
    kinds |= {f"{topic}/{k}/requests.parquet": tables.REQUESTS for k in TASKS}
    stages = ("answers", "scores", "attributions", "outcomes", "factors", "measures")
    kinds |= {f"{topic}/{k}/{m}/{s}.parquet": getattr(tables, s.upper()) for k, m, s in product(TASKS, LLMS, stages)}
    kinds |= {f"{topic}/{k}/{m}/shards/1-of-1.parquet": tables.ANSWERS for k, m in product(TASKS, LLMS)}
    kinds |= {f"{topic}/{k}/{m}/uncertainty/{n}.parquet": t for k, m in product(TASKS, LLMS) for n, t in TABLES.items()}
    kinds |= {f"{n}.parquet": t for n, t in GRID_TABLES.items()}
    for path, table in kinds.items():
        assert len(tables.read_table(table, run.results / path)) > 0, path
    written = {str(p.relative_to(run.results)) for p in run.results.rglob("*.parquet")}
    assert written == set(kinds)


def test_runs_leave_out_the_querys_own_document_and_are_the_same_as_trec_files(run):
    queries = {row["query_id"] for row in rows(run, "geography/queries.parquet")}
    assert len(queries) == 2
    for task, retriever in product(TASKS, RETRIEVERS):
        run_rows = rows(run, f"geography/{task}/runs/{retriever}.parquet")
        assert all(row["doc_id"] != row["query_id"] for row in run_rows)
        lines = (run.results / f"geography/{task}/runs/{retriever}.trec").read_text().splitlines()
        as_trec = [(q, d, int(r), float(s)) for q, _, d, r, s, _ in map(str.split, lines)]
        assert as_trec == [tuple(row.values()) for row in run_rows]
        if retriever == "minilm":
            assert [row["rank"] for row in run_rows] == [1, 2, 3] * 2


@pytest.mark.parametrize(("task", "llm"), list(product(TASKS, LLMS)))
def test_every_number_follows_from_the_answers(run, task, llm):
    """From answers to ranges, with dictionaries and loops only."""
    cell = f"geography/{task}/{llm}"
    corpus = {row["doc_id"]: row for row in rows(run, "geography/corpus.parquet")}
    answers = {row["request_id"]: row["answer"] for row in rows(run, f"{cell}/answers.parquet")}
    queries = [row["query_id"] for row in rows(run, "geography/queries.parquet")]
    group = {(row["doc_id"], row["category"]): row["group"] for row in rows(run, "geography/groups.parquet")}
    support = {
        (r["query_id"], r["retriever"], r["doc_id"]): r["attributed"] for r in rows(run, f"{cell}/attributions.parquet")
    }
    score = {}
    for row in rows(run, f"geography/{task}/requests.parquet"):
        reference = corpus[row["query_id"]]["text" if task == "article" else "title"]
        key = (row["query_id"], row["setting"], row["retriever"] or row["doc_id"])
        score[key] = rouge_l(reference, answers[row["request_id"]])
    expected = {}
    for category, groups in CATEGORIES.items():
        for name in groups:
            of_group = [q for q in queries if group[q, category] == name]
            expected["none", category, name, "ac_llm"] = average([score[q, "llm", None] for q in of_group])
            for retriever in RETRIEVERS:
                rag = average([score[q, "rag", retriever] for q in of_group])
                expected[retriever, category, name, "ac_rag"] = rag
                expected[retriever, category, name, "delta"] = rag - expected["none", category, name, "ac_llm"]
        for retriever in RETRIEVERS:
            top = [r for r in rows(run, f"geography/{task}/runs/{retriever}.parquet") if r["rank"] <= K]
            pairs = [(r["query_id"], r["doc_id"]) for r in top]
            gain = {(q, d): max(score[q, "doc", d] - score[q, "llm", None], 0) for q, d in pairs}
            for factor, value in (
                ("utility", lambda q, d, gain=gain: gain[q, d]),
                ("exposure", lambda q, d: 1.0),
                ("attribution", lambda q, d, r=retriever: float(support[q, r, d])),
            ):
                sums = {g: sum(value(q, d) for q, d in pairs if group[d, category] == g) / len(queries) for g in groups}
                for name in groups:
                    whole = sum(sums.values())
                    expected[retriever, category, name, f"{factor}_mean"] = sums[name]
                    expected[retriever, category, name, factor] = sums[name] / whole if whole else math.nan
    got = {
        (r["retriever"], r["category"], r["group"], r["measure"]): r["value"]
        for r in rows(run, "measures.parquet")
        if r["task"] == task and r["llm"] == llm and r["category"] != "all"
    }
    assert got.keys() == expected.keys()
    for key, value in expected.items():
        assert same(got[key], value), (key, got[key], value)
    for row in rows(run, "ranges.parquet"):
        if row["task"] == task and row["llm"] == llm:
            measure = {"r_llm": "ac_llm", "r_rag": "ac_rag", "r_delta": "delta"}[row["measure"]]
            values = [expected[row["retriever"], row["category"], g, measure] for g in CATEGORIES[row["category"]]]
            values = [value for value in values if not math.isnan(value)]
            assert same(row["value"], (max(values) - min(values)) * 100 if len(values) > 1 else math.nan), row


def average(values):
    return sum(values) / len(values) if values else math.nan


def same(a, b):
    a = math.nan if a is None else a
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)


def test_titles_are_one_line_and_counts_of_tokens_fit_the_settings(run):
    for llm in LLMS:
        for row in rows(run, f"geography/title/{llm}/answers.parquet"):
            assert "\n" not in row["answer"] and row["new_tokens"] <= 4 and row["cut_tokens"] == 0
            assert row["finish_reason"] in ("stop", "length")


def test_a_second_run_has_nothing_to_do(run):
    assert "Nothing to be done" in run.run()


def test_the_report_is_whole(run):
    report = run.results / "report"
    names = {p.relative_to(report).as_posix() for p in report.rglob("*") if p.is_file()}
    figures = ("group_accuracy", "figure2", "figure3", "figure4", "figure5", "ranges", "correlation_map")
    expected = {"index.html", "finding.txt", "provenance.json", "methods.tex", "citation.bib"}
    expected |= {f"figures/{n}.{s}" for n, s in product(figures, ("svg", "pdf", "png", "csv"))}
    expected |= {f"tables/table{n}.{s}" for n, s in product((2, 3, 4), ("csv", "md"))}
    expected |= {f"tables/table{n}.tex" for n in (2, 3, 4, 5, 6)}
    assert {name for name in names if not name.startswith("queries/")} == expected
    assert any(name.startswith("queries/") for name in names)
    text = (report / "index.html").read_text()
    assert all(str(escape(line)) in text for line in (report / "finding.txt").read_text().splitlines())
    assert Path(report / "figures/figure2.png").stat().st_size > 10_000
