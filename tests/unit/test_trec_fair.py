import gzip
import json
import random
from pathlib import Path

import pytest
from trec_files import TrecFiles, trec_files

from whobenefits.categories import TREC_FAIR, Category
from whobenefits.datasets.form import dataset_summary, topic_documents
from whobenefits.datasets.sources import SOURCE_TYPES, source_of
from whobenefits.datasets.trec_fair import TrecFair
from whobenefits.errors import DataError
from whobenefits.sampling import draw_queries

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
STUDY = ["age-of-topic", "popularity", "age-of-article", "alphabetical"]
AGE, REGION = TREC_FAIR["age-of-topic"], TREC_FAIR["subcontinents"]


def document(doc_id: int, title: str = "", plain: str = "A text.") -> dict:
    return {"id": doc_id, "title": title or f"Title {doc_id}", "url": "https://example.org", "plain": plain}


def labels(page_id: int, years="Unknown", **fields) -> dict:
    return {"page_id": page_id, "years_category": years, **fields}


def written(path: Path, rows: list) -> Path:
    """JSON lines; a row of bytes is written as it is."""
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def source(folder, corpus: list, metadata: list, topics: list | None = None, categories=(AGE, REGION)) -> TrecFair:
    topics = topics or [{"id": 666, "title": "Cities", "rel_docs": [1, 2, 3]}, {"id": 84, "title": "B", "rel_docs": []}]
    files = [
        written(folder / name, rows) for name, rows in (("corpus", corpus), ("metadata", metadata), ("topics", topics))
    ]
    return TrecFair(*files, {category.slug: category for category in categories})


def documents_of(found: TrecFair, cells=("age-of-topic",), topic="666", max_words=10):
    return topic_documents(found, topic, found.categories, cells, max_words)


def dropped(documents) -> dict[str, int]:
    return {reason: count for reason, count in documents.dropped.items() if count}


def test_documents_of_a_wikiproject_have_their_literal_labels_in_any_order_of_the_files(tmp_path):
    corpus = [document(9), document(2, "Bonn", "On the\u00a0 Rhine.\nA city."), document(1, "Ulm"), document(3)]
    metadata = [labels(3, "21st century"), labels(9), labels(1, "Pre-1900s"), labels(2)]
    found = documents_of(source(tmp_path, corpus, metadata))
    assert found.corpus.to_dict("records") == [
        {"doc_id": "1", "title": "Ulm", "text": "A text."},
        {"doc_id": "2", "title": "Bonn", "text": "On the Rhine. A city."},
        {"doc_id": "3", "title": "Title 3", "text": "A text."},
    ]
    assert found.groups["group"].tolist() == ["Pre-1900s", "Unknown", "21st century"]
    assert found.about == {"wikiproject": "666 Cities"}
    assert dropped(found) == {}


def test_unknown_is_a_group_and_an_empty_label_or_none_is_no_valid_one(tmp_path):
    metadata = [labels(1, "Unknown"), labels(2, ""), {"page_id": 3, "years_category": None}]
    found = documents_of(source(tmp_path, [document(i) for i in (1, 2, 3)], metadata))
    assert found.groups["group"].tolist() == ["Unknown"]
    assert dropped(found) == {"no_label": 2}


@pytest.mark.parametrize(
    ("value", "group"),
    [
        (["Western Africa"], "Western Africa"),
        (["Western Africa", "Caribbean"], "Several"),
        (["Caribbean", "Caribbean", ""], "Caribbean"),
        ([], "Unknown"),
        ([""], "Unknown"),
        ({"Caribbean": 5}, "Caribbean"),
        ({"Caribbean": 5, "Polynesia": 1}, "Several"),
        ({}, "Unknown"),
        ("Caribbean", "Caribbean"),
        ("", None),
        (None, None),
    ],
)
def test_a_field_with_any_number_of_values_gives_at_most_one_group(tmp_path, value, group):
    metadata = [labels(1, page_subcont_regions=value)]
    found = documents_of(source(tmp_path, [document(1)], metadata))
    assert found.groups.query("category == 'subcontinents'")["group"].tolist() == [group] * (group is not None)


def test_an_empty_list_is_no_label_where_the_category_has_no_unknown(tmp_path):
    own = Category("letters", "Letters", "L", ("a", "b"), field="letters")
    found = documents_of(
        source(tmp_path, [document(1)], [labels(1, letters=[])], categories=(AGE, own)), ["age-of-topic"]
    )
    assert found.groups["category"].tolist() == ["age-of-topic"]


