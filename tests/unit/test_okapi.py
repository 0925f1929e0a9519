import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rank_bm25 import BM25Okapi

from whobenefits.errors import DataError
from whobenefits.retrieval.okapi import OkapiRetriever, Weights, floored_idf, term_counts, tokens
from whobenefits.retrieval.protocol import retrieved, retriever_of

CORPUS = pd.DataFrame(
    [("a", "lake", "lake deep"), ("b", "hill", ""), ("c", "moon", ""), ("d", "stone", "old stone")],
    columns=["doc_id", "title", "text"],
    dtype="str",
)


def queries(**texts):
    return pd.DataFrame({"query_id": list(texts), "text": list(texts.values())}, dtype="str")


def hits(folder, corpus, asked, depth=10, **options):
    retriever = OkapiRetriever(**options)
    retriever.index(corpus, folder)
    found = retriever.search(asked, folder, depth)
    return dict(zip(zip(found["query_id"], found["doc_id"], strict=True), found["score"], strict=True))


def test_hand_worked_case(tmp_path):
    # N = 4 documents of 3, 1, 1 and 3 tokens, mean 2. "deep" and "lake" each stand in one: idf = ln(3.5 / 1.5) = 0.847298.
    # Document a, of 3 tokens: k1 (1 - b + b 3/2) = 1.5 x 1.375 = 2.0625.
    # deep, tf 1: 1 x 2.5 / (1 + 2.0625) = 0.816327; lake, tf 2: 2 x 2.5 / (2 + 2.0625) = 1.230769.
    got = hits(tmp_path, CORPUS, queries(q="deep lake"))
    assert got == {("q", "a"): pytest.approx(0.847298 * (0.816327 + 1.230769), rel=1e-5)}


def test_a_word_that_the_query_has_twice_counts_twice(tmp_path):
    got = hits(tmp_path, CORPUS, queries(once="deep", twice="deep deep"))
    assert got["twice", "a"] == pytest.approx(2 * got["once", "a"], rel=1e-5)


def test_k1_b_and_epsilon_work_at_search_time(tmp_path):
    OkapiRetriever().index(CORPUS, tmp_path)
    # With b = 0 the length does not count: deep 2.5 / 2.5 = 1, so the score is the idf.
    flat = OkapiRetriever(b=0.0).search(queries(q="deep"), tmp_path, 10)
    assert flat["score"].tolist() == pytest.approx([math.log(3.5 / 1.5)], rel=1e-5)


def test_a_term_in_more_than_half_of_the_documents_has_a_part_of_the_mean_idf():
    # Of 4 documents: in 3, ln(1.5 / 3.5) = -0.847298; in 1, ln(3.5 / 1.5) = 0.847298; in 1 again. Mean 0.282433.
    got = floored_idf(np.array([3, 1, 1]), 4, 0.25)
    assert got == pytest.approx([0.25 * 0.282433, 0.847298, 0.847298], abs=1e-6)
    # In half of them: ln(2.5 / 2.5) = 0 is not negative, and stays.
    assert floored_idf(np.array([2, 1]), 4, 0.25)[0] == 0.0


WORDS = st.sampled_from(["lake", "Lake", "lakes,", "the", "The", "rivers", "river", "12", "running", "é", "a"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


@settings(deadline=None, max_examples=60)
@given(st.lists(TEXTS, min_size=1, max_size=8), TEXTS, st.floats(0.1, 3), st.floats(0, 0.9), st.floats(0, 1))
def test_scores_are_those_of_rank_bm25(texts, query, k1, b, epsilon):
    # Neither k1 = 0 nor b = 1: with them the package divides 0 by 0 for a document without a token.
    assume(any(tokens(text) for text in texts))
    expected = BM25Okapi([tokens(text) for text in texts], k1=k1, b=b, epsilon=epsilon).get_scores(tokens(query))
    counts, terms = term_counts(texts)
    columns = {terms.index(term): tokens(query).count(term) for term in tokens(query) if term in terms}
    got = Weights(counts, k1, b, epsilon).scores(columns)
    shared = np.array([bool(set(tokens(text)) & set(tokens(query))) for text in texts])
    assert (got == -np.inf).tolist() == (~shared).tolist()
    np.testing.assert_allclose(got[shared], expected[shared], rtol=1e-9, atol=1e-12)
    assert (expected[~shared] == 0).all()


def test_words_keep_case_and_punctuation_and_only_lower_case_stop_words_go():
    assert tokens("The lakes of the\tworld, and Lakes\n") == ["The", "lake", "world,", "Lake"]
    # Not stemmed, being of two letters, and stemmed by the rule for -logi, which Porter's first version does not have.
    assert tokens("is as Us archaeology") == ["Us", "archaeolog"]
    assert PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM).stem("archaeology") == "archaeologi"


def test_a_query_s_own_document_is_never_retrieved_and_ties_stand_in_the_order_of_ids(tmp_path):
    ids = [f"d{i:02}" for i in range(20)]
    corpus = pd.DataFrame({"doc_id": ids[::-1], "title": "moon", "text": "deep water"}, dtype="str")
    corpus = pd.concat([corpus, CORPUS[1:3]], ignore_index=True)
    retriever = retriever_of({"kind": "okapi", "k1": 1.5, "b": 0.75, "epsilon": 0.25}, None)
    retriever.index(corpus, tmp_path)
    run = retrieved(retriever, corpus, ["d00"], "title", tmp_path, 3)
    assert run["doc_id"].tolist() == ["d01", "d02", "d03"]
    assert run["score"].nunique() == 1


def test_a_query_without_a_known_word_and_one_of_stop_words_have_no_hit(tmp_path):
    assert hits(tmp_path, CORPUS, queries(unknown="volcano", stop="the of and")) == {}


@pytest.mark.parametrize("step", [1, -1])
def test_neither_the_order_of_the_corpus_nor_of_the_query_changes_a_bit(tmp_path, step):
    (tmp_path / "other").mkdir()
    words = ["old", "deep", "stone", "lake", "moon"]
    plain = hits(tmp_path, CORPUS, queries(q=" ".join(words)))
    assert hits(tmp_path / "other", CORPUS[::step], queries(q=" ".join(words[::step]))) == plain


def test_a_corpus_without_a_word_has_no_hit(tmp_path):
    assert hits(tmp_path, CORPUS.assign(title="the", text=""), queries(q="lake")) == {}


def test_a_folder_that_is_no_whole_index_is_an_error(tmp_path):
    OkapiRetriever().index(CORPUS, tmp_path)
    (tmp_path / "terms.json").unlink()
    with pytest.raises(DataError, match=r"terms.json: is not there, .* remove the folder and run again"):
        OkapiRetriever().search(queries(q="lake"), tmp_path, 3)
