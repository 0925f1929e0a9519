import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.code import SCRIPTS, code_of
from whobenefits.errors import DataError
from whobenefits.retrieval.protocol import query_texts, retrieved, retriever_of, source_of
from whobenefits.retrieval.ranking import best_hits, first_largest, ranked, read_doc_ids, rounded
from whobenefits.retrieval.run import GivenRun
from whobenefits.retrieval.trec import read_trec_run
from whobenefits.tables import CORPUS, QUERIES, RUN, read_table, write_table


def table(columns, rows):
    return pd.DataFrame(rows, columns=columns)


def corpus(ids="abcd"):
    return table(["doc_id", "title", "text"], [(i, f"title {i}", f"text {i}") for i in ids]).astype("str")


def hits(*rows):
    return table(["query_id", "doc_id", "score"], rows).astype({"query_id": "str", "doc_id": "str", "score": "float64"})


def rows(run):
    return list(run[["query_id", "doc_id", "rank", "score"]].itertuples(index=False, name=None))


def test_the_own_document_is_left_out_equal_scores_go_by_id_and_ranks_begin_at_one():
    found = hits(("a", "d", 2.0), ("a", "a", 9.0), ("a", "c", 2.0), ("a", "b", 1.0), ("b", "a", 1.0))
    assert rows(ranked(found, ["a", "b"], 2)) == [("a", "c", 1, 2.0), ("a", "d", 2, 2.0), ("b", "a", 1, 1.0)]


def test_short_and_empty_lists_are_logged_with_their_counts(caplog):
    ranked(hits(("a", "b", 1.0)), ["a", "b", "c"], 2)
    assert "3 of 3 queries have fewer than 2 documents, 2 of them none" in caplog.text


def test_no_hit_at_all_gives_an_empty_run_of_the_tables_types(tmp_path):
    run = ranked(hits(), ["a"], 2)
    write_table(run, RUN, tmp_path / "run.parquet")
    assert read_table(RUN, tmp_path / "run.parquet").empty


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 12))
def test_the_largest_scores_are_those_of_a_full_sort_with_the_first_places_first(scores, count):
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:count]
    assert first_largest(np.array(scores, dtype=float), count).tolist() == expected


def test_one_document_more_than_the_depth_is_given_and_what_is_no_hit_is_not():
    scores = np.array([[0.5, 0.7, 0.7, 0.1], [-math.inf, 1.0, -math.inf, -math.inf]])
    found = best_hits(["q", "r"], scores, list("abcd"), 2)
    assert list(found.itertuples(index=False, name=None)) == [
        ("q", "b", 0.7),
        ("q", "c", 0.7),
        ("q", "a", 0.5),
        ("r", "b", 1.0),
    ]


def test_scores_keep_six_digits_of_the_largest():
    # The largest, 123.4567, keeps 6 digits with 3 decimals; so do the others.
    assert rounded(np.array([123.45674, -0.00049, 0.0006, -math.inf])).tolist() == [123.457, -0.0, 0.001, -math.inf]
    assert rounded(np.array([0.0, -math.inf])).tolist() == [0.0, -math.inf]


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1))
def test_rounding_moves_no_score_by_more_than_half_a_unit_of_the_sixth_digit_of_the_largest(scores):
    largest = max(map(abs, scores))
    assert np.abs(rounded(np.array(scores)) - scores).max() <= 0.50001e-5 * largest


def test_float32_noise_does_not_decide_between_documents():
    noisy = np.array([0.8123402, 0.8123403, 0.8123401], dtype=np.float32)
    assert best_hits(["q"], [noisy], list("abc"), 1)["doc_id"].tolist() == ["a", "b"]


def test_a_query_is_the_title_of_its_document_or_its_text():
    assert query_texts(corpus(), ["c", "a"], "article")["text"].tolist() == ["title c", "title a"]
    assert query_texts(corpus(), ["c", "a"], "title")["text"].tolist() == ["text c", "text a"]


def test_a_query_that_is_no_document_is_an_error_with_name_and_count():
    with pytest.raises(DataError, match="'x' is the first of 2 queries"):
        query_texts(corpus(), ["a", "x", "y"], "title")


def test_settings_name_their_retriever_and_what_it_works_from():
    settings = {"kind": "run", "label": "Given", "path": "runs/{topic}.trec"}
    assert retriever_of(settings, Path("a.trec")) == GivenRun(Path("a.trec"))
    assert source_of("resources/minilm/asset.json") == Path("resources/minilm")
    assert source_of(None, "a.trec") == Path("a.trec")
    assert source_of(None) is None


