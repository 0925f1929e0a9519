import getpass
import json
import os
import platform
import re

import pandas as pd
import studies
import synthetic

from whobenefits.manifests import asset_identity, write_manifest
from whobenefits.report.crate import crate, write_crate
from whobenefits.report.provenance import provenance, shown, write_provenance
from whobenefits.report.records import (
    answer_counts,
    commit,
    job_seconds,
    log_seconds,
    log_span,
    machine,
    store_counts,
    versions,
)
from whobenefits.tables import ANSWERS, REQUESTS, write_table

LOG = """2026-12-01 23:59:50,500 162 prompts: 42 in the store, 120 to generate
Loading weights
2026-12-02 00:00:10,750 60 of 120 prompts generated
2026-12-02 00:01:00,000 120 of 120 prompts generated
"""
GRID = synthetic.labels(tasks=1, retrievers=1, llms=1, categories=1)


def test_a_log_tells_how_long_it_covers_and_what_came_from_the_store():
    # from 23:59:50.5 to 00:01:00.0 the next day: 69.5 seconds
    assert log_seconds(LOG) == 69.5 and store_counts(LOG) == (42, 120)
    assert (
        log_seconds("nothing") is None and log_seconds(LOG.splitlines()[0]) is None and store_counts("nothing") is None
    )


def test_seconds_of_a_stage_are_summed_over_the_logs_that_tell_them(tmp_path):
    for name, text in (("a/one.log", LOG), ("b/two.log", LOG), ("b/three.log", "no time")):
        (tmp_path / "generate" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "generate" / name).write_text(text)
    assert job_seconds(tmp_path, "generate") == {"jobs": 3, "timed": 2, "seconds": 139.0}
    assert job_seconds(tmp_path, "retrieve") == {"jobs": 0, "timed": 0, "seconds": None}
    assert log_span(tmp_path) == ["2026-12-01 23:59:50", "2026-12-02 00:01:00"]
    assert log_span(tmp_path / "nowhere") == []


REQUEST = {"query_id": "q", "setting": "llm", "retriever": None, "doc_id": None, "doc_ids": []}
PLAN = pd.DataFrame(
    [
        {"request_id": "a"} | REQUEST,
        {"request_id": "a"} | REQUEST | {"query_id": "r"},
        {"request_id": "b"} | REQUEST | {"query_id": "s"},
    ]
)
ANSWER = {"answer": "x", "prompt_tokens": 10, "new_tokens": 3, "finish_reason": "stop"}
MADE = pd.DataFrame([{"request_id": "a", "cut_tokens": 0} | ANSWER, {"request_id": "b", "cut_tokens": 7} | ANSWER])


def test_prompts_are_counted_and_what_no_log_tells_is_unknown(tmp_path):
    (tmp_path / "x.log").write_text(LOG)
    (tmp_path / "y.log").write_text("killed before it said anything")
    counts = answer_counts(PLAN, MADE, [tmp_path / "x.log"])
    assert counts == {
        "asked for": 3, "distinct prompts": 2, "from the store": 42, "generated": 120,
        "prompt tokens": 20, "new tokens": 6, "shortened prompts": 1,
    }  # fmt: skip
    for logs in ([tmp_path / "x.log", tmp_path / "y.log"], []):
        assert answer_counts(PLAN, MADE, logs)["generated"] is None


def test_a_folder_that_is_no_checkout_has_no_commit(tmp_path):
    assert commit(tmp_path) == "not on record"


def test_the_machine_is_told_without_its_name_or_user():

    text = json.dumps(machine())
    assert platform.node() not in text or len(platform.node()) < 3
    assert f'"{getpass.getuser()}"' not in text and versions()["python"] == platform.python_version()


