import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.generation.plan import request_plan
from whobenefits.generation.prompts import Template
from whobenefits.tables import REQUESTS, write_table

TEMPLATES = {"llm": Template("{{ query }}"), "rag": Template("docs {{ query }}"), "doc": Template("docs {{ query }}")}


def run(**lists):
    rows = [(q, d, rank, 10.0 - rank) for q, docs in lists.items() for rank, d in enumerate(docs, 1)]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "rank", "score"])


def ids(plan, **where):
    rows = plan
    for name, value in where.items():
        rows = rows[rows[name] == value]
    return rows["request_id"].tolist()


def test_one_request_for_the_llm_one_for_each_list_and_one_for_each_document_of_the_union():
    # k = 2: BM25 shows x, y and SPLADE y, z; z of BM25 stands at rank 3. Union: x, y, z.
    plan = request_plan(["q"], {"bm25": run(q=["x", "y", "z"]), "splade": run(q=["y", "z", "x"])}, TEMPLATES, 2)
    shown = plan[["setting", "retriever", "doc_id"]].astype(object).where(plan.notna(), None).values.tolist()
    assert shown == [
        ["llm", None, None],
        ["rag", "bm25", None],
        ["rag", "splade", None],
        ["doc", None, "x"],
        ["doc", None, "y"],
        ["doc", None, "z"],
    ]
    assert plan["doc_ids"].tolist() == [[], ["x", "y"], ["y", "z"], ["x"], ["y"], ["z"]]
    assert plan["request_id"].nunique() == 6


def test_equal_lists_are_one_prompt_and_the_order_of_a_list_makes_another():
    runs = {"a": run(q=["x", "y"]), "b": run(q=["x", "y"]), "c": run(q=["y", "x"])}
    plan = request_plan(["q"], runs, TEMPLATES, 2)
    assert ids(plan, retriever="a") == ids(plan, retriever="b") != ids(plan, retriever="c")


def test_a_list_of_one_document_is_the_prompt_of_that_document_alone():
    plan = request_plan(["q"], {"bm25": run(q=["x"])}, TEMPLATES, 2)
    assert ids(plan, setting="rag") == ids(plan, setting="doc")


def test_a_query_without_any_document_is_the_prompt_of_the_llm_alone():
    plan = request_plan(["q", "r"], {"bm25": run(r=["x"])}, TEMPLATES, 2)
    assert ids(plan, query_id="q", setting="rag") == ids(plan, query_id="q", setting="llm")


def test_another_template_makes_other_requests():
    other = TEMPLATES | {"llm": Template("say {{ query }}")}
    first, second = (request_plan(["q"], {"bm25": run(q=["x"])}, templates, 2) for templates in (TEMPLATES, other))
    assert ids(first, setting="llm") != ids(second, setting="llm")
    assert ids(first, setting="rag") == ids(second, setting="rag")


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5), min_size=1, max_size=4))
def test_each_plan_is_a_valid_table_and_rows_of_a_run_may_come_in_any_order(tmp_path_factory, lists):
    runs = {f"r{i}": run(q=docs, p=docs[::-1]) for i, docs in enumerate(lists)}
    plan = request_plan(["p", "q"], runs, TEMPLATES, 3)
    write_table(plan, REQUESTS, tmp_path_factory.getbasetemp() / "plan.parquet")
    shuffled = {name: frame.sample(frac=1, random_state=1) for name, frame in runs.items()}
    pd.testing.assert_frame_equal(plan, request_plan(["p", "q"], shuffled, TEMPLATES, 3))


def test_an_unordered_context_depends_on_query_and_documents_and_not_on_ranks():
    runs = {"a": run(q=["x", "y", "z"], s=["x", "y", "z"]), "b": run(q=["z", "x", "y"], s=["z", "y", "x"])}
    ranked, unordered = (request_plan(["q", "s"], runs, TEMPLATES, 3, order) for order in ("rank", "unordered"))
    contexts = unordered[unordered["setting"] == "rag"].set_index(["query_id", "retriever"])["doc_ids"]
    # SHA-256 of ["q", "x"] begins with 8e, of ["q", "y"] with 40, of ["q", "z"] with 58; and of "s" with e3, 4f, 25.
    assert contexts["q", "a"] == contexts["q", "b"] == ["y", "z", "x"]
    assert contexts["s", "a"] == contexts["s", "b"] == ["z", "y", "x"]
    # Two retrievers with the same documents have one prompt now, and had two.
    assert len(set(ids(unordered, query_id="q", setting="rag"))) == 1
    assert len(set(ids(ranked, query_id="q", setting="rag"))) == 2
    for setting in ("llm", "doc"):
        assert ids(unordered, setting=setting) == ids(ranked, setting=setting)


def test_an_unordered_context_has_the_first_k_documents_by_rank():
    plan = request_plan(["q"], {"a": run(q=["x", "z", "y"])}, TEMPLATES, 2, "unordered")
    assert plan.loc[plan["setting"] == "rag", "doc_ids"].tolist() == [["z", "x"]]