def test_the_code_of_a_retriever_does_not_list_another_nor_the_settings():
    names = {Path(path).stem for path in code_of("retrieve", "whobenefits.retrieval.bm25")}
    assert names >= {"retrieve", "protocol", "ranking", "trec", "bm25", "java", "tables"}
    assert not names & {"splade", "dense", "encoder", "run", "config"}


def run_over(tmp_path, lines, depth=2, ids="abcd", queries=("a", "b")):
    folder = tmp_path / "index"
    folder.mkdir(exist_ok=True)
    path = tmp_path / "given.trec"
    path.write_text("".join(f"{line} x\n" for line in lines))
    retriever = retriever_of({"kind": "run"}, path)
    retriever.index(corpus(ids), folder)
    return retrieved(retriever, corpus(ids), list(queries), "title", folder, depth)


def test_a_given_run_is_ranked_again_by_its_scores_and_other_queries_are_not_read(tmp_path):
    lines = ["a Q0 a 1 9", "a Q0 d 2 3", "a Q0 c 3 3", "a Q0 b 4 5", "b Q0 a 9 1", "b Q0 c 1 2", "z Q0 unknown 1 1"]
    expected = [("a", "b", 1, 5.0), ("a", "c", 2, 3.0), ("b", "c", 1, 2.0), ("b", "a", 2, 1.0)]
    assert rows(run_over(tmp_path, lines)) == expected


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["a Q0 y 1 2", "a Q0 x 2 1", "b Q0 a 1 1"], "'y' is the first of 2 documents that are not in the corpus"),
        (["a Q0 b 1 2", "a Q0 c 2 1"], "'b' is the first of 1 queries without a document"),
        (
            ["a Q0 b 1 2", "a Q0 a 2 1", "b Q0 a 1 2", "b Q0 c 2 1"],
            "'a' is the first of 1 queries whose list was cut, with 1 documents besides its own, but retrieval.depth is 2",
        ),
    ],
)
def test_a_given_run_that_does_not_fit_is_an_error_with_file_name_and_count(tmp_path, lines, fault):
    with pytest.raises(DataError, match=fault) as raised:
        run_over(tmp_path, lines)
    assert str(tmp_path / "given.trec") in str(raised.value)


def test_a_list_shorter_than_the_longest_of_a_given_run_is_all_that_was_found(tmp_path):
    run = run_over(tmp_path, ["a Q0 b 1 2", "a Q0 c 2 1", "b Q0 a 1 2"])
    assert run["query_id"].tolist() == ["a", "a", "b"]


def test_a_given_run_need_not_be_deeper_than_the_corpus(tmp_path):
    assert len(run_over(tmp_path, ["a Q0 b 1 2", "b Q0 a 1 2"], depth=5, ids="ab")) == 2


def test_a_folder_that_is_no_index_is_named(tmp_path):
    with pytest.raises(DataError, match="is not a whole index: remove the folder and run again"):
        read_doc_ids(tmp_path)


def script(name):
    spec = importlib.util.spec_from_file_location(f"script_{name}", SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_scripts_write_the_same_run_as_a_table_and_as_a_trec_file(tmp_path):
    write_table(corpus(), CORPUS, tmp_path / "corpus.parquet")
    write_table(table(["query_id", "cell"], [("a", "x"), ("b", "y")]), QUERIES, tmp_path / "queries.parquet")
    (tmp_path / "given.trec").write_text("a Q0 c 1 0.1 x\na Q0 b 2 0.7 x\nb Q0 a 1 1 x\nb Q0 d 2 0.5 x\n")
    script("build_index").main(str(tmp_path / "corpus.parquet"), str(tmp_path / "index"), {"kind": "run"}, None)
    assert json.loads((tmp_path / "index/doc_ids.json").read_text()) == list("abcd")
    script("retrieve").main(
        retriever=retriever_of({"kind": "run"}, tmp_path / "given.trec"),
        corpus=str(tmp_path / "corpus.parquet"),
        queries=str(tmp_path / "queries.parquet"),
        index=str(tmp_path / "index"),
        run=str(tmp_path / "run.parquet"),
        trec=str(tmp_path / "run.trec"),
        task="article",
        name="given",
        depth=2,
    )
    run = read_table(RUN, tmp_path / "run.parquet")
    assert rows(run) == [("a", "b", 1, 0.7), ("a", "c", 2, 0.1), ("b", "a", 1, 1.0), ("b", "d", 2, 0.5)]
    pd.testing.assert_frame_equal(read_trec_run(tmp_path / "run.trec"), run)
    assert (tmp_path / "run.trec").read_text().startswith("a Q0 b 1 0.7 given\n")
