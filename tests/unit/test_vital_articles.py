import json
import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.categories import VITAL_ARTICLES, Category
from whobenefits.datasets.form import REASONS, Record, title_key, topic_documents
from whobenefits.datasets.sources import SOURCE_TYPES
from whobenefits.datasets.vital_articles import FILE, VitalArticles, article_id, read_articles
from whobenefits.errors import DataError

CELLS = list(VITAL_ARTICLES)


def written(folder, text: str):
    (folder / FILE).write_text(text, encoding="utf-8")
    return folder / FILE


def article(title: str, extract: str, topic: str = "Geography") -> dict[str, str]:
    return {"title": title, "extract": extract, "description": "", "topic": topic}


def file_of(pairs: list[tuple[str, dict]]) -> str:
    """JSON text that may hold a key twice, as no dict can."""
    return "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs) + "}"


class Given:
    """A source of the records that it is given."""

    reasons = ("lost",)

    def __init__(self, *records: Record) -> None:
        self.given = records

    def about(self, topic: str) -> dict[str, str]:
        return {"place": topic}

    def records(self, topic: str):
        return self.given


def kept(*records: Record, cells=("letter",), max_words=3):
    categories = {
        "letter": Category("letter", "Letter", "L", ("a", "b")),
        "size": Category("size", "S", "S", tuple("1234")),
    }
    return topic_documents(Given(*records), "lakes", categories, cells, max_words)


def test_records_have_the_groups_of_their_text_and_the_numbers_of_the_whole_file(tmp_path):
    pairs = [
        ("Baikal", article("Baikal", "A\u00a0lake of  1901.\n")),
        ("Kenya", article("Kenya", "Far from Baikal.", "People")),
    ]
    written(tmp_path, file_of(pairs))
    (record,) = VitalArticles(tmp_path).records("Geography")
    assert (record.title, record.text) == ("Baikal", "A lake of 1901.")
    assert record.labels == {"age-of-topic": "20th century", "alphabetical": "a-d"}
    assert record.values == {"popularity": 1, "article-length": 4}


def test_all_groups_that_the_categories_list_can_be_given(tmp_path):
    texts = ["In 1800.", "In 1950 it was.", "Since 2010 it has been.", "It has no year at all."]
    titles = ["Aral", "Elbe", "Lima", "Seine"]
    written(tmp_path, file_of([(title, article(title, text)) for title, text in zip(titles, texts, strict=True)]))
    groups = topic_documents(VitalArticles(tmp_path), "Geography", VITAL_ARTICLES, CELLS, 512).groups
    found = {slug: set(rows["group"]) for slug, rows in groups.groupby("category")}
    # nobody names another title, so that all four have the same popularity
    assert found == {slug: set(category.groups) for slug, category in VITAL_ARTICLES.items()} | {"popularity": {"Low"}}


def test_a_key_that_the_file_holds_twice_is_counted_as_a_duplicate_and_not_lost(tmp_path):
    pairs = [("Baikal", article("Baikal", "B.")), ("Aral", article("Aral", "C.")), ("Baikal", article("Baikal", "A."))]
    for order in (pairs, pairs[::-1]):
        written(tmp_path, file_of(order))
        documents = topic_documents(VitalArticles(tmp_path), "Geography", VITAL_ARTICLES, CELLS, 512)
        assert documents.dropped == dict.fromkeys(REASONS, 0) | {"duplicate_id": 1}
        assert documents.corpus["text"].tolist() == ["C.", "A."]


def test_a_topic_that_selects_nothing_names_the_nearest_or_all(tmp_path):
    path = written(tmp_path, file_of([("A", article("A", "T.")), ("B", article("B", "T.", "People"))]))
    with pytest.raises(DataError, match=rf"{re.escape(str(path))}: .*'geografy': did you mean 'Geography'\?"):
        VitalArticles(tmp_path).records("geografy")
    with pytest.raises(DataError, match="'xyz': known: Geography, People"):
        VitalArticles(tmp_path).records("xyz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"is not JSON \(.*line 1"),
        ("[1]", "holds a list, not an object of articles by title"),
        ('{"A": 3}', "the article 'A' is a number, not an object"),
        ('{"A": ["x"]}', "the article 'A' is a list, not an object"),
        ('{"A": {"title": "A", "topic": "T"}}', "the article 'A' has no field 'extract'"),
        ('{"A": {"title": "A", "topic": "T", "extract": null}}', "the article 'A' has null as 'extract', not a text"),
        ('{"A": {"title": "A", "topic": "T", "extract": "", "title": "B"}}', "the article 'A' has 'title' 2 times"),
        ('{"A": {"title": "A", "topic": "T", "extract": "\\ud800"}}', "the article 'A' has a half of a character"),
    ],
)
def test_a_broken_file_is_named_with_the_record_and_a_remedy(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=f"{re.escape(str(path))}: .*{message}.*: correct the file or fetch"):
        read_articles(path)


