import csv

import pytest
from checkouts import copied
from trec_files import trec_files


def settings(files: dict[str, str]) -> dict:
    return {
        "name": "trec",
        "seed": 1,
        "results": "results",
        "grid": {
            "topics": ["most", "cities"],
            "tasks": ["title"],
            "retrievers": ["bm25"],
            "llms": ["none-of-it"],
            "categories": ["age-of-topic", "subcontinents", "regions"],
        },
        "dataset": {
            "source": "trec-fair",
            **files,
            "max_words": 40,
            "categories": {
                "regions": {
                    "field": "source_countries",
                    "label": "Sources",
                    "short": "Src",
                    "groups": ["UNK", "Several"],
                }
            },
        },
        "topics": {
            "most": {"label": "Most", "select": "largest 1"},
            "cities": {"label": "Cities", "select": "666"},
        },
        "queries": {"cells": ["age-of-topic", "popularity"]},
        "retrievers": {"bm25": {"kind": "bm25", "label": "BM25"}},
        "llms": {"none-of-it": {"label": "None", "model": "none-of-it"}},
        "tasks": {"title": {"beams": 1, "max_new_tokens": 4}},
        "attribution": {"kind": "overlap"},
        "assets": {"none-of-it": {"address": "file:none", "licence": "none"}},
    }


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trec")
    files = trec_files(folder / "data", 600, mean_words=30, share=0.5)
    paths = {name: str(getattr(files, name)) for name in ("corpus", "metadata", "topics")}
    return copied(folder, settings(paths))


SUMMARIES = [f"results/{topic}/dataset.csv" for topic in ("most", "cities")]


def rows(path) -> list[dict]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_topics_by_size_and_by_id_are_prepared_from_the_tracks_files(checkout):
    checkout.run("--", *SUMMARIES)
    counts = {row["topic_id"]: row for row in rows(checkout.results / "topics.csv")}
    most, cities = (rows(checkout.folder / path)[0] for path in SUMMARIES)
    # the generator's third topic has the most documents
    assert most["wikiproject"] == "1630 Military history" and cities["wikiproject"] == "666 Cities"
    assert (most["documents"], cities["documents"]) == (counts["1630"]["documents"], counts["666"]["documents"])
    assert "Nothing to be done" in checkout.run("--", *SUMMARIES)


def test_given_queries_are_read_and_a_missing_file_names_its_setting(checkout):
    drawn = checkout.folder / "results/cities/queries.parquet"
    before = drawn.read_bytes()
    checkout.config["queries"]["ids"] = "ids.{topic}.csv"
    checkout.config["results"] = "other"
    message = checkout.run("--", "other/cities/dataset.csv", ok=False)
    assert "queries.ids: there is no file ids.cities.csv: correct the path" in message
    (checkout.folder / "ids.cities.csv").write_text(
        "docno,label\n1,x\n" + "".join(f"{i},x\n" for i in range(300, 7000))
    )
    checkout.run("--", "other/cities/dataset.csv")
    summary = rows(checkout.results / "cities/dataset.csv")[0]
    assert int(summary["queries"]) == int(summary["documents"]) == 6701 - int(summary["queries_missing"])
    assert drawn.read_bytes() == before


def test_a_missing_corpus_names_its_setting(checkout):
    checkout.config["results"] = "third"
    checkout.config["dataset"]["corpus"] = "nowhere.json.gz"
    message = checkout.run("-n", ok=False)
    assert "dataset.corpus: there is no file nowhere.json.gz: correct the path" in message
