import math
import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.attribution.documents import document_attributions
from whobenefits.attribution.overlap import STOP_WORDS, OverlapAttributor, overlap
from whobenefits.attribution.protocol import attributor_of
from whobenefits.errors import DataError
from whobenefits.tables import ANSWERS, ATTRIBUTIONS, CORPUS, REQUESTS, read_table, write_table

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow/scripts"
BAIKAL = "Lake Baikal\nLake Baikal is a rift lake in Russia, 1,642 metres deep."


def test_share_of_the_answer_s_content_words_that_the_document_holds():
    # Content words: baikal, deepest, lake, russia ("is", "the", "in" are stop words, the second "Lake" is no new word);
    # all but "deepest" are in the document: 3/4.
    assert overlap(BAIKAL, "Lake Baikal is the deepest LAKE in Russia") == 3 / 4


def test_numbers_count_as_content_words():
    # baikal and 1642 against baikal, 1, 642: 1/2.
    assert overlap(BAIKAL, "Baikal 1642") == 1 / 2
    assert overlap(BAIKAL, "642") == 1.0


def test_the_title_counts_as_part_of_the_document():
    assert overlap("Ob\na river", "Ob") == 1.0


@pytest.mark.parametrize("answer", ["", " \n", "It is in the.", "…"])
def test_an_answer_without_content_words_is_undefined_and_attributed_to_no_document(answer):
    support = OverlapAttributor(None, 0.0).support([(BAIKAL, answer)])
    assert math.isnan(support.scores[0])
    assert support.attributed.tolist() == [False]


def test_a_document_supports_an_answer_from_the_threshold_on():
    pairs = [(BAIKAL, "Lake Baikal"), (BAIKAL, "Lake Victoria"), (BAIKAL, "Mount Kenya")]
    for threshold, verdicts in ((0.5, [True, True, False]), (0.6, [True, False, False]), (1.0, [True, False, False])):
        assert OverlapAttributor(None, threshold).support(pairs).attributed.tolist() == verdicts


def test_no_pair_gives_empty_arrays():
    support = OverlapAttributor(None, 0.5).support([])
    assert support.scores.shape == support.attributed.shape == (0,)
    assert support.attributed.dtype == bool


def test_the_attributor_is_found_by_the_kind_in_the_settings():
    attributor = attributor_of({"kind": "overlap", "threshold": 0.7}, None)
    assert isinstance(attributor, OverlapAttributor) and attributor.threshold == 0.7


TEXT = st.lists(st.sampled_from(["lake", "Lake", "the", "Straße", "STRASSE", "1909", "in", "-", "rift"])).map(" ".join)


@settings(deadline=None)
@given(TEXT, TEXT)
def test_it_is_a_plain_loop_over_the_words(document, answer):
    held, total = 0, 0
    for word in sorted(set(re.findall(r"\w+", answer.casefold()))):
        if word not in STOP_WORDS:
            total += 1
            held += word in re.findall(r"\w+", document.casefold())
    got = overlap(document, answer)
    assert math.isnan(got) if total == 0 else got == held / total


@settings(deadline=None)
@given(TEXT, TEXT, TEXT)
def test_more_document_never_supports_less_and_a_text_supports_itself(document, more, answer):
    if not math.isnan(overlap("", answer)):
        assert overlap(document + " " + more, answer) >= overlap(document, answer)
        assert overlap(answer, answer) == 1.0


CORPUS_ROWS = pd.DataFrame(
    [("x", "Lake Baikal", "a lake"), ("y", "Ob", "a river"), ("q", "Volga", "a river")],
    columns=["doc_id", "title", "text"],
)
REQUEST_ROWS = pd.DataFrame(
    [
        ("r0", "q", "llm", None, None, []),
        ("r1", "q", "rag", "bm25", None, ["x", "y"]),
        ("r1", "q", "rag", "splade", None, ["x", "y"]),
        ("r0", "p", "rag", "bm25", None, []),
        ("r2", "q", "doc", None, "x", ["x"]),
    ],
    columns=["request_id", "query_id", "setting", "retriever", "doc_id", "doc_ids"],
)
ANSWER_ROWS = pd.DataFrame({"request_id": ["r1", "r0", "r2"], "answer": ["Lake Baikal", "Ob", "Ob"]}).assign(
    prompt_tokens=1, cut_tokens=0, new_tokens=1, finish_reason="stop"
)


def test_each_document_of_each_request_with_documents_has_one_row():
    got = document_attributions(CORPUS_ROWS, REQUEST_ROWS, ANSWER_ROWS, OverlapAttributor(None, 0.5))
    assert got[["query_id", "retriever", "doc_id", "score", "attributed"]].values.tolist() == [
        ["q", "bm25", "x", 1.0, True],
        ["q", "bm25", "y", 0.0, False],
        ["q", "splade", "x", 1.0, True],
        ["q", "splade", "y", 0.0, False],
    ]


def test_a_missing_document_or_answer_is_an_error_that_names_it():
    attributor = OverlapAttributor(None, 0.5)
    with pytest.raises(DataError, match="corpus is missing for 'y'"):
        document_attributions(CORPUS_ROWS[CORPUS_ROWS.doc_id != "y"], REQUEST_ROWS, ANSWER_ROWS, attributor)
    with pytest.raises(DataError, match="answer is missing for 'r1'"):
        document_attributions(CORPUS_ROWS, REQUEST_ROWS, ANSWER_ROWS.iloc[1:], attributor)


def test_the_script_writes_the_table_and_needs_no_model(tmp_path):
    tables = {"corpus": CORPUS, "requests": REQUESTS, "answers": ANSWERS}
    frames = {"corpus": CORPUS_ROWS, "requests": REQUEST_ROWS, "answers": ANSWER_ROWS}
    paths = {name: str(tmp_path / f"{name}.parquet") for name in (*tables, "attributions")}
    for name, table in tables.items():
        write_table(frames[name], table, paths[name])
    main = runpy.run_path(str(SCRIPTS / "attribute.py"), run_name="script")["main"]
    main(**paths | {"answers": [paths["answers"]]}, attributor=OverlapAttributor(None, 0.5))
    got = read_table(ATTRIBUTIONS, paths["attributions"])
    assert got["score"].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert got["attributed"].dtype == np.bool_
