import pandas as pd
import pytest
import yaml
from settings import SETTINGS, changed

from whobenefits.config import checked_config
from whobenefits.estimate import costs, counted_loads, main
from whobenefits.tables import CORPUS, REQUESTS, write_table

CORPUS_ROWS = [("a", "A lake", "one two three"), ("b", "B", "one"), ("c", "C", "one two")]
PLAN = [
    ("p1", "a", "llm", None, None, []),
    ("p2", "a", "rag", "bm25", None, ["b", "c"]),
    ("p2", "a", "rag", "given", None, ["b", "c"]),
    ("p3", "a", "doc", None, "b", ["b"]),
    ("p4", "a", "doc", None, "c", ["c"]),
]


def corpus():
    return pd.DataFrame(CORPUS_ROWS, columns=list(CORPUS.columns))


def plan():
    return pd.DataFrame(PLAN, columns=list(REQUESTS.columns))


def test_each_distinct_prompt_of_a_plan_is_counted_once_with_its_own_words():
    loads = counted_loads(checked_config(SETTINGS, "mine.yaml"), "article", plan(), corpus())
    assert {name: load.prompts for name, load in loads.items()} == {"llm": 1, "rag": 1, "doc": 2}
    assert loads["llm"].tokens == pytest.approx(60 + 1.35 * 2)  # the query is the title, "A lake"
    assert loads["rag"].tokens == pytest.approx(60 + 1.35 * (2 + 2 + 3))
    assert loads["doc"].tokens == pytest.approx(60 + 1.35 * (2 + (2 + 3) / 2))
    # for a title the query is the text
    titles = counted_loads(checked_config(SETTINGS, "mine.yaml"), "title", plan(), corpus())
    assert titles["llm"].tokens == pytest.approx(60 + 1.35 * 3)


def test_what_is_planned_is_counted_and_what_is_not_is_an_upper_bound(tmp_path):
    config = checked_config(changed("results", str(tmp_path)), "mine.yaml")
    before = {line.stage: line for line in costs(config, "a100")}
    # 4 queries, 2 retrievers, k = 3: at most 4 x (1 + 2 + 6) prompts
    assert before["generate article, Small"].items == "36 prompts" and not before["generate article, Small"].counted
    write_table(corpus(), CORPUS, tmp_path / "lakes/corpus.parquet")
    write_table(plan(), REQUESTS, tmp_path / "lakes/article/requests.parquet")
    after = {line.stage: line for line in costs(config, "a100")}
    assert after["generate article, Small"].items == "4 prompts" and after["generate article, Small"].counted
    assert after["generate title, Small"] == before["generate title, Small"]


@pytest.mark.parametrize(
    ("attribution", "pairs"),
    [
        ({"kind": "overlap"}, None),
        # 2 tasks, 4 queries, 2 retrievers, k = 3
        ({"kind": "nli", "model": "small"}, "48 pairs"),
        ({"kind": "fragments", "model": "small"}, "432 pairs"),
        # and one control for each list
        ({"kind": "likelihood"}, "64 pairs"),
    ],
)
def test_what_an_attributor_costs_follows_from_its_kind(attribution, pairs, tmp_path):
    config = checked_config(changed("attribution", attribution) | {"results": str(tmp_path)}, "mine.yaml")
    lines = {line.stage: line for line in costs(config, "a100")}
    assert (lines["attribute_by_model"].items if pairs else None) == pairs
    assert ("attribute_by_model" in lines) == (pairs is not None)


def test_the_command_prints_the_table_and_what_it_rests_on(tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(changed("results", str(tmp_path))))
    assert main([str(path), "--device", "h100"]) == 0
    told = capsys.readouterr().out
    assert "on h100" in told and "generate title, Small" in told and "at most" in told and "989 TFLOPS" in told


def test_a_fault_in_the_settings_is_told_instead(tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(changed("grid.llms", ["big"])))
    assert main([str(path)]) == 1
    assert "grid.llms names 'big'" in capsys.readouterr().err
    assert main([str(tmp_path / "none.yaml")]) == 1
    assert "none.yaml" in capsys.readouterr().err
