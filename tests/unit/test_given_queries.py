from pathlib import Path

import pandas as pd
import pytest

from whobenefits.categories import TREC_FAIR
from whobenefits.errors import DataError
from whobenefits.given_queries import given_queries, read_ids

REFERENCE = Path(__file__).parents[3] / "shared/reference/query_group_fairness"
GROUPS = pd.DataFrame(
    [(doc_id, "letter", group) for doc_id, group in (("3", "a-d"), ("10", "a-d"), ("7", "s-"))],
    columns=["doc_id", "category", "group"],
)


def written(folder, text: str):
    (folder / "ids.csv").write_text(text, encoding="utf-8")
    return folder / "ids.csv"


@pytest.mark.parametrize(
    "text",
    [
        "3\n7\n10\n",
        "3\r\n\r\n 7 \r\n10",
        "query_id\n3\n7\n10\n",
        "\ufeffdocno,years_category,page_subcont_regions\n3,Unknown,\"['A', 'B']\"\n7,Unknown,['A']\n10,,\n",
        "docno,query_id\n1,3\n2,7\n1,10\n",
    ],
)
def test_ids_are_a_column_or_one_a_line(tmp_path, text):
    assert read_ids(written(tmp_path, text)) == ["3", "7", "10"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3\n7\n3\n", "line 3: the id '3' is in line 1 already: remove one"),
        ("id,title\n3,a\n", "line 1: has 2 columns, but no column is named query_id or docno: name the column"),
        ("a,query_id\n1,3\n2\n", "line 3: has no id: correct or remove the line"),
    ],
)
def test_a_faulty_list_is_named_with_line_and_remedy(tmp_path, text, message):
    with pytest.raises(DataError, match=rf"ids\.csv, {message}"):
        read_ids(written(tmp_path, text))


def test_a_list_that_is_no_text_or_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="there is no such file: correct queries.ids"):
        read_ids(tmp_path / "nowhere")
    (tmp_path / "ids").write_bytes(b"\xff\xfe1")
    with pytest.raises(DataError, match="is no CSV file in UTF-8"):
        read_ids(tmp_path / "ids")


def test_given_queries_get_their_cells_and_missing_ones_are_counted(tmp_path):
    queries, counts = given_queries(written(tmp_path, "7\n8\n3\n10\n"), GROUPS, ["letter"])
    # sorted by cell, then by id as a text, whatever the order of the list
    assert queries.to_dict("list") == {"query_id": ["10", "3", "7"], "cell": ["a-d", "a-d", "s-"]}
    assert counts == {"queries_given": 4, "queries_missing": 1}


def test_no_query_left_is_an_error_with_a_remedy(tmp_path):
    with pytest.raises(DataError, match="none of the 2 given queries is among the kept documents, such as 8, 9: corr"):
        given_queries(written(tmp_path, "8\n9\n"), GROUPS, ["letter"])
    with pytest.raises(DataError, match="none of the 0 given queries is among the kept documents: correct"):
        given_queries(written(tmp_path, ""), GROUPS, ["letter"])


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the published study's queries are not beside the checkout")
@pytest.mark.parametrize(("topic", "count"), [("666", 159), ("1102", 144), ("1630", 245)])
def test_the_published_studys_queries_are_read_and_their_labels_are_groups(topic, count):
    path = REFERENCE / f"query_ids_{topic}.csv"
    assert len(read_ids(path)) == count
    table = pd.read_csv(path)
    for category in [c for c in TREC_FAIR.values() if c.field in table and c.slug != "subcontinents"]:
        assert set(table[category.field]) <= set(category.groups)