def test_what_the_files_lack_or_have_too_often_is_counted_and_read_is_the_sum_of_all(tmp_path):
    # 1 is kept; 2 has no metadata; 3 and 4 no document, 4 no metadata either; 5 is twice in the corpus;
    # 6 has a row twice; 7 has two other rows; 8 is listed twice
    corpus = [document(i) for i in (1, 2, 5, 6, 7, 8)] + [document(5, "Title 5", "A longer text."), document(77)]
    metadata = [labels(i) for i in (1, 3, 5, 6, 6, 7, 8, 78)] + [labels(7, ""), labels(7, "Pre-1900s")]
    topics = [{"id": 666, "title": "Cities", "rel_docs": [1, 2, 3, 4, 5, 6, 7, 8, 8]}]
    found = documents_of(source(tmp_path, corpus, metadata, topics))
    assert dropped(found) == {
        "listed_twice": 1,
        "no_document": 2,
        "no_metadata": 1,
        "repeated_metadata": 1,
        "conflicting_metadata": 2,
        "duplicate_id": 1,
    }
    assert found.corpus["doc_id"].tolist() == ["1", "5", "6", "7", "8"]
    # of two texts the smaller one, of several rows the one with the most groups, then the smaller ones
    assert found.corpus["text"].tolist()[1] == "A longer text."
    assert found.groups["group"].tolist() == ["Unknown", "Unknown", "Unknown", "Pre-1900s", "Unknown"]
    queries = draw_queries(found.groups, ["age-of-topic"], 1, None)
    topic = {"slug": "cities", "label": "Cities"}
    summary = dataset_summary(found, queries, topic, {"age-of-topic": AGE}, ["age-of-topic"]).iloc[0]
    # 9 listed ids, 1 more line of the corpus, 1 + 2 more rows of the metadata
    assert summary["read"] == 13 == summary["documents"] + sum(found.dropped.values())
    assert summary["wikiproject"] == "666 Cities"


def test_an_unknown_id_names_those_that_are_near(tmp_path):
    found = source(tmp_path, [], [])
    with pytest.raises(DataError, match=r"no WikiProject has the id '6666': near it are '666' \(Cities\)"):
        list(found.records("6666"))
    with pytest.raises(DataError, match=r"id '1': some that are there: '666' \(Cities\), '84' \(B\)"):
        list(found.records("1"))


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("corpus", {"id": 1, "title": 7, "plain": "x"}, "'title' is a number (7), not a text"),
        ("corpus", {"id": 1, "title": "x"}, "has no field 'plain'"),
        ("corpus", {"title": "x", "plain": "y"}, "has no field 'id'"),
        ("corpus", b'{"id": 1, "title": "\xff", "plain": ""}', "is not UTF-8"),
        ("metadata", {"page_id": "1"}, "'page_id' is a text (\"1\"), not a whole number"),
        (
            "metadata",
            labels(1, "19th century"),
            "'years_category' is '19th century', which is no group of age-of-topic",
        ),
        ("metadata", labels(1, 1900), "'years_category' is 1900, neither a label nor a list of labels"),
        (
            "metadata",
            labels(1, page_subcont_regions=["Mars", "Caribbean"]),
            "'page_subcont_regions' is 'Mars', which is no",
        ),
        ("metadata", labels(1, page_subcont_regions=[1]), "'page_subcont_regions' is [1], neither a label nor"),
        ("topics", {"id": 1, "title": "x"}, "'rel_docs' is null, not a list of ids"),
        ("topics", {"id": 1, "title": "x", "rel_docs": ["5"]}, "'rel_docs' is a text (\"5\"), not a whole number"),
        ("topics", {"id": 7, "title": "x", "rel_docs": []}, "the WikiProject 7 is in line 1 already: remove one"),
        ("topics", {"id": 1, "rel_docs": []}, "has no field 'title'"),
    ],
)
def test_a_broken_line_is_named_with_file_number_and_remedy(tmp_path, name, row, message):
    first = {"corpus": document(2), "metadata": labels(2), "topics": {"id": 7, "title": "x", "rel_docs": [1, 2]}}
    rows = {kind: [value] for kind, value in first.items()}
    rows[name].append(row)
    with pytest.raises(DataError) as error:
        documents_of(source(tmp_path, rows["corpus"], rows["metadata"], rows["topics"]), topic="7")
    assert str(error.value).startswith(f"{tmp_path / name}, line 2: {message}")
    assert any(word in str(error.value) for word in ("correct the line", "remove one"))


def test_a_topic_without_a_usable_document_says_what_was_dropped(tmp_path):
    with pytest.raises(DataError, match=r"topic '666': no document is left of 3 records \(3 no document\)"):
        documents_of(source(tmp_path, [], []))
    # the category's field is in no row
    found = source(tmp_path, [document(1)], [{"page_id": 1}], [{"id": 666, "title": "C", "rel_docs": [1]}])
    with pytest.raises(DataError, match=r"\(1 no label; without a label in: 1 age-of-topic\)"):
        documents_of(found)


def test_a_field_that_no_row_has_is_told_in_the_log(tmp_path, caplog):
    documents_of(source(tmp_path, [document(1)], [labels(1)]))
    assert "no row has the fields of these categories: page_subcont_regions (subcontinents)" in caplog.text