def test_bytes_that_are_no_utf8_and_a_missing_file_are_named(tmp_path):
    with pytest.raises(DataError, match="there is no such file: give dataset.asset"):
        read_articles(tmp_path / FILE)
    (tmp_path / FILE).write_bytes(b"\xff")
    with pytest.raises(DataError, match="is not JSON"):
        read_articles(tmp_path / FILE)


def test_an_identifier_is_readable_and_keeps_titles_apart_that_look_alike():
    # the first digits of `printf "Łódź, 1900" | sha256sum`; Ł has no ASCII form and is left out
    assert article_id("Łódź, 1900") == "odz-1900-ccdcb4a5"
    assert len({article_id(title) for title in ("C", "C++", "C#", "c", "Č", "Ω", "")}) == 7


@settings(deadline=None)
@given(st.text())
def test_an_identifier_fits_into_a_trec_run(key):
    assert re.fullmatch(r"(?=.{8,49}$)([a-z0-9]+-)*[0-9a-f]{8}", article_id(key))


def test_each_unusable_record_is_counted_under_the_first_reason_that_applies():
    # long and without a label counts as long alone
    documents = kept(
        Record("1", "", "", {"letter": "a"}),
        Record("2", "T", "", {}),
        Record("3", "T", "one two three four", {}),
        Record("4", "T", "one two three", {"letter": ""}),
        Record("5", "T", "one two three", {"letter": "a"}),
        Record("5", "T", "one", {"letter": "b"}),
        Record("6", "ｔ", "one", {"letter": "a"}),
        Record("7", "", "", fault="lost"),
    )
    assert documents.dropped == {
        "lost": 1,
        "empty_title": 1,
        "empty_body": 1,
        "too_long": 1,
        "no_label": 1,
        "duplicate_id": 1,
        "duplicate_title": 1,
    }
    assert documents.about == {"place": "lakes"}
    # of the two records 5 the smaller text stays: "one" < "one two three"
    assert documents.corpus.to_dict("records") == [{"doc_id": "5", "title": "T", "text": "one"}]
    assert documents.groups.to_dict("records") == [{"doc_id": "5", "category": "letter", "group": "b"}]


def test_an_unusable_record_does_not_displace_a_usable_one_with_its_title():
    documents = kept(Record("1", "Lake", "", {"letter": "a"}), Record("2", "lake", "Wet.", {"letter": "a"}))
    assert documents.corpus["doc_id"].tolist() == ["2"]
    assert documents.dropped["empty_body"] == 1


def test_quartiles_are_cut_among_the_kept_documents():
    records = [Record(str(i), f"T{i}", "one", {"letter": "a"}, {"size": i}) for i in range(4)]
    documents = kept(*records, Record("9", "long", "one two three four", {"letter": "a"}, {"size": -1}))
    sizes = documents.groups.query("category == 'size'")
    assert sizes["group"].tolist() == ["1", "2", "3", "4"]


def test_a_category_outside_the_cells_may_have_no_label():
    documents = kept(Record("1", "T", "one", {"letter": "a"}), cells=["letter"])
    assert set(documents.groups["category"]) == {"letter"}


def test_nothing_left_and_a_label_that_is_no_group_are_errors_with_a_remedy():
    with pytest.raises(DataError, match=r"topic 'lakes': no document is left of 1 records \(1 too long\): raise"):
        kept(Record("1", "T", "a b c d", {"letter": "a"}))
    with pytest.raises(DataError, match=r"\(2 no label; without a label in: 2 letter\): raise"):
        kept(Record("1", "T", "a"), Record("2", "U", "b", {"letter": ""}))
    with pytest.raises(DataError, match="1: 'z' is no group of letter"):
        kept(Record("1", "T", "a", {"letter": "z"}))


def test_titles_are_the_same_without_case_width_and_spacing():
    assert title_key(" Lake\u00a0 BAIKAL") == title_key("ｌａｋｅ baikal") == "lake baikal"
    assert title_key("Straße") == title_key("STRASSE")
    assert title_key("Łódź") != title_key("Lodz")


RECORDS = st.builds(
    Record,
    doc_id=st.sampled_from("123"),
    title=st.sampled_from(["", "A", "a", "B"]),
    text=st.sampled_from(["", "x", "x y", "a b c d"]),
    labels=st.sampled_from([{}, {"letter": "a"}, {"letter": "b"}]),
    values=st.fixed_dictionaries({"size": st.integers(0, 2)}),
)


@settings(deadline=None)
@given(st.lists(RECORDS, max_size=12), st.randoms())
def test_every_record_is_kept_or_counted_once_and_their_order_changes_nothing(records, rng):
    records = [*records, Record("0", "Z", "z", {"letter": "a"}, {"size": 1})]
    documents = kept(*records)
    shuffled = kept(*rng.sample(records, len(records)))
    assert len(documents.corpus) + sum(documents.dropped.values()) == len(records)
    assert documents.dropped == shuffled.dropped
    pd.testing.assert_frame_equal(documents.corpus, shuffled.corpus)
    pd.testing.assert_frame_equal(documents.groups, shuffled.groups)


def test_every_source_of_the_settings_has_a_reader():
    from whobenefits.categories import SOURCES

    assert SOURCE_TYPES.keys() == SOURCES.keys()
