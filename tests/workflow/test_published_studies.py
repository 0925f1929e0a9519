"""The configs of the published study, run on stand-ins: files in the track's format and tiny models of the same kinds."""

import pandas as pd
import pytest
import tiny
import tiny_encoder
import yaml
from checkouts import ROOT, copied
from tiny_nli import tiny_nli
from transformers import BertForMaskedLM, BertModel
from trec_files import trec_files

from whobenefits.tables import ATTRIBUTIONS, CORPUS, QUERIES, REQUESTS, RUN, read_table


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory):
    """Addresses of tiny models by the kind of asset, and the paths of the three files."""
    folder = tmp_path_factory.mktemp("stand-ins")
    made = {
        "llama": tiny.tiny_llm(folder / "llama"),
        "gemma": tiny.tiny_llm(folder / "gemma", "gemma2"),
        "contriever": tiny_encoder.tiny_bert(folder / "contriever", BertModel),
        "splade": tiny_encoder.tiny_bert(folder / "splade", BertForMaskedLM),
        "roberta": tiny_nli(folder / "roberta"),
    }
    files = trec_files(folder / "trec", 400, mean_words=20, share=0.2)
    return made, {name: str(getattr(files, name)) for name in ("corpus", "metadata", "topics")}


def study(name, stand_ins, **grid):
    """The settings of a study on the stand-ins: its protocol as it is, its sizes small."""
    models, files = stand_ins
    config = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text())
    config["dataset"] = {k: v for k, v in config["dataset"].items() if k != "ir_datasets"} | files | {"max_words": 30}
    for asset in config["assets"]:
        (kind,) = (kind for kind in models if asset.startswith(kind))
        config["assets"][asset] = {"address": f"file:{models[kind]}", "licence": "none"}
    for part in (*config["retrievers"].values(), config["attribution"]):
        if "max_length" in part:
            part["max_length"] = 32
    for llm in config["llms"].values():
        llm |= {"dtype": "float32", "context_tokens": 300, "batch_tokens": 4000}
    for task in config["tasks"].values():
        task["max_new_tokens"] = 4
    config["retrieval"] |= {"depth": 2, "context_size": 2}
    config["queries"] = {"cells": ["alphabetical"]} | {k: v for k, v in config["queries"].items() if k == "ids"}
    config["grid"] |= grid | {"categories": ["alphabetical", "age-of-article"]}
    return config


@pytest.mark.parametrize("name", ["paper", "authors"])
def test_the_study_as_it_is_can_be_planned_without_any_of_its_files(name, tmp_path):
    checkout = copied(tmp_path, yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text()))
    planned = checkout.planned()
    # 3 topics, 2 tasks, 3 retrievers, 2 LLMs
    assert (planned["prepare_dataset"], planned["retrieve"], planned["plan_requests"]) == (3, 18, 6)
    assert planned["generate"] == planned["attribute_by_model"] == planned["measure_groups"] == 12
    assert (planned["unite_topics"], planned["encode_corpus"]) == ((1, 2) if name == "authors" else (0, 6))
    assert planned["fetch_trec_fair"] == 1


def test_the_paper_s_protocol_runs_from_the_track_s_files_to_the_page(stand_ins, tmp_path):
    grid = {"topics": ["cities"], "tasks": ["title"], "retrievers": ["bm25"], "llms": ["llama-3.1-8b"]}
    checkout = copied(tmp_path, study("paper", stand_ins, **grid))
    checkout.run()
    found = read_table(ATTRIBUTIONS, checkout.results / "cities/title/llama-3.1-8b/attributions.parquet")
    # probabilities of entailment; 4 queries with 2 documents each
    assert len(found) == 8 and found["score"].between(0, 1).all()
    assert "Cities" in (checkout.results / "report/index.html").read_text()


def test_the_authors_protocol_retrieves_from_all_topics_for_the_queries_that_are_given(stand_ins, tmp_path):
    topics = ["cities", "geography"]
    grid = {"topics": topics, "tasks": ["article"], "retrievers": ["bm25", "splade"], "llms": ["gemma-2-9b"]}
    config = study("authors", stand_ins, **grid)
    ids = config["queries"].pop("ids")
    checkout = copied(tmp_path, config)
    checkout.run("--", *(f"results/authors/{topic}/queries.parquet" for topic in topics))
    # Two queries of each topic are given, and one that is no document.
    for topic in topics:
        drawn = read_table(QUERIES, checkout.results / topic / "queries.parquet")["query_id"].tolist()[:2]
        path = tmp_path / ids.format(topic=topic)
        path.write_text("\n".join(["query_id", *drawn, "1"]) + "\n")
    config["queries"]["ids"] = ids
    checkout.run()
    union = set(read_table(CORPUS, checkout.results / "_union/corpus.parquet")["doc_id"])
    own = {topic: set(read_table(CORPUS, checkout.results / topic / "corpus.parquet")["doc_id"]) for topic in topics}
    assert union == own["cities"] | own["geography"] and own["cities"] != own["geography"]
    for topic in topics:
        summary = pd.read_csv(checkout.results / topic / "dataset.csv").iloc[0]
        assert (summary["queries"], summary["queries_given"], summary["queries_missing"]) == (2, 3, 1)
        requests = read_table(REQUESTS, checkout.results / topic / "article/requests.parquet")
        assert requests["query_id"].nunique() == 2
        run = read_table(RUN, checkout.results / topic / "article/runs/splade.parquet")
        assert not (run["query_id"] == run["doc_id"]).any()
    retrieved = pd.concat(read_table(RUN, checkout.results / topic / "article/runs/splade.parquet") for topic in topics)
    assert set(retrieved["doc_id"]) <= union
