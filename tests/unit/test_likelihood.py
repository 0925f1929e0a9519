import math
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import tiny_llm, tiny_tokenizer

from whobenefits.attribution.documents import document_attributions
from whobenefits.attribution.likelihood import Case, LikelihoodAttributor, LikelihoodCases, drawn_controls
from whobenefits.attribution.log_probabilities import LogProbabilities
from whobenefits.errors import DataError
from whobenefits.generation.prompts import Template, read_template
from whobenefits.manifests import write_manifest
from whobenefits.tables import ANSWERS, ATTRIBUTIONS, CORPUS, REQUESTS, read_table, write_table

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = {
    "llm": Template("Title: {{ query }}\nArticle:"),
    "doc": Template("{% for d in documents %}{{ d.title }}: {{ d.body }}\n{% endfor %}Title: {{ query }}\nArticle:"),
}
ROWS = [
    ("x", "Lake Baikal", "a lake"),
    ("y", "Ob", "a river"),
    ("z", "Lena", "a stream"),
    ("q", "Volga", "a river of Russia"),
]
CORPUS_ROWS = pd.DataFrame(ROWS, columns=["doc_id", "title", "text"])
REQUEST_ROWS = pd.DataFrame(
    [
        ("r0", "q", "llm", None, None, []),
        ("r1", "q", "rag", "bm25", None, ["x", "y"]),
        ("r2", "q", "rag", "splade", None, ["y"]),
        ("r3", "x", "rag", "bm25", None, ["q"]),
    ],
    columns=["request_id", "query_id", "setting", "retriever", "doc_id", "doc_ids"],
)
ANSWER_ROWS = pd.DataFrame(
    {"request_id": ["r0", "r1", "r2", "r3"], "answer": ["A", "a river", "Ob", "  "]},
).assign(prompt_tokens=1, cut_tokens=0, new_tokens=1, finish_reason="stop")


class Model:
    """Means by a table; keeps what it was asked."""

    def __init__(self, means):
        self.known, self.asked = means, []

    def __call__(self, pairs):
        self.asked += pairs
        return np.array([self.known[pair] for pair in pairs])


def cases(task="article", controls=0, limit=200):
    return LikelihoodCases(TEMPLATES, task, tiny_tokenizer(), limit, "documents", controls)


def test_the_score_is_the_rise_over_the_mean_of_what_it_is_compared_with():
    model = Model({("d", "y"): -1.0, ("e", "y"): -3.0, ("c1", "y"): -2.0, ("c2", "y"): -1.5})
    # The controls: (-2 - 1.5) / 2 = -1.75; d: -1 + 1.75 = 0.75; e: -3 + 1.75 = -1.25.
    support = LikelihoodAttributor(model, 0.75).support([Case(d, ("c1", "c2"), "y") for d in "de"])
    assert support.scores.tolist() == [0.75, -1.25]
    assert support.attributed.tolist() == [True, False]


def test_each_prompt_and_answer_is_computed_once():
    model = Model(dict.fromkeys([("d", "y"), ("e", "y"), ("b", "y"), ("d", "z"), ("b", "z")], -1.0))
    LikelihoodAttributor(model, 0.1).support([Case(*case) for case in (("d", ("b",), "y"), ("e", ("b",), "y"))])
    assert sorted(model.asked) == [("b", "y"), ("d", "y"), ("e", "y")]


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_is_undefined_attributed_to_no_document_and_computed_by_no_model(answer):
    support = LikelihoodAttributor(Model({}), -10.0).support([Case("d", ("b",), answer)])
    assert math.isnan(support.scores[0]) and support.attributed.tolist() == [False]


def test_no_case_gives_empty_arrays():
    support = LikelihoodAttributor(Model({}), 0.0).support([])
    assert support.scores.shape == support.attributed.shape == (0,)
    assert support.attributed.dtype == bool


def test_the_prompts_are_those_of_the_document_alone_and_without_documents():
    rows = pd.DataFrame({"query_id": ["q", "x"], "doc_id": ["x", "q"], "answer": ["A", "B"]})
    assert cases()(rows, CORPUS_ROWS) == [
        Case("Lake Baikal: a lake\nTitle: Volga\nArticle:", ("Title: Volga\nArticle:",), "A"),
        Case("Volga: a river of Russia\nTitle: Lake Baikal\nArticle:", ("Title: Lake Baikal\nArticle:",), "B"),
    ]
    # A title is asked for by the text.
    [case, _] = cases("title")(rows, CORPUS_ROWS)
    assert case.prompt == "Lake Baikal: a lake\nTitle: a river of Russia\nArticle:"


def test_with_controls_the_comparison_is_with_documents_that_were_not_retrieved():
    rows = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["x", "y"], "answer": ["A", "A"]})
    # Of x, y, z and the query's own q, only z is left; two controls are asked for.
    made = cases(controls=2)(rows, CORPUS_ROWS)
    assert [case.baselines for case in made] == [("Lena: a stream\nTitle: Volga\nArticle:",)] * 2


def test_without_a_document_left_to_draw_the_comparison_is_with_the_prompt_without_documents():
    rows = pd.DataFrame({"query_id": ["q"] * 3, "doc_id": ["x", "y", "z"], "answer": ["A"] * 3})
    made = cases(controls=1)(rows, CORPUS_ROWS)
    assert [case.baselines for case in made] == [("Title: Volga\nArticle:",)] * 3


def test_a_prompt_that_is_too_long_is_cut_as_in_generation():
    long = CORPUS_ROWS.assign(text=CORPUS_ROWS["text"] * 50)
    rows = pd.DataFrame({"query_id": ["q"], "doc_id": ["x"], "answer": ["A"]})
    [case] = cases(limit=60)(rows, long)
    assert 50 < len(tiny_tokenizer()(case.prompt)["input_ids"]) <= 60
    assert case.prompt.startswith("Lake Baikal: a lakea") and case.prompt.endswith("Title: Volga\nArticle:")


