import importlib.util
import json
import random
from pathlib import Path

import pandas as pd
import pytest

from whobenefits.categories import VITAL_ARTICLES
from whobenefits.code import SCRIPTS, code_of
from whobenefits.tables import CORPUS, GROUPS, QUERIES, read_table

spec = importlib.util.spec_from_file_location("prepare_dataset", SCRIPTS / "prepare_dataset.py")
prepare_dataset = importlib.util.module_from_spec(spec)
spec.loader.exec_module(prepare_dataset)

FILES = ("corpus", "groups", "queries", "summary")
YEARS = ("1850", "1950", "2010", "long ago")


def articles() -> list[tuple[str, dict[str, str]]]:
    """64 lakes, 16 for each first letter, and a river of another topic that names every second lake."""
    names = [f"{letter}{number}" for letter in "AEMT" for number in range(16)]
    pairs = [
        (name, {"title": name, "extract": f"A lake of {YEARS[i % 4]}" + " and more" * (i % 7), "topic": "Lakes"})
        for i, name in enumerate(names)
    ]
    pairs += [("X", {"title": "x", "extract": "Dry. " * 99, "topic": "Lakes"})]
    return [*pairs, ("River", {"title": "River", "extract": ", ".join(names[::2]), "topic": "Rivers"})]


def prepared(folder: Path, pairs: list, max_queries: int | None = None, ids: str | None = None) -> dict[str, Path]:
    folder.mkdir()
    text = "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs) + "}"
    (folder / "summaries_en-us.json").write_text(text)
    paths = {name: folder / "out" / name for name in FILES}
    prepare_dataset.main(
        data=[str(folder / "asset.json")],
        counts=None,
        ids=ids,
        tables={name: str(path) for name, path in paths.items()},
        topic={"slug": "lakes", "label": "Lakes", "select": "Lakes"},
        dataset={"source": "vital-articles", "asset": "articles", "max_words": 40},
        cells=["age-of-topic", "alphabetical"],
        seed=7,
        max_queries=max_queries,
    )
    return paths


def test_the_tables_and_the_summary_describe_the_same_documents(tmp_path):
    paths = prepared(tmp_path / "a", articles())
    corpus, groups, queries = (
        read_table(table, paths[name]) for name, table in zip(FILES, (CORPUS, GROUPS, QUERIES), strict=False)
    )
    summary = pd.read_csv(paths["summary"]).iloc[0].to_dict()
    assert len(corpus) == summary["documents"] == 64
    assert set(queries["query_id"]) <= set(corpus["doc_id"])
    assert groups.groupby("doc_id")["category"].apply(list).tolist() == [list(VITAL_ARTICLES)] * 64
    # each of the 4 letters meets each of the 4 ages
    assert summary["queries"] == summary["cells_filled"] == summary["cells_possible"] == len(queries) == 16
    assert (summary["read"], summary["dropped_too_long"]) == (65, 1)
    assert summary["read"] == summary["documents"] + sum(v for k, v in summary.items() if k.startswith("dropped_"))


def test_the_summary_has_the_means_of_whitespace_words_with_two_decimals(tmp_path):
    pairs = [
        ("A", {"title": "A b", "extract": "one two three", "topic": "Lakes"}),
        ("C", {"title": "C", "extract": "one", "topic": "Lakes"}),
        ("D", {"title": "D", "extract": "one", "topic": "Lakes"}),
    ]
    # bodies (3 + 1 + 1) / 3 = 1.67, titles (2 + 1 + 1) / 3 = 1.33; all in the cell Unknown | a-d
    head, row = prepared(tmp_path / "a", pairs)["summary"].read_text().splitlines()
    assert head == (
        "topic,label,queries,documents,mean_body_words,mean_title_words,cells_filled,cells_possible,read,"
        "dropped_empty_title,dropped_empty_body,dropped_too_long,dropped_no_label,dropped_duplicate_id,"
        "dropped_duplicate_title"
    )
    assert row == "lakes,Lakes,1,3,1.67,1.33,1,16,3,0,0,0,0,0,0"


@pytest.mark.parametrize("max_queries", [None, 4])
def test_a_shuffled_file_gives_the_same_bytes(tmp_path, max_queries):
    pairs = articles()
    pairs += [pairs[0], ("a0", {"title": "a0", "extract": "Another text.", "topic": "Lakes"})]
    first = prepared(tmp_path / "a", pairs, max_queries)
    for seed in range(3):
        again = prepared(tmp_path / f"b{seed}", random.Random(seed).sample(pairs, len(pairs)), max_queries)
        assert [again[name].read_bytes() for name in FILES] == [first[name].read_bytes() for name in FILES]


def test_a_limit_on_the_queries_covers_the_groups_evenly(tmp_path):
    queries = read_table(QUERIES, prepared(tmp_path / "a", articles(), 8)["queries"])
    parts = queries["cell"].str.split(" | ", regex=False, expand=True)
    # 8 queries over 4 groups: 2 each, in both categories
    assert [parts[i].value_counts().tolist() for i in (0, 1)] == [[2] * 4] * 2


def test_given_queries_stand_in_for_drawn_ones_and_what_is_missing_is_shown(tmp_path):
    drawn = read_table(QUERIES, prepared(tmp_path / "a", articles())["queries"])
    (tmp_path / "ids").write_text("\n".join([*drawn["query_id"][:3], "nowhere"]))
    paths = prepared(tmp_path / "b", articles(), ids=str(tmp_path / "ids"))
    assert read_table(QUERIES, paths["queries"])["query_id"].tolist() == drawn["query_id"][:3].tolist()
    summary = pd.read_csv(paths["summary"]).iloc[0]
    assert (summary["queries"], summary["queries_given"], summary["queries_missing"]) == (3, 4, 1)


def test_the_script_depends_on_its_sources_but_not_on_the_settings_module():
    names = {Path(path).name for path in code_of("prepare_dataset")}
    assert {"vital_articles.py", "form.py", "groups.py", "sampling.py"} <= names
    assert "config.py" not in names