def lines_of(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines(keepends=True)


def shuffled(files: TrecFiles, folder: Path, seed: int) -> TrecFiles:
    """The same lines in another order, plain."""
    folder.mkdir()
    paths = []
    for path in (files.corpus, files.metadata, files.topics):
        lines = lines_of(path)
        random.Random(seed).shuffle(lines)
        paths.append(folder / path.stem)
        paths[-1].write_bytes(b"".join(lines))
    return TrecFiles(*paths)


def test_shuffled_files_give_the_same_documents_and_counts(tmp_path):
    files = trec_files(tmp_path / "a", 1500, seed=3, mean_words=30, share=0.4)
    found = [
        documents_of(TrecFair(f.corpus, f.metadata, f.topics, TREC_FAIR), STUDY, max_words=60)
        for f in (files, shuffled(files, tmp_path / "b", 1), shuffled(files, tmp_path / "c", 2))
    ]
    for other in found[1:]:
        assert other.corpus.equals(found[0].corpus) and other.groups.equals(found[0].groups)
        assert other.dropped == found[0].dropped
    # the generator makes what the track's files have: ids without documents, documents without metadata, rows twice
    assert {"no_document", "no_metadata", "too_long", "no_label"} <= set(dropped(found[0]))
    assert len(found[0].corpus) > 200


def test_the_generator_makes_the_same_bytes_from_the_same_seed(tmp_path):
    first, again = (trec_files(tmp_path / name, 50, seed=1, mean_words=10) for name in "ab")
    assert first.corpus.read_bytes() == again.corpus.read_bytes()
    assert first.metadata.read_bytes() == again.metadata.read_bytes()


def test_the_kept_documents_are_those_of_the_plain_way(tmp_path):
    files = trec_files(tmp_path, 800, seed=5, mean_words=20, share=0.5)
    wanted = next(set(row["rel_docs"]) for row in map(json.loads, lines_of(files.topics)) if row["id"] == 1102)
    rows = {row["page_id"]: row for row in map(json.loads, lines_of(files.metadata)) if row["page_id"] in wanted}
    fields = [TREC_FAIR[slug].field for slug in STUDY]
    expected = [
        str(row["id"])
        for row in map(json.loads, lines_of(files.corpus))
        if row["id"] in rows and all(rows[row["id"]][field] for field in fields) and len(row["plain"].split()) <= 30
    ]
    found = documents_of(TrecFair(files.corpus, files.metadata, files.topics, TREC_FAIR), STUDY, "1102", 30)
    assert found.corpus["doc_id"].tolist() == sorted(expected)


def test_checked_settings_give_the_source_with_their_own_categories(tmp_path):
    own = {"field": "quality", "label": "Q", "short": "Q", "groups": ["x", "y"], "note": ""}
    dataset = {"source": "trec-fair", "categories": {"mine": own}}
    paths = [written(tmp_path / name, []) for name in "abc"]
    found = source_of(dataset, [str(path) for path in paths])
    assert (found.corpus, found.metadata, found.topics) == tuple(paths)
    assert list(found.categories) == [*TREC_FAIR, "mine"]
    assert "trec-fair" in SOURCE_TYPES


BIOS = SHARED / "data/derived_trec_bios"
SAMPLES = SHARED / "data/trec2022_official_samples/metadata_samples_from_ir_datasets_test.json"


@pytest.mark.skipif(not BIOS.is_dir(), reason="the derived biographies are not beside the checkout")
def test_real_documents_are_read_and_none_is_lost():
    found = TrecFair(
        BIOS / "corpus.jsonl.gz",
        BIOS / "metadata.jsonl.gz",
        BIOS / "train_reldocs.jsonl",
        dict(list(TREC_FAIR.items())[:4]),
    )
    documents = documents_of(found, STUDY, "1630", 512)
    assert documents.about == {"wikiproject": "1630 Military history"}
    assert len(documents.corpus) + sum(documents.dropped.values()) == 501
    assert dropped(documents) == {"no_label": 145}


@pytest.mark.skipif(not SAMPLES.is_file(), reason="the official sample records are not beside the checkout")
def test_official_rows_of_metadata_have_groups_in_all_built_in_categories(tmp_path):
    rows = json.loads(SAMPLES.read_text())
    topics = [{"id": 666, "title": "Cities", "rel_docs": [row["page_id"] for row in rows]}]
    corpus = [document(row["page_id"]) for row in rows]
    found = documents_of(source(tmp_path, corpus, rows, topics, TREC_FAIR.values()), list(TREC_FAIR))
    assert len(found.corpus) == len(rows) and len(found.groups) == len(rows) * len(TREC_FAIR)
    assert set(found.groups.query("category == 'subcontinents'")["group"]) == {"Northern America", "Unknown"}
