"""The configs of the published study: what they hold, and in what they differ."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from whobenefits.config import checked_config
from whobenefits.estimate import costs

ROOT = Path(__file__).parents[2]
SIZES = {"cities": 159, "geography": 144, "military-history": 245}

# Each point in which the paper and its public code differ, and the settings that hold it.
CHOICES = {
    "models": {"assets.*", "llms.*.model", "llms.*.dtype"},
    "prompt": {"prompts", "generation.truncation", "llms.*.context_tokens"},
    "new tokens and stop": {"tasks.*.stop"},
    "ROUGE-L": {"scoring.measure"},
    "attribution": {"attribution.*"},
    "retrieval corpus": {"dataset.retrieval_corpus"},
    "order of the context": {"retrieval.context_order"},
    "BM25": {"retrievers.bm25.*"},
    "SPLADE": {"retrievers.splade.model"},
    "empty groups, failed metrics": {"measures.empty_groups", "scoring.failed"},
    "rounding of the factors": {"measures.factor_decimals"},
    "representative of a cell": {"queries.ids"},
}


def study(name):
    return yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text())


def leaves(part, path=()):
    if isinstance(part, dict):
        return {place: value for key, value in part.items() for place, value in leaves(value, (*path, key)).items()}
    return {path: part}


def pattern(path):
    """The place of a setting, with * for what differs from study to study."""
    if path[0] in ("assets", "attribution") or path[:2] == ("retrievers", "bm25"):
        return ".".join((*path[: 2 if path[0] == "retrievers" else 1], "*"))
    return f"{path[0]}.*.{path[2]}" if path[0] in ("llms", "tasks") else ".".join(path)


def test_paper_and_authors_differ_in_the_listed_choices_and_in_each_of_them():
    paper, authors = leaves(study("paper")), leaves(study("authors"))
    places = {path for path in paper.keys() | authors.keys() if paper.get(path) != authors.get(path)}
    assert {pattern(path) for path in places} - {"name", "results"} == set().union(*CHOICES.values())


def test_no_two_assets_of_the_two_studies_share_a_name_and_not_an_address():
    paper, authors = study("paper")["assets"], study("authors")["assets"]
    assert all(paper[name] == authors[name] for name in paper.keys() & authors.keys())


@pytest.mark.parametrize(("topic", "size"), SIZES.items())
def test_the_given_queries_are_the_published_ones(topic, size):
    ids = pd.read_csv(ROOT / "config/queries/authors" / f"{topic}.csv")["query_id"]
    assert len(ids) == ids.nunique() == size


@pytest.mark.parametrize("name", ["paper", "authors"])
def test_each_study_has_the_published_grid_and_an_estimate(name, tmp_path):
    raw = study(name) | {"results": str(tmp_path)}
    config = checked_config(raw, name)
    assert {topic: config.topics[topic].select for topic in config.grid.topics} == {
        "cities": "666",
        "geography": "1102",
        "military-history": "1630",
    }
    assert (config.retrieval.context_size, config.tasks["article"].beams, config.tasks["title"].beams) == (10, 2, 4)
    lines = costs(config, "a100")
    # 3 topics x 256 cells at most, 3 retrievers, k = 10: 768 x (1 + 3 + 30) prompts for each task and LLM
    assert [line.items for line in lines if line.stage.startswith("generate")] == ["26,112 prompts"] * 4
    assert 1 < sum(line.gpu_hours for line in lines) < 100
