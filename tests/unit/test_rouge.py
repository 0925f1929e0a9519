import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

from whobenefits.errors import DataError
from whobenefits.measures import rouge
from whobenefits.measures.joins import setting_scores
from whobenefits.measures.rouge import rouge_l_f1, rouge_l_summary
from whobenefits.measures.scores import answer_scores

WORDS = st.lists(st.sampled_from(["lake", "Lake", "rift", "valleys", "valley", "the", "12", "é", "."]), max_size=12)
TEXTS = WORDS.map(" ".join)


def test_hand_worked_case():
    # Reference: the deepest lake in the world (6 words); answer: the lake is the deepest (5 words).
    # Longest common subsequence "the lake the" (3): p = 3/5, r = 3/6, F1 = 2pr/(p+r) = 0.6/1.1 = 6/11.
    got = rouge_l_f1(["the deepest lake in the world"], ["The lake is the deepest."])
    assert got == pytest.approx([6 / 11], abs=1e-12)


def test_stemming_makes_word_forms_equal():
    # Without stems 0 of 1 word agree, with stems "lakes" and "lake" are one.
    assert rouge_l_f1(["lakes"], ["lake"]).tolist() == [0.0]
    assert rouge_l_f1(["lakes"], ["lake"], stemming=True).tolist() == [1.0]


def test_an_empty_answer_scores_0_and_an_empty_reference_is_undefined():
    assert rouge_l_f1(["a lake", "a lake"], ["", " \n"]).tolist() == [0.0, 0.0]
    assert np.isnan(rouge_l_f1(["", " \n\t"], ["a lake", ""])).all()


def test_no_pair_gives_an_empty_array():
    assert rouge_l_f1([], []).shape == (0,)


def test_equal_pairs_are_scored_once(monkeypatch):
    calls = []
    monkeypatch.setattr(rouge, "_f1", lambda scorer, reference, answer: calls.append((reference, answer)) or 0.5)
    assert rouge_l_f1(["a", "a", "b"], ["x", "x", "x"]).tolist() == [0.5, 0.5, 0.5]
    assert calls == [("a", "x"), ("b", "x")]


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS.filter(str.strip), TEXTS), max_size=5), st.booleans())
def test_values_are_those_of_rouge_score_and_lie_in_0_to_1(pairs, stemming):
    got = rouge_l_f1([r for r, _ in pairs], [a for _, a in pairs], stemming)
    scorer = RougeScorer(["rougeL"], use_stemmer=stemming)
    assert got.tolist() == [scorer.score(r, a)["rougeL"].fmeasure for r, a in pairs]
    assert ((got >= 0) & (got <= 1)).all()


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_f1_is_symmetric_where_both_texts_say_something(one, other):
    if one.strip() and other.strip():
        assert rouge_l_f1([one], [other]) == pytest.approx(rouge_l_f1([other], [one]), abs=1e-12)


@pytest.mark.parametrize(
    ("reference", "answer", "summary", "plain"),
    [
        # Sentences in another order. Different words: 6 each. "The deepest lake" finds all of its 3 words in the second
        # answer sentence, "A lake in Russia" its 4 in the first, of which "lake" is known: union 6, r = p = 1. Plain:
        # "a lake in russia", 4 of 7 words.
        ("The deepest lake. A lake in Russia.", "A lake in Russia. The deepest lake.", 1.0, 4 / 7),
        # A repeated word counts once: reference {lake, hill}, r = 1/2, p = 1, 2pr/(p+r) = 2/3. Plain: r = 1/4, p = 1, 2/5.
        ("lake lake lake hill", "lake", 2 / 3, 2 / 5),
        # Case and punctuation count: no word of 3 agrees. Plain: all do.
        ("Lake Baikal, Russia", "lake baikal russia", 0.0, 1.0),
    ],
)
def test_the_two_measures_by_hand(reference, answer, summary, plain):
    # The package adds 1e-8 to p + r.
    assert rouge_l_summary([reference], [answer]) == pytest.approx([summary], abs=1e-8)
    assert rouge_l_f1([reference], [answer]) == pytest.approx([plain], abs=1e-12)


def test_an_answer_without_a_sentence_scores_0_and_such_a_reference_is_undefined():
    silent = ["", " \n", ".", "...", " .. "]
    assert rouge_l_summary(["a lake"] * 5, silent).tolist() == [0.0] * 5
    assert np.isnan(rouge_l_summary(silent, ["a lake"] * 5)).all()
    assert np.isnan(rouge_l_summary(silent, silent)).all()


def test_sentences_too_long_for_the_package_are_undefined():
    # Without a common word it goes one step deeper for each of the answer's 1,100 words, Python allows 1,000.
    long = " ".join(f"w{i}" for i in range(1100))
    assert np.isnan(rouge_l_summary(["a lake"], [long])).all()
    assert rouge_l_summary(["a lake"], [long.replace("w550", ".")]).tolist() == [0.0]


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
def test_summary_values_are_those_of_the_package_as_the_public_code_calls_it(pairs):
    got = rouge_l_summary([r for r, _ in pairs], [a for _, a in pairs])
    for (reference, answer), value in zip(pairs, got, strict=True):
        if reference.strip().strip(".") and answer.strip().strip("."):
            assert value == Rouge().get_scores(answer.strip(), reference.strip())[0]["rouge-l"]["f"]
            assert 0 <= value < 1
        elif answer.strip() and reference.strip():
            with pytest.raises(ValueError, match="empty"):
                Rouge().get_scores(answer.strip(), reference.strip())


