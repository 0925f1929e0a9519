import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from settings import SETTINGS, changed

from whobenefits.config import checked_config
from whobenefits.describe import used_assets
from whobenefits.errors import ConfigError

ROOT = Path(__file__).parents[2]


def fault(path, value):
    with pytest.raises(ConfigError) as error:
        checked_config(changed(path, value), "mine.yaml")
    return str(error.value)


def test_the_small_settings_are_valid_and_defaults_are_filled_in():
    config = checked_config(SETTINGS, "mine.yaml")
    assert config.retrievers["bm25"].k1 == 0.9 and config.dataset.max_words == 512
    assert config.llms["small"].dtype == "auto"


@pytest.mark.parametrize("path", sorted(ROOT.glob("config/*.yaml")), ids=lambda path: path.name)
def test_every_config_of_the_project_is_valid(path):
    checked_config(yaml.safe_load(path.read_text()), str(path))


# Each row: where, the bad value, and what the message must say: place, value and remedy.
FAULTS = [
    ("retrieval.dept", 5, "mine.yaml: retrieval: unknown key 'dept': did you mean 'depth'?"),
    ("seeds", 5, "mine.yaml: unknown key 'seeds': did you mean 'seed'?"),
    ("seed", None, "mine.yaml: seed: is missing: add it (config/README.md says what it does)"),
    ("seed", "7", "mine.yaml: seed: '7' is not usable: Input should be a valid integer"),
    ("grid.retrievers", ["bm52"], "grid.retrievers names 'bm52', which is not known: did you mean 'bm25'?"),
    ("grid.retrievers", ["bm25", "bm25"], "grid.retrievers names 'bm25' twice: remove one"),
    ("grid.retrievers", [], "mine.yaml: grid.retrievers: names nothing, so nothing is computed: name at least one"),
    ("grid.tasks", ["poem"], "mine.yaml: grid.tasks.0: 'poem' is not usable: Input should be 'article' or 'title'"),
    ("grid.llms", ["big"], "grid.llms names 'big', which is not known: known: small or define it under llms"),
    ("grid.topics", ["seas"], "grid.topics names 'seas', which is not known: known: lakes or define it under topics"),
    ("grid.categories", ["gender"], "grid.categories names 'gender', which is not known: known: age-of-topic, "),
    ("grid.categories", ["gender"], "or take a source other than vital-articles that has it"),
    ("queries.cells", ["age"], "queries.cells names 'age', which is not known: "),
    ("retrieval.context_size", 9, "retrieval.context_size is 9 but retrieval.depth is 4: raise depth or lower "),
    ("retrieval.context_size", 0, "mine.yaml: retrieval.context_size: 0 is not usable: Input should be greater than"),
    ("dataset.asset", "article", "dataset.asset names 'article', which is not known: did you mean 'articles'? or add"),
    (
        "dataset.source",
        "wikipedia",
        "mine.yaml: dataset.source: 'wikipedia' is not usable: known: vital-articles, trec-",
    ),
    ("dataset.source", None, "mine.yaml: dataset.source: is missing: add it (config/README.md lists what it can be)"),
    ("dataset.max_words", 0, "mine.yaml: dataset.max_words: 0 is not usable: Input should be greater than or equal"),
    ("dataset.retrieval_corpus", "all", "dataset.retrieval_corpus: 'all' is not usable: Input should be 'topic' or"),
    ("queries.ids", "ids/{task}.csv", "queries.ids: 'ids/{task}.csv' is not usable: {task} stands for nothing, only"),
    ("queries.ids", "ids.csv", "queries: max_queries limits what is drawn, but ids gives the queries: remove one"),
    ("llms.small.model", "tiny", "llms.small.model names 'tiny', which is not known: "),
    ("llms.small.context_tokens", 8, "tasks.article.max_new_tokens is 8 but llms.small.context_tokens is 8: no room"),
    ("retrievers.bm25.kind", "bm42", "'bm42' is not usable: known: bm25, okapi, splade, dense, run"),
    (
        "retrievers.bm25.b",
        1.5,
        "mine.yaml: retrievers.bm25.b: 1.5 is not usable: Input should be less than or equal to 1",
    ),
    ("topics.Big Lakes", {"label": "x", "select": "y"}, "'Big Lakes' is not a usable name: use a-z, 0-9, . and -"),
    ("topics.mean", {"label": "x", "select": "y"}, "'mean' is not a usable name"),
    ("assets.small.files", {"x": {"address": ["file:x"], "sha256": "0" * 64}}, "assets.small: give either address"),
    (
        "assets.articles.files",
        {"x": {"address": ["file:x"], "sha256": "12"}},
        "assets.articles.files.x.sha256: '12' is",
    ),
    ("retrievers.given.path", "runs/{topc}.trec", "retrievers.given.path: 'runs/{topc}.trec' is not usable: {topc}"),
    ("retrievers.given.label", "BM25", "retrievers: the label 'BM25' stands for two of grid.retrievers: give each a"),
    (
        "scoring",
        {"measure": "rouge-l-summary", "stemming": True},
        "mine.yaml: scoring.stemming is true but scoring.measure is 'rouge-l-summary', which does not stem: set stemming",
    ),
    ("scoring", {"measure": "rouge-l"}, "mine.yaml: scoring.measure: 'rouge-l' is not usable: Input should be"),
    ("retrieval.context_order", "random", "retrieval.context_order: 'random' is not usable: Input should be 'rank' or"),
    (
        "attribution.kind",
        "fragment",
        "mine.yaml: attribution.kind: 'fragment' is not usable: known: overlap, nli, frag",
    ),
    (
        "attribution",
        {"kind": "fragments", "model": "mnli"},
        "attribution.model names 'mnli', which is not known: known: articles, small or add it under assets",
    ),
    (
        "attribution",
        {"kind": "likelihood", "controls": -1},
        "mine.yaml: attribution.controls: -1 is not usable: Input should be greater than or equal to 0",
    ),
    ("measures", {"factor_decimals": -1}, "mine.yaml: measures.factor_decimals: -1 is not usable: Input should be"),
    ("uncertainty", {"draws": 10}, "mine.yaml: uncertainty.draws: 10 is not usable: Input should be greater than or"),
    (
        "uncertainty",
        {"crossed": [["alphabetical"]]},
        "uncertainty.crossed.0: ['alphabetical'] is no pair of categories",
    ),
    (
        "uncertainty",
        {"crossed": [["alphabetical", "age-of-topik"]]},
        "uncertainty.crossed.0 names 'age-of-topik', which is not known: did you mean 'age-of-topic'?",
    ),
    (
        "uncertainty",
        {"crossed": [["alphabetical", "age-of-topic"]] * 2},
        "uncertainty.crossed: names ['alphabetical', 'age-of-topic'] twice: remove one",
    ),
    ("prompts", "papers", "prompts is 'papers', which is no folder of config/prompts: did you mean 'paper'?"),
]


