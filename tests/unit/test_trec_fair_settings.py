import copy

import pytest
from settings import SETTINGS

from whobenefits.categories import TREC_FAIR
from whobenefits.config import checked_config
from whobenefits.describe import about_of, grid_categories, labels_of, used_assets
from whobenefits.errors import ConfigError

FILES = {"corpus": "c.json.gz", "metadata": "m.json.gz", "topics": "t.jsonl"}
OWN = {"field": "source_subcont_regions", "label": "Sources", "short": "Src", "groups": ["Caribbean", "Several"]}


def settings(dataset: dict | None = None, select: str = "666", categories=("gender",)) -> dict:
    raw = copy.deepcopy(SETTINGS)
    raw["dataset"] = {"source": "trec-fair", **(FILES if dataset is None else dataset)}
    raw["topics"]["lakes"]["select"] = select
    raw["grid"]["categories"] = list(categories)
    return raw


def fault(raw: dict) -> str:
    with pytest.raises(ConfigError) as error:
        checked_config(raw, "mine.yaml")
    return str(error.value)


@pytest.mark.parametrize("dataset", [FILES, {"ir_datasets": "trec-fair/2022/train"}])
@pytest.mark.parametrize("select", ["666", "largest 1", "largest 12"])
def test_the_tracks_files_are_given_by_paths_or_through_ir_datasets(dataset, select):
    config = checked_config(settings(dataset, select), "mine.yaml")
    assert config.dataset.retrieval_corpus == "topic"
    assert used_assets(config) == ["small"]
    assert grid_categories(config) == {"gender": list(TREC_FAIR["gender"].groups)}


def test_whose_documents_are_retrieved_from_is_no_matter_of_the_documents_themselves():
    prepared = checked_config(settings(FILES | {"retrieval_corpus": "union"}), "mine.yaml").dataset.prepared()
    assert prepared["corpus"] == "c.json.gz" and "retrieval_corpus" not in prepared


def test_categories_of_the_settings_can_be_reported_and_make_cells():
    raw = settings(FILES | {"categories": {"sources": OWN}}, categories=("sources", "gender"))
    raw["queries"]["cells"] = ["sources", "quality"]
    config = checked_config(raw, "mine.yaml")
    assert labels_of(config)["categories"]["sources"] == {
        "label": "Sources", "short": "Src", "groups": ["Caribbean", "Several"], "note": ""
    }  # fmt: skip
    assert about_of(config)["dataset"]["categories"]["sources"]["field"] == "source_subcont_regions"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (settings({"corpus": "c"}), "dataset: give either the paths corpus, metadata and topics, or ir_datasets"),
        (settings({}), "dataset: give either the paths corpus, metadata and topics, or ir_datasets"),
        (settings(FILES | {"ir_datasets": "trec-fair/2022/train"}), "dataset: give either the paths"),
        (settings({"ir_datasets": "trec-fair/2022"}), "dataset.ir_datasets: 'trec-fair/2022' is not usable"),
        (settings(FILES | {"asset": "x"}), "dataset: unknown key 'asset': "),
        (
            settings(select="Cities"),
            "topics.lakes.select is 'Cities': write the id of a WikiProject, such as '666', or",
        ),
        (settings(select="largest 0"), "topics.lakes.select is 'largest 0': write the id"),
        (settings(categories=["genders"]), "did you mean 'gender'? or define it under dataset.categories or take a"),
        (
            settings(FILES | {"categories": {"own": OWN | {"groups": ["a", "a"]}}}),
            "dataset.categories.own.groups: has 'a' twice: correct the list",
        ),
        (
            settings(FILES | {"categories": {"own": OWN | {"groups": ["a", "b | c"]}}}),
            "dataset.categories.own.groups: has an empty label, or one with ' | ': correct the list",
        ),
        (
            settings(FILES | {"categories": {"own": OWN | {"label": "Gender"}}}, categories=("own", "gender")),
            "dataset.categories: the label 'Gender' stands for two of grid.categories: change one",
        ),
    ],
)
def test_a_fault_is_one_clear_line_with_place_value_and_remedy(raw, message):
    found = fault(raw)
    assert found.startswith("mine.yaml: ") and message in found and "\n" not in found