CORPUS = pd.DataFrame({"doc_id": ["b", "a"], "title": ["Mount Kenya", "Lake Baikal"], "text": ["a mountain", "a lake"]})
QUERIES = pd.DataFrame({"query_id": ["a"], "cell": ["x"]})
REQUESTS = pd.DataFrame(
    [("r1", "a", "llm", None, None, []), ("r2", "a", "rag", "bm25", None, ["b"]), ("r2", "a", "doc", None, "b", ["b"])],
    columns=["request_id", "query_id", "setting", "retriever", "doc_id", "doc_ids"],
)
ANSWERS = pd.DataFrame({"request_id": ["r2", "r1"], "answer": ["lake", "Baikal lake"]})


@pytest.mark.parametrize(
    ("task", "values"),
    # article, against "a lake": r1 has 1 of 2 and 2 words, F1 1/2; r2 p = 1, r = 1/2, F1 2/3.
    # title, against "Lake Baikal": r1 a common subsequence of 1, F1 1/2; r2 again 2/3.
    [("article", [1 / 2, 2 / 3]), ("title", [1 / 2, 2 / 3])],
)
def test_each_distinct_request_is_scored_once_against_its_query_s_document(task, values):
    got = answer_scores(QUERIES, CORPUS, REQUESTS, ANSWERS, task, False)
    assert got["request_id"].tolist() == ["r1", "r2"]
    assert got["value"].tolist() == pytest.approx(values)
    assert set(got["measure"]) == {"rouge-l-f1"}


def test_the_reference_is_the_text_for_articles_and_the_title_for_titles():
    answers = ANSWERS.assign(answer=["a lake", "Lake Baikal"])
    got = {
        task: answer_scores(QUERIES, CORPUS, REQUESTS, answers, task, False)["value"] for task in ("article", "title")
    }
    assert got["article"].tolist()[1] == got["title"].tolist()[0] == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": ANSWERS.iloc[:1]}, "an answer is missing for 'r1'"),
        ({"corpus": CORPUS.iloc[:1]}, "a document of the corpus is missing for 'a'"),
        ({"queries": QUERIES.assign(query_id="b")}, "a query is missing for 'a'"),
    ],
)
def test_a_missing_join_is_an_error_that_names_the_id(change, message):
    inputs = {"queries": QUERIES, "corpus": CORPUS, "requests": REQUESTS, "answers": ANSWERS} | change
    with pytest.raises(DataError, match=message):
        answer_scores(**inputs, task="article", stemming=False)


def test_scores_are_found_by_setting():
    scores = answer_scores(QUERIES, CORPUS, REQUESTS, ANSWERS, "article", False)
    assert setting_scores(REQUESTS, scores, "llm") == {("a",): pytest.approx(1 / 2)}
    assert setting_scores(REQUESTS, scores, "rag") == {("a", "bm25"): pytest.approx(2 / 3)}
    assert setting_scores(REQUESTS, scores, "doc") == {("a", "b"): pytest.approx(2 / 3)}


def test_scores_by_two_measures_are_refused():
    scores = pd.DataFrame({"request_id": ["r1", "r1"], "measure": ["rouge-l-f1", "bleu"], "value": [0.1, 0.2]})
    with pytest.raises(DataError, match="one accuracy"):
        setting_scores(REQUESTS, scores, "llm")


def test_the_measure_changes_the_values_and_its_name_and_nothing_else():
    plain = answer_scores(QUERIES, CORPUS, REQUESTS, ANSWERS, "article", False)
    other = answer_scores(QUERIES, CORPUS, REQUESTS, ANSWERS, "article", False, measure="rouge-l-summary")
    assert set(other["measure"]) == {"rouge-l-summary"}
    # Against "a lake": "Baikal lake" 1 of 2 and 2 words, F1 1/2; "lake" p = 1, r = 1/2, F1 2/3.
    assert other["value"].tolist() == pytest.approx([1 / 2, 2 / 3], abs=1e-8)
    assert other["request_id"].tolist() == plain["request_id"].tolist()


@pytest.mark.parametrize("measure", ["rouge-l-f1", "rouge-l-summary"])
def test_what_is_undefined_is_0_where_failed_scores_are_zero(measure):
    empty = CORPUS.assign(text=["a mountain", " "])
    undefined = answer_scores(QUERIES, empty, REQUESTS, ANSWERS, "article", False, measure)
    assert np.isnan(undefined["value"]).all()
    zero = answer_scores(QUERIES, empty, REQUESTS, ANSWERS, "article", False, measure, "zero")
    assert zero["value"].tolist() == [0.0, 0.0]
    defined = answer_scores(QUERIES, CORPUS, REQUESTS, ANSWERS, "article", False, measure)
    pd.testing.assert_frame_equal(
        answer_scores(QUERIES, CORPUS, REQUESTS, ANSWERS, "article", False, measure, "zero"), defined
    )
