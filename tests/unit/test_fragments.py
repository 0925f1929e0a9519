import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_nli import LONGEST, WORDS, tiny_nli
from transformers import pipeline

from whobenefits.attribution.fragments import FragmentAttributor, fragments, largest_part
from whobenefits.attribution.nli import NliAttributor
from whobenefits.attribution.protocol import attributor_of

DOCUMENTS = [
    ("Lake Baikal\nthe deepest lake, in Russia, a river", "the deepest lake"),
    ("Mount Kenya\na volcano, , the highest mountain ,", "Kenya is a volcano"),
    ("Ob\na river", "a river of Russia"),
    ("Lake\nBaikal, Baikal", "lake"),
    ("Ob\nof Russia", "Ob"),
]


@pytest.fixture(scope="module", params=["bert", "roberta"])
def folder(request, tmp_path_factory):
    return tiny_nli(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="module")
def attributor(folder):
    return FragmentAttributor(folder, 0.5, LONGEST, 128)


@pytest.fixture(scope="module")
def classifier(folder):
    return pipeline("zero-shot-classification", model=str(folder), device="cpu")


def reference(classifier, document, answer):
    """What the public code calls, with one pair."""
    return classifier(answer, document, multi_label=False)["scores"][0]


def test_the_largest_part_of_the_fragments_by_hand():
    # Logits of entailment (last label) 0 and ln 3 over two fragments: softmax 1/4 and 3/4. The other labels do not count.
    logits = np.array([[9.0, -9.0, 0.0], [0.0, 0.0, np.log(3)]])
    assert largest_part(logits, 2) == pytest.approx(3 / 4)
    # One fragment: contradiction (first label) ln 1 and entailment ln 4, softmax 1/5 and 4/5; over the fragments it
    # would be 1 whatever the model says.
    assert largest_part(np.array([[0.0, 7.0, np.log(4)]]), 2) == pytest.approx(4 / 5)
    # Where entailment is the first label, the last one is taken for contradiction.
    assert largest_part(np.array([[np.log(4), 7.0, 0.0]]), 0) == pytest.approx(4 / 5)


def test_a_document_is_split_at_its_commas_and_empty_parts_go():
    assert fragments(" Ob\na river, of Russia ,, \n,") == ["Ob\na river", "of Russia"]
    assert fragments(" , ") == []


def test_scores_are_those_of_the_pipeline(attributor, classifier):
    expected = [reference(classifier, *pair) for pair in DOCUMENTS]
    support = attributor.support(DOCUMENTS)
    np.testing.assert_allclose(support.scores, expected, atol=1e-5)
    assert support.attributed.tolist() == [score >= 0.5 for score in expected]


TEXTS = st.lists(st.sampled_from([*WORDS, ",", ", "]), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), st.sampled_from([1, 64, 1000]))
def test_short_pairs_have_the_pipeline_s_score_in_any_batch_and_order(attributor, classifier, pairs, batch_tokens):
    # Short: at most 8 words each, with commas 16 tokens, so that nothing is cut.
    attributor.batch_tokens, before = batch_tokens, attributor.batch_tokens
    got = attributor.support([(f"Ob\n{document}", answer) for document, answer in pairs][::-1]).scores[::-1]
    attributor.batch_tokens = before
    expected = [
        reference(classifier, f"Ob\n{' '.join(document.split())}", " ".join(answer.split()))
        for document, answer in pairs
    ]
    np.testing.assert_allclose(got, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("document", "answer", "lengths"),
    [
        # LONGEST = 32: half of it, less 2, is 14.
        (20, 12, (20, 12)),  # together 32: nothing is cut
        (21, 12, (32 - 10 - 12, 12)),  # 33: the answer is short, the document gets what is left of 32 - 10
        (12, 21, (12, 32 - 10 - 12)),  # and the other way round
        (15, 18, (12, 12)),  # both over 14: both to 12
    ],
)
def test_long_pairs_are_cut_as_the_public_code_cuts_them(attributor, document, answer, lengths):
    got = attributor._cut("lake " * document, "river " * answer)
    assert tuple(len(text.split()) for text in got) == lengths


@pytest.mark.parametrize(
    "pair", [("lake " * 40, "Baikal"), ("lake " * 90, "river " * 14), ("lake, " * 90, "river " * 90)]
)
def test_no_pair_is_too_long_for_the_model(attributor, pair):
    assert 0 < attributor.support([pair]).scores[0] <= 1


def test_an_empty_answer_and_a_document_of_commas_are_undefined_and_not_attributed(folder):
    attributor = FragmentAttributor(folder, 0.0, LONGEST, 128)
    support = attributor.support([("Ob", " \n"), (" ,\n,", "a river"), DOCUMENTS[0]])
    assert np.isnan(support.scores).tolist() == [True, True, False]
    assert support.attributed.tolist() == [False, False, True]
    assert attributor.support([]).scores.shape == (0,)


def test_each_distinct_pair_is_computed_once_and_chunks_change_nothing(attributor, monkeypatch):
    calls = []
    monkeypatch.setattr("whobenefits.attribution.fragments.CHUNK", 2)
    logits = attributor.logits
    monkeypatch.setattr(attributor, "logits", lambda pairs: calls.append(len(pairs)) or logits(pairs))
    support = attributor.support(DOCUMENTS + DOCUMENTS[::-1])
    # Fragments: 3, 2, 1, 2 and 1, two documents at a time.
    assert calls == [5, 3, 1]
    assert support.scores.tolist() == support.scores[::-1].tolist()


def test_the_choice_of_the_attributor_is_the_kind_in_the_settings(folder):
    options = {"model": "tiny", "threshold": 0.5, "max_length": LONGEST, "batch_tokens": 64}
    scores = {}
    for kind, found in (("nli", NliAttributor), ("fragments", FragmentAttributor)):
        attributor = attributor_of(options | {"kind": kind}, folder)
        assert type(attributor) is found
        scores[kind] = attributor.support(DOCUMENTS[:1]).scores[0]
    assert scores["nli"] != pytest.approx(scores["fragments"], abs=1e-3)
