"""Whole runs of a small grid: what they give, and how they fail."""

import random
import re
from collections import Counter

from checkouts import ARTICLES, copied, sha256, tiny_config

from whobenefits.tables import ANSWERS, REQUESTS, read_table


def tables(checkout):
    """All result files but logs and the store, by path."""
    files = (
        p
        for p in checkout.results.rglob("*")
        if p.is_file() and p.suffix in (".parquet", ".csv", ".trec", ".svg", ".html", ".md", ".txt")
    )
    skipped = ("logs", "store", "index")
    named = {str(p.relative_to(checkout.results)): p.read_bytes() for p in files}
    return {name: data for name, data in named.items() if not any(part in name.split("/") for part in skipped)}


def test_a_second_run_has_nothing_to_do(tiny_run):
    assert tiny_run.planned() == Counter()
    assert "Nothing to be done" in tiny_run.run()


def test_what_the_llms_wait_for_comes_before_them_and_what_waits_for_them_after(tmp_path):
    fresh = copied(tmp_path, tiny_config(tmp_path, ARTICLES))

    def priorities(*options):
        jobs = re.findall(r"^( *)(?:local)?rule (\w+):\n((?:\1    .*\n)+)", fresh.run("-n", *options), re.M)
        found = {}
        for _, name, text in jobs:
            given = re.search(r"^ +priority: (.*)$", text, re.M)
            found.setdefault(name, set()).add(float(given[1]) if given else 0.0)
        return found

    before = priorities("--until", "generate")
    assert {"fetch_asset", "prepare_dataset", "build_index", "retrieve", "plan_requests", "generate"} <= set(before)
    llms = before.pop("generate")
    assert min(llms) > 0 and max(llms) == 1
    assert all(min(given) > 1 for given in before.values()), before
    after = {name: given for name, given in priorities().items() if name not in {*before, "generate"}}
    assert "score_answers" in after and all(given == {0} for given in after.values()), after


def test_each_distinct_prompt_is_generated_once(tiny_run):
    requests = read_table(REQUESTS, tiny_run.results / "geography/title/requests.parquet")
    answers = read_table(ANSWERS, tiny_run.results / "geography/title/tiny/answers.parquet")
    assert tiny_run.generated() == requests["request_id"].nunique() == len(answers)
    # 4 queries, each: alone, 2 lists of 2 documents, and the union of these documents
    assert (requests["setting"] == "llm").sum() == 4 and (requests["setting"] == "rag").sum() == 8


def test_two_runs_and_shuffled_input_give_identical_results(tiny_run, tmp_path):
    order = list(ARTICLES)
    random.Random(3).shuffle(order)
    config = tiny_config(tmp_path, {title: ARTICLES[title] for title in order})
    config["assets"]["articles"]["files"]["summaries_en-us.json"]["sha256"] = sha256(tmp_path / "data/articles.json")
    shuffled = copied(tmp_path, config)
    shuffled.run()
    first, second = tables(tiny_run), tables(shuffled)
    assert first.keys() == second.keys() and len(first) > 30
    # The page names where the data came from and when, which differs; everything else is the same to the last byte.
    different = {name for name in first if first[name] != second[name]}
    assert different <= {"report/index.html"}


def test_a_fault_in_the_settings_is_told_before_any_work(tiny_run):
    tiny_run.config["grid"]["retrievers"].append("bm52")
    told = tiny_run.run(ok=False)
    tiny_run.config["grid"]["retrievers"].pop()
    assert "test.yaml: grid.retrievers names 'bm52', which is not known: did you mean 'bm25'?" in told
    assert "Traceback" not in told and "Job stats" not in told


def test_a_job_that_fails_says_why_and_leaves_the_rest_as_it_was(tiny_run):
    tiny_run.config["assets"]["encoder"]["address"] = "file:nowhere"
    tiny_run.config["retrievers"]["other"] = {"kind": "dense", "label": "Other", "model": "lost"}
    tiny_run.config["assets"]["lost"] = {"address": "file:nowhere", "licence": "none"}
    tiny_run.config["assets"]["encoder"]["address"] = f"file:{tiny_run.folder}/data/encoder"
    tiny_run.config["grid"]["retrievers"].append("other")
    before = tables(tiny_run)
    told = tiny_run.run("--keep-going", ok=False)
    tiny_run.config["grid"]["retrievers"].pop()
    assert "assets.lost: " in told and "nowhere" in told
    assert {name: data for name, data in tables(tiny_run).items() if name in before} == before
    assert tiny_run.planned() == Counter()
