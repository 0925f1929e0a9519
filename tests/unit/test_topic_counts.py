import importlib.util
import json
from pathlib import Path

import pandas as pd
import pytest
from trec_files import trec_files

from whobenefits.categories import TREC_FAIR
from whobenefits.code import SCRIPTS, code_of
from whobenefits.datasets.form import topic_documents
from whobenefits.datasets.topic_counts import selected_topic, topic_counts
from whobenefits.datasets.trec_fair import TrecFair
from whobenefits.errors import DataError

CELLS = ["age-of-topic", "popularity"]


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(folder: Path, topics: dict[int, list[int]], titles: dict[int, str] | None = None) -> list[str]:
    """Files in which the documents 1 to 5 are usable, 6 is too long, 7 has no label and 8 is missing."""
    corpus = [
        {"id": i, "title": (titles or {}).get(i, f"T{i}"), "plain": "word " * (9 if i == 6 else 1)} for i in range(1, 8)
    ]
    metadata = [
        {"page_id": i, "years_category": "Unknown", "relative_pageviews_category": "" if i == 7 else "Low"}
        for i in range(1, 9)
    ]
    projects = [{"id": i, "title": f"Project {i}", "rel_docs": doc_ids} for i, doc_ids in topics.items()]
    paths = []
    for name, rows in (("corpus", corpus), ("metadata", metadata), ("topics", projects)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(str(folder / name))
    return paths


def counts(paths: list[str]) -> pd.DataFrame:
    return topic_counts(TrecFair(*map(Path, paths), TREC_FAIR), CELLS, 5)


def test_topics_are_ordered_by_the_documents_that_stay_and_then_by_id(tmp_path):
    topics = {30: [1, 2, 8], 7: [1, 6, 7, 8], 9: [3, 4, 4], 100: [8], 5: [1, 2, 3, 6]}
    assert counts(written(tmp_path, topics)).to_dict("list") == {
        "rank": [1, 2, 3, 4, 5],
        "topic_id": [5, 9, 30, 7, 100],
        "title": ["Project 5", "Project 9", "Project 30", "Project 7", "Project 100"],
        "listed": [4, 2, 3, 4, 1],
        "documents": [3, 2, 2, 1, 0],
    }


def test_documents_with_the_same_title_count_once_in_each_topic(tmp_path):
    paths = written(tmp_path, {1: [1, 2], 2: [2, 3], 3: [1]}, {1: "Bonn", 2: "BONN"})
    assert counts(paths).set_index("topic_id")["documents"].to_dict() == {1: 1, 2: 2, 3: 1}


def test_the_counts_are_those_of_the_topics_own_documents(tmp_path):
    files = trec_files(tmp_path, 600, seed=2, mean_words=10, share=0.4)
    source = TrecFair(files.corpus, files.metadata, files.topics, TREC_FAIR)
    for _, row in topic_counts(source, CELLS, 20).iterrows():
        documents = topic_documents(source, str(row["topic_id"]), TREC_FAIR, CELLS, 20)
        assert (row["documents"], row["title"]) == (
            len(documents.corpus),
            documents.about["wikiproject"].split(" ", 1)[1],
        )


def test_a_topic_by_its_size_is_the_one_in_that_row(tmp_path):
    counts(written(tmp_path, {30: [1, 2], 7: [1, 2], 9: [8]})).to_csv(tmp_path / "topics.csv", index=False)
    assert [selected_topic(f"largest {n}", tmp_path / "topics.csv") for n in (1, 2)] == ["7", "30"]
    with pytest.raises(DataError, match=r"topics\.csv: 'largest 3' selects nothing: 2 WikiProjects have documents"):
        selected_topic("largest 3", tmp_path / "topics.csv")
    assert selected_topic("666", None) == "666"


def test_the_scripts_count_all_topics_and_prepare_the_largest(tmp_path):
    paths = written(tmp_path, {30: [1, 2, 3], 7: [1, 2]})
    dataset = {"source": "trec-fair", "max_words": 5, "categories": {}}
    script("count_topics").main(data=paths, topics=str(tmp_path / "topics.csv"), dataset=dataset, cells=CELLS)
    tables = {name: str(tmp_path / name) for name in ("corpus", "groups", "queries", "summary")}
    script("prepare_dataset").main(
        data=[str(tmp_path / name) for name in ("corpus", "metadata", "topics")],
        counts=str(tmp_path / "topics.csv"),
        ids=None,
        tables=tables | {"corpus": str(tmp_path / "corpus.parquet")},
        topic={"slug": "most", "label": "Most", "select": "largest 1"},
        dataset=dataset,
        cells=CELLS,
        seed=1,
        max_queries=None,
    )
    summary = pd.read_csv(tables["summary"]).iloc[0]
    assert (summary["wikiproject"], summary["documents"], summary["queries"]) == ("30 Project 30", 3, 1)


def test_the_scripts_do_not_depend_on_the_settings_module():
    for name in ("count_topics", "fetch_trec_fair", "prepare_dataset"):
        assert not [path for path in code_of(name) if path.endswith("config.py") or "/settings/" in path]
