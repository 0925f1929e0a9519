import pytest
from settings import SETTINGS, changed

from whobenefits.config import checked_config
from whobenefits.devices import Device
from whobenefits.workload import Load, prompt_loads, query_bound, relative_work, seconds, shard_count


def config(path=None, value=None):
    return checked_config(changed(path, value) if path else SETTINGS, "mine.yaml")


def test_the_queries_are_bounded_by_the_limit_and_by_the_cells():
    # the settings have max_queries 4 and cells of two categories with 4 groups each
    assert query_bound(config()) == 4
    assert query_bound(config("queries.max_queries", None)) == 16
    assert query_bound(config("queries.max_queries", 100)) == 16


def test_the_loads_of_a_task_are_worked_out_by_hand():
    # 2 retrievers, k = 3, 5 queries; texts of 100 words, titles of 2; 60 tokens of instruction, 1.35 tokens a word
    loads = prompt_loads(config(), "article", 5, body=100, title=2)
    assert loads["llm"] == Load(5, pytest.approx(60 + 1.35 * 2), 8)
    assert loads["rag"] == Load(10, pytest.approx(60 + 1.35 * (2 + 3 * 102)), 8)
    assert loads["doc"] == Load(30, pytest.approx(60 + 1.35 * (2 + 102)), 8)
    assert prompt_loads(config(), "title", 5, body=100, title=2)["llm"].tokens == pytest.approx(60 + 1.35 * 100)


def test_the_seconds_of_a_load_are_worked_out_by_hand():
    llm = config().llms["small"].model_copy(update={"billion_parameters": 10.0, "batch_tokens": 1000})
    device = Device(teraflops=100, bandwidth=500, memory=80)
    # encoding: 2 x 1e10 x 20 x 300 = 1.2e14 operations at 4e13 a second: 3 s
    # decoding: 1000 / (300 + 100) = 2 prompts a batch, 10 batches of 100 steps, each 2e10 bytes at 3e11: 0.0667 s
    assert seconds(Load(20, 300, 100), llm, device) == pytest.approx(3 + 10 * 100 * 20 / 300)
    assert seconds(Load(0, 300, 100), llm, device) == 0


def test_a_small_model_is_bounded_by_the_least_time_of_a_step():
    llm = config().llms["small"].model_copy(update={"billion_parameters": 0.001})
    assert seconds(Load(1, 10, 50), llm, Device(100, 1000, 80)) == pytest.approx(50 * 0.04, rel=1e-3)


def test_two_gpus_halve_the_encoding_and_not_the_decoding():
    one = config().llms["small"].model_copy(update={"billion_parameters": 10.0})
    two = one.model_copy(update={"gpus": 2})
    device = Device(100, 500, 80)
    load = Load(20, 300, 1)
    step = 2e10 / 3e11
    assert seconds(load, one, device) - step == pytest.approx(2 * (seconds(load, two, device) - step))


def test_the_shards_follow_from_the_target_time_and_never_outnumber_the_queries():
    assert shard_count(config(), "title", "small") == 1
    assert shard_count(config("llms.small.billion_parameters", 1e6), "title", "small") == 4
    assert shard_count(config("llms.small.shards", 3), "title", "small") == 3
    assert shard_count(config("llms.small.shards", 9), "title", "small") == 4


def test_the_work_of_a_job_is_worked_out_by_hand_relative_to_the_most():
    # 4 queries, k = 3 and 2 retrievers: 4 prompts without documents, 8 with 3 and 24 with one, so 36 with 48 documents of
    # 3 words and 100. The query has 3 words or 100; new tokens are 8 in each of 2 beams, or 6 in each of 4.
    article = 36 * (60 + 1.35 * 3 + 2 * 8) + 48 * 1.35 * 103
    title = 36 * (60 + 1.35 * 100 + 4 * 6) + 48 * 1.35 * 103
    assert relative_work(config(), "title", "small") == 1
    assert relative_work(config(), "article", "small") == pytest.approx(article / title)


def test_a_larger_model_has_more_work():
    small = SETTINGS["llms"]["small"]
    llms = {"small": small, "large": small | {"label": "Large", "billion_parameters": 4.0}}
    two = checked_config(changed("llms", llms) | {"grid": SETTINGS["grid"] | {"llms": ["small", "large"]}}, "mine.yaml")
    assert relative_work(two, "title", "large") == 1
    assert relative_work(two, "title", "small") == 0.25
