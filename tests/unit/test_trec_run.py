import gzip

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.errors import DataError
from whobenefits.retrieval.trec import read_trec_run, write_trec_run

COLUMNS = ["query_id", "doc_id", "rank", "score"]


def frame(rows):
    return pd.DataFrame(rows, columns=COLUMNS).astype(
        {"query_id": "str", "doc_id": "str", "rank": "int64", "score": "float64"}
    )


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_line_is_query_q0_document_rank_score_tag(tmp_path):
    write_trec_run(frame([("q1", "d7", 1, 2.5), ("q1", "é", 2, 0.1)]), tmp_path / "a.trec", "bm25")
    assert (tmp_path / "a.trec").read_text(encoding="utf-8") == "q1 Q0 d7 1 2.5 bm25\nq1 Q0 é 2 0.1 bm25\n"


ids = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n"), min_size=1, max_size=5).filter(
    lambda word: not word.startswith("\ufeff")
)
scores = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(st.tuples(ids, ids, st.integers(1, 999), scores), max_size=8, unique_by=lambda row: row[:2]),
)
def test_what_is_written_is_read_back_exactly(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("run") / "a.trec"
    write_trec_run(frame(rows), path, "tag")
    pd.testing.assert_frame_equal(read_trec_run(path), frame(rows), check_exact=True)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_tabs_spaces_line_ends_of_windows_and_gzip_are_read(tmp_path, pack):
    (tmp_path / "a").write_bytes(pack(b"\xef\xbb\xbfq1\tQ0\td1\t1\t3\tx\r\n\r\n q1  Q0 d2 2   1e-3 x \nq2 0 d1 1 -1 x"))
    expected = frame([("q1", "d1", 1, 3.0), ("q1", "d2", 2, 0.001), ("q2", "d1", 1, -1.0)])
    pd.testing.assert_frame_equal(read_trec_run(tmp_path / "a"), expected)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("q1 Q0 d2 2 1.0", "has 5 columns instead of the 6 of"),
        ("q1 Q0 d2 2 1.0 my tag", "has 7 columns"),
        ("q1 Q0 d2 first 1.0 x", "rank 'first' and score '1.0' must be a whole and a finite number"),
        ("q1 Q0 d2 2 high x", "score 'high'"),
        ("q1 Q0 d2 2 nan x", "score 'nan'"),
        ("q1 Q0 d2 2 inf x", "score 'inf'"),
        ("q1 Q0 d1 2 0.5 x", "query 'q1' has document 'd1' in line 1 too"),
    ],
)
def test_a_faulty_line_is_named_by_file_and_number(tmp_path, line, fault):
    path = written(tmp_path / "a.trec", f"q1 Q0 d1 1 2.0 x\n\n{line}\n")
    with pytest.raises(DataError) as raised:
        read_trec_run(path)
    assert str(raised.value).startswith(f"{path}:3: ")
    assert fault in str(raised.value)


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    with pytest.raises(DataError, match="a.trec: is not there"):
        read_trec_run(tmp_path / "a.trec")
    (tmp_path / "b.trec").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="b.trec: is not a text file in UTF-8"):
        read_trec_run(tmp_path / "b.trec")
    (tmp_path / "c.trec").write_bytes(gzip.compress(b"q Q0 d 1 1 x")[:-9])
    with pytest.raises(DataError, match="c.trec: is not a text file"):
        read_trec_run(tmp_path / "c.trec")


@pytest.mark.parametrize(
    ("row", "tag"), [(("q 1", "d", 1, 1.0), "x"), (("q", "", 1, 1.0), "x"), (("q", "d", 1, 1.0), "a b")]
)
def test_ids_and_tags_that_the_form_cannot_hold_are_refused_before_anything_is_written(tmp_path, row, tag):
    with pytest.raises(DataError, match="white space"):
        write_trec_run(frame([row]), tmp_path / "a.trec", tag)
    assert list(tmp_path.iterdir()) == []