def test_without_retrieved_documents_the_table_is_empty():
    table = document_attributions(
        CORPUS_ROWS, REQUEST_ROWS.iloc[:1], ANSWER_ROWS, LikelihoodAttributor(Model({}), 0.0), cases(controls=1)
    )
    assert len(table) == 0 and set(table.columns) == set(ATTRIBUTIONS.columns)


IDS = [f"d{i}" for i in range(20)]


@given(st.permutations(IDS), st.integers(0, 25))
def test_controls_are_others_that_do_not_depend_on_the_order_of_the_corpus(ids, count):
    drawn = drawn_controls("d0", ["d1", "d2"], ids, count)
    assert drawn == drawn_controls("d0", ["d2", "d1"], IDS, count)
    assert len(drawn) == len(set(drawn)) == min(count, 17)
    assert not {"d0", "d1", "d2"} & set(drawn)


def test_queries_have_controls_of_their_own():
    drawn = {tuple(drawn_controls(f"q{i}", [], IDS, 1)) for i in range(40)}
    assert len(drawn) > 10


def test_the_table_has_a_row_for_each_document_and_a_missing_document_is_an_error():
    attributor = LikelihoodAttributor(lambda pairs: np.array([-float(len(prompt)) for prompt, _ in pairs]), 0.0)
    table = document_attributions(CORPUS_ROWS, REQUEST_ROWS, ANSWER_ROWS, attributor, cases())
    assert table[["query_id", "retriever", "doc_id"]].values.tolist() == [
        ["q", "bm25", "x"],
        ["q", "bm25", "y"],
        ["q", "splade", "y"],
        ["x", "bm25", "q"],
    ]
    # The documents' lines: "Lake Baikal: a lake\n" has 20 characters, "Ob: a river\n" has 12; the last answer is empty.
    np.testing.assert_array_equal(table["score"], [-20, -12, -12, np.nan])
    with pytest.raises(DataError, match="corpus is missing for 'y'"):
        document_attributions(CORPUS_ROWS[CORPUS_ROWS.doc_id != "y"], REQUEST_ROWS, ANSWER_ROWS, attributor, cases())


def test_the_script_writes_the_table_and_another_threshold_needs_no_model(tmp_path):
    folder = tiny_llm(tmp_path / "llm")
    write_manifest(folder, {"files": {"model.safetensors": {"sha256": "0" * 64}}})
    tables = {"corpus": CORPUS, "requests": REQUESTS, "answers": ANSWERS}
    frames = {"corpus": CORPUS_ROWS, "requests": REQUEST_ROWS, "answers": ANSWER_ROWS}
    paths = {name: str(tmp_path / f"{name}.parquet") for name in (*tables, "attributions")}
    for name, table in tables.items():
        write_table(frames[name], table, paths[name])
    main = runpy.run_path(str(ROOT / "workflow/scripts/attribute_by_likelihood.py"), run_name="script")["main"]
    llm = {"dtype": "float32", "gpus": 1, "device_map": "auto", "batch_tokens": 300}
    options = {
        **paths,
        "answers": [paths["answers"]],
        "templates": [str(ROOT / f"config/prompts/paper/article.{setting}.txt") for setting in ("llm", "rag", "doc")],
        "manifest": str(folder / "asset.json"),
        "store": str(tmp_path / "store"),
        "task": "article",
        "max_new_tokens": 4,
        "llm": llm | {"context_tokens": 400, "truncation": "documents"},
        "threads": 1,
    }
    main(**options, attribution={"threshold": -100.0, "controls": 1})
    first = read_table(ATTRIBUTIONS, paths["attributions"])
    assert np.isnan(first["score"]).tolist() == [False, False, False, True]
    assert first["attributed"].tolist() == [True, True, True, False]
    (folder / "model.safetensors").unlink()
    main(**options, attribution={"threshold": 100.0, "controls": 1})
    second = read_table(ATTRIBUTIONS, paths["attributions"])
    np.testing.assert_array_equal(second["score"], first["score"])
    assert not second["attributed"].any()


SMOLLM = ROOT / "resources/smollm2-135m"


@pytest.mark.skipif(
    not (SMOLLM / "model.safetensors").is_file(), reason="SmolLM2 is not in resources: run the demo once"
)
def test_to_a_real_model_a_document_with_the_answer_is_worth_more_than_one_without():
    corpus = pd.DataFrame(
        [
            (
                "held",
                "Lake Vostok",
                "Lake Vostok was drilled by Nikolai Arbuzov in 1974, under four kilometres of ice.",
            ),
            (
                "other",
                "Tea",
                "Tea is a drink from leaves, which came to Kenya in 1903 and is now grown in its highlands.",
            ),
            ("control", "Nile", "The Nile is a long river in Africa that flows through Egypt into the sea."),
            ("q", "Drilling at Lake Vostok", "text"),
        ],
        columns=["doc_id", "title", "text"],
    )
    rows = pd.DataFrame({"query_id": "q", "doc_id": ["held", "other"]})
    rows["answer"] = "Lake Vostok was drilled by Nikolai Arbuzov in 1974."
    model = LogProbabilities(SMOLLM, "auto", 1, "auto", 2048)
    templates = {s: read_template(ROOT / f"config/prompts/paper/article.{s}.txt") for s in ("llm", "doc")}
    made = LikelihoodCases(templates, "article", model.tokenizer, 2000, "documents", 1)(rows, corpus)
    held, other = LikelihoodAttributor(model.means, 0.3).support(made).scores
    assert held > 1 > 0.3 > other