@pytest.mark.parametrize(("path", "value", "message"), FAULTS)
def test_a_fault_is_one_clear_line_with_place_value_and_remedy(path, value, message):
    lines = fault(path, value).splitlines()
    assert any(message in line for line in lines), lines
    assert all(line.startswith("mine.yaml: ") for line in lines)
    assert len(lines) == 1


def test_all_faults_are_told_at_once():
    settings = changed("grid.retrievers", ["bm52"]) | {"retrieval": {"depth": 2, "context_size": 3}}
    with pytest.raises(ConfigError) as error:
        checked_config(settings, "mine.yaml")
    assert len(str(error.value).splitlines()) == 2


def test_settings_cannot_be_changed_after_the_check():
    config = checked_config(SETTINGS, "mine.yaml")
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 8


def test_only_assets_that_the_grid_needs_are_used():
    settings = changed("assets.other", {"address": "file:other", "licence": "none"})
    assert used_assets(checked_config(settings, "mine.yaml")) == ["articles", "small"]


def test_what_the_snakefile_imports_is_light():
    code = (
        "import sys; import whobenefits.code, whobenefits.config, whobenefits.describe; "
        "print([m for m in ('pandas', 'numpy', 'torch', 'pyserini', 'pyarrow', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "workflow/lib")}, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_without_a_word_on_them_all_choices_are_those_of_the_paper():
    config = checked_config(SETTINGS, "mine.yaml")
    assert (config.prompts, config.retrieval.context_order, config.generation.truncation) == (
        "paper",
        "rank",
        "documents",
    )
    assert config.scoring.model_dump() == {"measure": "rouge-l-f1", "stemming": False, "failed": "undefined"}
    assert config.measures.model_dump() == {"empty_groups": "undefined", "factor_decimals": None}


def test_an_okapi_index_does_not_depend_on_what_works_at_search_time():
    okapi = {"kind": "okapi", "label": "Okapi", "k1": 2.0, "b": 0.5, "epsilon": 0.1}
    retriever = checked_config(changed("retrievers.bm25", okapi), "mine.yaml").retrievers["bm25"]
    assert retriever.indexed() == {"kind": "okapi"}
    assert retriever.searched() == {"kind": "okapi", "k1": 2.0, "b": 0.5, "epsilon": 0.1}