def record(tmp_path):
    """The provenance of a run with two shards, of which an earlier split has left a log."""
    write_table(PLAN, REQUESTS, tmp_path / "requests.parquet")
    write_table(MADE, ANSWERS, tmp_path / "answers.parquet")
    place = tmp_path / "logs/generate/topic0/article/llm0"
    place.mkdir(parents=True)
    (place / "1-of-1.log").write_text(LOG)

    os.utime(place / "1-of-1.log", (1, 1))
    for shard in ("1-of-2", "2-of-2"):
        (place / f"{shard}.log").write_text(LOG)
    model = tmp_path / "resources/model"
    model.mkdir(parents=True)
    write_manifest(model, {"files": {"m": {"bytes": 3, "sha256": "ab"}}})
    cell = {"topic": "topic0", "task": "article", "llm": "llm0"} | {
        name: str(tmp_path / f"{name}.parquet") for name in ("requests", "answers")
    }
    return provenance(synthetic.ABOUT, GRID, [cell], [str(model / "asset.json")], tmp_path / "logs", tmp_path)


def test_the_record_counts_the_newest_shards_and_names_each_file_of_a_model(tmp_path):
    found = record(tmp_path)
    assert found["counts"][0]["generated"] == 240 and found["commit"] == "not on record"
    model = found["files"]["model"]
    assert model["files"] == {"m": {"bytes": 3, "sha256": "ab"}}
    assert model["identity"] == asset_identity(tmp_path / "resources/model")
    assert found["settings"] == synthetic.ABOUT


def test_the_page_shows_counts_seconds_and_what_is_not_on_record(tmp_path):
    rows = shown(record(tmp_path), GRID)
    facts = dict(rows["facts"])
    # three logs of 69.5 seconds
    assert facts["seconds of generation"].startswith("208 (between") or facts["seconds of generation"].startswith(
        "209 (between"
    )
    assert facts["seconds of retrieval"] == "not on record" and facts["GPU"].startswith("not on record")
    assert rows["counts"][1] == [["Topic 0", "Article generation", "Model 0", "3", "2", "84", "240", "20", "6", "1"]]


def test_the_files_can_be_read_back(tmp_path):
    found = record(tmp_path)
    (tmp_path / "c.cff").write_text("title: T\ntype: software\nauthors: [{name: N}]\n")
    dataset = pd.read_csv(synthetic.summary(tmp_path / "d.csv", "topic0"))
    write_provenance(found, dataset, tmp_path / "c.cff", tmp_path / "report")
    assert json.loads((tmp_path / "report/provenance.json").read_text()) == json.loads(json.dumps(found))
    assert "12 queries, 100 documents" in (tmp_path / "report/methods.tex").read_text()
    assert "@misc{whobenefits," in (tmp_path / "report/citation.bib").read_text()


def entities(found):
    return {entity["@id"]: entity for entity in found["@graph"]}


def test_the_crate_describes_its_files_and_points_only_to_what_it_describes(tmp_path):
    (tmp_path / "report").mkdir()
    for name in ("measures.parquet", "report/index.html"):
        (tmp_path / name).write_text("abc")
    (tmp_path / "provenance.json").write_text(json.dumps(studies.RECORD | {"name": "n", "settings": synthetic.ABOUT}))
    write_crate(tmp_path / "provenance.json", tmp_path, [tmp_path / "report/index.html", tmp_path / "measures.parquet"])
    found = entities(json.loads((tmp_path / "ro-crate-metadata.json").read_text()))
    assert found["./"]["hasPart"] == [{"@id": "measures.parquet"}, {"@id": "report/index.html"}]
    assert (
        found["report/index.html"] | {"encodingFormat": "text/html", "contentSize": "3"} == found["report/index.html"]
    )
    assert found["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert found["#run"]["startTime"] == "2026-01-01T10:00:00" and found["./"]["datePublished"] == "2026-01-01"
    assert found["#asset-model"]["description"] == "m: sha256 0" and "Apache-2.0" in found["./"]["license"]
    text = json.dumps(list(found.values()))
    pointed = set(re.findall(r'\{"@id": "([^"]+)"\}', text))
    assert pointed - set(found) == {"https://w3id.org/ro/crate/1.1"}


def test_what_is_not_on_record_is_left_out_of_the_crate(tmp_path):
    found = entities(crate(studies.RECORD | {"name": "n", "settings": synthetic.ABOUT, "worked": []}, tmp_path, []))
    assert "startTime" not in found["#run"] and "datePublished" not in found["./"]
