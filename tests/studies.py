"""A whole study made up from a seed, with documents, prompts, answers and scores: for tests of the page."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import synthetic

from whobenefits.generation.plan import request_plan
from whobenefits.generation.prompts import read_template
from whobenefits.measures.accuracy import query_accuracy
from whobenefits.measures.factors import document_factors
from whobenefits.measures.groups import group_measures
from whobenefits.report.inputs import Results
from whobenefits.report.lookup import TaskTables, TopicTables, write_queries
from whobenefits.report.page import Parts
from whobenefits.report.sample import query_rows
from whobenefits.statistics import correlations_of, ranges_of

PROMPTS = Path(__file__).parents[1] / "config/prompts/paper"
WORDS = [
    "river",
    "lake",
    "mountain",
    "city",
    "old",
    "new",
    "north",
    "bridge",
    "capital",
    "island",
    "coast",
    "valley",
    "road",
    "park",
    "people",
    "water",
]
# What a corpus can hold to break a page: markup, script, a formula, marks that turn the direction of text.
HOSTILE = {
    "title": '</script><script>document.title = "broken"</script><b onmouseover="alert(1)">bold & "quoted"',
    "text": '=HYPERLINK("http://example.org") $x^2$ \\textbf{x} <img src=x onerror="document.title=\'broken\'"> ]]> --> '
    "\u202egnirts desrever\u202c \u2066isolated\u2069 zero\u200bwidth \u2028 line, הגוב שלום",
}


def grid(published=False):
    """Labels of a small grid, or of one of the published study's size."""
    if not published:
        return synthetic.labels(retrievers=2, llms=2, categories=2)
    return synthetic.labels(topics=3, retrievers=3, llms=2, categories=4)


def topic_tables(labels, topic, queries, documents, k, words, random):
    """Tables of one topic: its documents, the first of them hostile and a query, and for each task what came of them."""
    ids = [f"{topic}-d{i}" for i in range(documents)]
    corpus = pd.DataFrame(
        {"doc_id": ids, "title": _texts(documents, 2, random), "text": _texts(documents, words, random)}
    )
    corpus.loc[0, ["title", "text"]] = [HOSTILE["title"], HOSTILE["text"]]
    groups = pd.concat([
        pd.DataFrame({"doc_id": ids, "category": name, "group": random.choice(item["groups"], documents)})
        for name, item in labels["categories"].items()
    ])  # fmt: skip
    drawn = pd.DataFrame({"query_id": ids[:queries], "cell": ids[:queries]})
    tasks = {task: _task(task, labels, drawn, ids, k, random) for task in labels["tasks"]}
    return TopicTables(drawn, corpus, groups, {task: tables for task, (tables, _) in tasks.items()}), {
        task: runs for task, (_, runs) in tasks.items()
    }


def _texts(count, words, random):
    return [" ".join(random.choice(WORDS, words)).capitalize() for _ in range(count)]


def _task(task, labels, drawn, ids, k, random):
    runs = {name: _run(drawn["query_id"], ids, k, random) for name in labels["retrievers"]}
    templates = {name: read_template(PROMPTS / f"{task}.{name}.txt") for name in ("llm", "rag", "doc")}
    requests = request_plan(drawn["query_id"].tolist(), runs, templates, k)
    answers, scores, factors = {}, {}, {}
    for llm in labels["llms"]:
        answers[llm] = _answers(requests, random)
        scores[llm] = _scores(requests, random)
        factors[llm] = document_factors(requests, scores[llm], _attributions(runs, random), runs, k)
    return TaskTables(requests, templates, answers, scores, factors), runs


def _run(queries, ids, k, random):
    rows = [
        {"query_id": query, "doc_id": doc, "rank": rank, "score": 1 / rank}
        for query in queries
        for rank, doc in enumerate(_picked(ids, query, k, random), 1)
    ]
    return pd.DataFrame(rows)


def _picked(ids, query, k, random):
    # The hostile document is found by every second query.
    first = [ids[0]] if query != ids[0] and int(query.rpartition("-d")[2]) % 2 else []
    others = [ids[i] for i in random.choice(np.arange(1, len(ids)), k + 1, replace=False) if ids[i] != query]
    return (first + others)[:k]


