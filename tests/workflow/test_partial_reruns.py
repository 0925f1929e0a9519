"""What a change redoes, and nothing else: jobs are counted in dry runs, generated prompts in the store."""

import json
import re
import shutil
from collections import Counter

import pytest

from whobenefits.tables import REQUESTS, read_table

# Everything behind the answers of one cell, and everything behind all measures.
CELL = (
    *("gather_answers", "attribute", "score_answers", "measure_queries", "measure_groups", "measure_uncertainty"),
    "write_queries",
)
REPORT = ("write_report_tables", "draw_figures", "write_provenance", "write_page", "write_crate")


def jobs(**counts):
    return Counter({"all": 1, **counts})


def behind(**counts):
    """Jobs with the aggregation and the report behind them."""
    return jobs(aggregate=1, **dict.fromkeys(REPORT, 1), **counts)


def copy_of(checkout, folder):
    """A copy with its results and a config of its own."""
    shutil.copytree(checkout.folder, folder, symlinks=True)
    return type(checkout)(folder, json.loads(json.dumps(checkout.config)))


def prompts(checkout, task="title"):
    return set(read_table(REQUESTS, checkout.results / f"geography/{task}/requests.parquet")["request_id"])


def generated_by(checkout, shards):
    """What the jobs of a split into so many shards say of how much they had to generate."""
    logs = [path.read_text() for path in checkout.results.glob(f"logs/generate/**/*-of-{shards}.log")]
    return [re.search(r"(\d+) to generate", text)[1] for text in logs]


@pytest.fixture
def changed(tiny_run, tmp_path):
    return copy_of(tiny_run, tmp_path / "changed")


def test_touched_files_redo_nothing(tiny_run):
    for path in (tiny_run.folder / "workflow").rglob("*.py"):
        path.touch()
    assert tiny_run.planned() == Counter()


def test_a_moved_checkout_redoes_nothing(tiny_run, tmp_path):
    assert copy_of(tiny_run, tmp_path / "moved").planned() == Counter()


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("report/figures.py", jobs(draw_figures=1, write_page=1, write_crate=1)),
        ("report/templates/report.html", jobs(write_page=1, write_crate=1)),
        ("statistics.py", behind(measure_uncertainty=1)),
        ("uncertainty/grid.py", behind()),
        ("retrieval/dense.py", None),
    ],
)
def test_an_edit_redoes_its_stage_and_what_follows(tiny_run, module, expected):
    path = tiny_run.folder / "workflow/lib/whobenefits" / module
    text = path.read_text()
    path.write_text(text + "\n")
    planned = tiny_run.planned()
    path.write_text(text)
    if expected:
        assert planned == expected
    else:
        assert planned["encode_corpus"] == 1 and planned["retrieve"] == 1, planned
    assert tiny_run.planned() == Counter()


def test_another_category_generates_nothing_and_asks_no_model(changed):
    changed.config["grid"]["categories"].append("article-length")
    assert changed.planned() == behind(measure_groups=1, measure_uncertainty=1)


def test_another_label_redoes_only_the_report(changed):
    changed.config["retrievers"]["bm25"]["label"] = "Okapi"
    assert changed.planned() == jobs(**dict.fromkeys(REPORT, 1))


def test_another_k1_redoes_bm25_and_generates_only_new_prompts(changed):
    changed.config["retrievers"]["bm25"] |= {"k1": 0.0, "b": 0.0}
    known, before = changed.generated(), prompts(changed)
    assert changed.planned() == behind(retrieve=1, plan_requests=1, generate=2, **dict.fromkeys(CELL, 1))
    changed.run()
    assert changed.generated() == known + len(prompts(changed) - before)


def test_another_retriever_is_added_and_generates_only_its_new_prompts(changed):
    changed.config["retrievers"]["dot"] = changed.config["retrievers"]["dense"] | {"similarity": "dot", "label": "Dot"}
    changed.config["grid"]["retrievers"].append("dot")
    known, before = changed.generated(), prompts(changed)
    assert changed.planned() == behind(
        encode_corpus=1, retrieve=1, plan_requests=1, generate=2, **dict.fromkeys(CELL, 1)
    )
    changed.run()
    assert before <= prompts(changed)
    assert changed.generated() == known + len(prompts(changed) - before)


def test_another_llm_is_added_and_redoes_nothing_of_the_first(changed):
    changed.config["llms"]["half"] = changed.config["llms"]["tiny"] | {"dtype": "float16", "label": "Half"}
    changed.config["grid"]["llms"].append("half")
    assert changed.planned() == behind(generate=2, **dict.fromkeys(CELL, 1))
    known = changed.generated()
    changed.run()
    assert changed.generated() == known + len(prompts(changed))


def test_another_prompt_template_redoes_its_task_alone(changed):
    changed.config["grid"]["tasks"] = ["article", "title"]
    changed.config["tasks"]["article"] = changed.config["tasks"]["title"]
    # The second task is added first: it redoes nothing of the other.
    added = behind(retrieve=2, plan_requests=1, generate=2, **dict.fromkeys(CELL, 1))
    assert changed.planned() == added
    changed.run()
    template = changed.folder / "config/prompts/paper/article.llm.txt"
    template.write_text("Please. " + template.read_text())
    known, before = changed.generated(), prompts(changed, "article")
    assert changed.planned() == behind(plan_requests=1, generate=2, **dict.fromkeys(CELL, 1))
    changed.run()
    new = prompts(changed, "article") - before
    # one prompt for each of the 4 queries: the LLM alone
    assert len(new) == 4 and changed.generated() == known + 4


def test_other_shards_and_batches_take_all_answers_from_the_store(changed):
    changed.config["llms"]["tiny"] |= {"shards": 3, "batch_tokens": 500, "gpus": 2}
    known = changed.generated()
    before = (changed.results / "geography/title/tiny/answers.parquet").read_bytes()
    assert changed.planned()["generate"] == 3
    changed.run()
    assert changed.generated() == known and generated_by(changed, 3) == ["0", "0", "0"]
    assert (changed.results / "geography/title/tiny/answers.parquet").read_bytes() == before


def test_the_size_of_a_model_and_the_target_time_only_plan_the_jobs(changed):
    changed.config["llms"]["tiny"]["billion_parameters"] = 2.0
    changed.config["generation"] = {"device": "h100", "target_minutes": 30}
    assert changed.planned() == Counter()


def test_retrieving_from_all_topics_makes_one_index_for_all(changed):
    changed.config["topics"]["people"] = {"label": "Everyday life", "select": "Everyday life"}
    changed.config["grid"]["topics"].append("people")
    changed.config["queries"]["cells"] = ["alphabetical"]
    changed.config["grid"]["categories"] = ["alphabetical"]
    changed.config["dataset"]["retrieval_corpus"] = "union"
    planned = changed.planned()
    assert (planned["unite_topics"], planned["build_index"], planned["encode_corpus"]) == (1, 1, 1)
    assert planned["retrieve"] == 4 and planned["generate"] == 4
