import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.errors import DataError
from whobenefits.tables import QUERIES, REQUESTS, RUN, SCORES, read_table, write_table

GOOD = pd.DataFrame({"query_id": ["a", "a"], "doc_id": ["x", "y"], "rank": [1, 2], "score": [2.5, 1.0]})


def test_a_table_comes_back_as_it_was_written(tmp_path):
    write_table(GOOD, RUN, tmp_path / "deep" / "run.parquet")
    pd.testing.assert_frame_equal(read_table(RUN, tmp_path / "deep" / "run.parquet"), GOOD)


def test_the_order_of_the_columns_does_not_matter_and_nothing_is_left_behind(tmp_path):
    write_table(GOOD[["score", "rank", "doc_id", "query_id"]], RUN, tmp_path / "a")
    write_table(GOOD, RUN, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (GOOD.drop(columns="rank"), r"the columns \['rank'\] are missing or not known in the table run"),
        (GOOD.assign(more=1), r"the columns \['more'\] are missing or not known"),
        (GOOD.assign(doc_id="x"), r"1 rows repeat a key of the table run, first {'query_id': 'a', 'doc_id': 'x'}"),
        (GOOD.assign(score=[1.0, np.nan]), "the column score of the table run has no value in row 1"),
        (GOOD.assign(rank=["first", "second"]), "a column of the table run has another type"),
        (GOOD.assign(rank=[1.5, 2.0]), "a column of the table run has another type"),
    ],
)
def test_a_frame_that_does_not_fit_is_refused_with_the_path_and_nothing_is_written(frame, message, tmp_path):
    with pytest.raises(DataError, match=message) as error:
        write_table(frame, RUN, tmp_path / "run.parquet")
    assert str(tmp_path / "run.parquet") in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_file_of_another_table_is_refused_on_reading(tmp_path):
    write_table(GOOD, RUN, tmp_path / "run.parquet")
    with pytest.raises(DataError, match="are missing or not known in the table queries"):
        read_table(QUERIES, tmp_path / "run.parquet")


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "run.parquet").write_text("query_id,doc_id\n")
    with pytest.raises(DataError, match="run.parquet: is not a Parquet file .* remove it and run again"):
        read_table(RUN, tmp_path / "run.parquet")


def test_an_undefined_value_stays_undefined_where_it_may_be_missing(tmp_path):
    scores = pd.DataFrame({"request_id": ["a", "b"], "measure": "rouge-l-f1", "value": [np.nan, 0.0]})
    write_table(scores, SCORES, tmp_path / "scores")
    assert read_table(SCORES, tmp_path / "scores")["value"].isna().tolist() == [True, False]


def test_an_empty_table_and_lists_of_ids_are_kept(tmp_path):
    row = {"request_id": "r", "query_id": "q", "setting": "rag", "retriever": "bm25", "doc_id": None}
    write_table(pd.DataFrame([row | {"doc_ids": ["x", "y"]}]), REQUESTS, tmp_path / "requests")
    assert list(read_table(REQUESTS, tmp_path / "requests").doc_ids[0]) == ["x", "y"]
    write_table(GOOD[:0], RUN, tmp_path / "empty")
    assert len(read_table(RUN, tmp_path / "empty")) == 0


@given(st.lists(st.floats(allow_nan=False), max_size=20))
def test_scores_come_back_to_the_last_bit(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "scores.parquet"
    frame = pd.DataFrame({"query_id": "q", "doc_id": [str(i) for i in range(len(values))]})
    frame = frame.assign(rank=range(1, len(values) + 1), score=np.array(values, dtype=float))
    write_table(frame.astype({"rank": int}), RUN, path)
    assert read_table(RUN, path)["score"].tolist() == values