def _answers(requests, random):
    asked = requests["request_id"].drop_duplicates()
    texts = [" ".join(random.choice(WORDS, 6)) for _ in asked]
    texts[0] = '<i>answer</i> </textarea><script>document.title="broken"</script>'
    return pd.DataFrame({"request_id": asked, "answer": texts, "prompt_tokens": 100, "cut_tokens": 0, "new_tokens": 6, "finish_reason": "stop"})  # fmt: skip


def _scores(requests, random):
    asked = requests.drop_duplicates("request_id")
    level = asked["setting"].map({"llm": 2.0, "doc": 2.5, "rag": 3.5})
    return pd.DataFrame({"request_id": asked["request_id"], "measure": "rouge-l-f1", "value": random.beta(level, 8)})


def _attributions(runs, random):
    parts = [run[["query_id", "doc_id"]].assign(retriever=name) for name, run in runs.items()]
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(score=0.5, attributed=random.random(len(rows)) < 0.4)


def made(labels, queries=8, documents=30, k=3, words=12, seed=0):
    """The topics' tables by name, and the result tables, whose intervals and tests have the right form and no meaning."""
    random = np.random.default_rng(seed)
    categories = {name: item["groups"] for name, item in labels["categories"].items()}
    topics, measures = {}, []
    for topic in labels["topics"]:
        topics[topic], runs = topic_tables(labels, topic, queries, documents, k, words, random)
        for task, tables in topics[topic].tasks.items():
            for llm in labels["llms"]:
                outcomes = query_accuracy(tables.requests, tables.scores[llm], runs[task])
                place = {"topic": topic, "task": task, "llm": llm}
                measures.append(group_measures(outcomes.assign(**place), tables.factors[llm], topics[topic].groups, topics[topic].queries, categories))  # fmt: skip
    whole = pd.concat(measures, ignore_index=True)
    tables = whole, ranges_of(whole, categories), correlations_of(whole, categories)
    return topics, with_uncertainty(*tables, labels, seed)


def with_uncertainty(measures, ranges, correlations, labels, seed=0):
    """The tables with made-up intervals and tests."""
    return Results(*synthetic.uncertain(measures, ranges, correlations, labels, np.random.default_rng(seed + 1)))


FIGURES = ("group_accuracy", "figure2", "figure3", "ranges", "figure4", "figure5", "correlation_map")


def parts(topics, folder, published=None):
    """What the page is made from beside the tables, as files in the folder; figures are drawn, or else frames."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name in FIGURES:
        if not (folder / f"figures/{name}.svg").exists():
            (folder / f"figures/{name}.svg").write_text(
                '<svg width="300pt" height="10pt"><rect width="9" height="9"/></svg>'
            )
    rows = []
    for topic, tables in topics.items():
        files = write_queries(topic, tables, folder / "queries")
        titles = tables.corpus.set_index("doc_id")["title"]
        names = {query: titles[query] for query in tables.queries["query_id"]}
        rows += query_rows(topic, files, names, outcomes(topic, tables))
    (folder / "queries/list.json").write_text(json.dumps(rows))
    summaries = [synthetic.summary(folder / f"{topic}.csv", topic) for topic in topics]
    figures = {path.stem: path for path in sorted((folder / "figures").glob("*.svg"))}
    return Parts(summaries, figures, folder / "queries", RECORD, "@software{x}", published)


def outcomes(topic, tables):
    """The outcomes of all queries of a topic."""
    return pd.concat([
        query_accuracy(part.requests, part.scores[llm], part.factors[llm]["retriever"].unique()).assign(topic=topic, task=task, llm=llm)
        for task, part in tables.tasks.items()
        for llm in part.answers
    ])  # fmt: skip


RECORD = {
    "commit": "0123abc",
    "versions": {"python": "3.11"},
    "machine": {"system": "Linux", "processor": "P", "cores": "2"},
    "worked": ["2026-01-01 10:00:00", "2026-01-01 11:00:00"],
    "seconds": {"generate": {"jobs": 2, "timed": 2, "seconds": 61.5}},
    "counts": [],
    "files": {},
}
