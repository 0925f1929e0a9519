import json

import numpy as np
import pandas as pd
import pytest
import studies
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.generation.prompts import Document, Template
from whobenefits.report.lookup import records, script, write_queries
from whobenefits.report.prompt_parts import joined, prompt_parts
from whobenefits.report.sample import carried, evenly_spread, listed, query_rows
from whobenefits.report.text import visible

GRID = studies.grid()
TEXTS = {
    "q": {"title": "Query", "text": "Body of q"},
    "a": {"title": "A", "text": "Body of a"},
    "b": {"title": "B", "text": "b's"},
}
TEMPLATE = Template("{% for d in documents %}T: {{ d.title }} B: {{ d.body }}\n{% endfor %}Now: {{ query }}\n")


@pytest.fixture(scope="module")
def made():
    topics, _ = studies.made(GRID)
    return topics["topic0"], list(records("topic0", topics["topic0"]))


def test_a_prompt_in_parts_names_its_documents_and_is_the_very_prompt():
    parts = prompt_parts(TEMPLATE, "title", "q", ["b", "a"], TEXTS)
    assert parts == [
        "T: ",
        ["b", "title"],
        " B: ",
        ["b", "text"],
        "\nT: ",
        ["a", "title"],
        " B: ",
        ["a", "text"],
        "\nNow: ",
        ["q", "text"],
    ]
    whole = TEMPLATE.render("Body of q", [Document("B", "b's"), Document("A", "Body of a")])
    assert joined(parts, TEXTS) == whole
    assert prompt_parts(TEMPLATE, "article", "q", [], TEXTS) == ["Now: ", ["q", "title"]]


def test_a_template_that_does_more_than_put_texts_in_gives_the_whole_prompt():
    loud = Template("{% for d in documents %}{{ d.title | upper }}{% endfor %} {{ query }}")
    assert prompt_parts(loud, "article", "q", ["b"], TEXTS | {"b": {"title": "loud", "text": ""}}) == ["LOUD Query"]


@given(st.text(), st.text(), st.text())
def test_whatever_the_texts_hold_the_parts_make_the_prompt(title, text, query):
    texts = {"q": {"title": query, "text": ""}, "a": {"title": title, "text": text}}
    whole = TEMPLATE.render(query, [Document(title, text)])
    assert joined(prompt_parts(TEMPLATE, "article", "q", ["a"], texts), texts) == whole


def test_a_record_holds_what_was_asked_answered_and_scored(made):
    tables, found = made
    record, task = found[1], tables.tasks["article"]
    assert (record["topic"], record["query"]) == ("topic0", "topic0-d1")
    rows = task.requests[task.requests.query_id == "topic0-d1"]
    (request,) = rows.loc[rows.retriever == "retriever0", "request_id"]
    answers = task.answers["llm1"].set_index("request_id")
    score = task.scores["llm1"].set_index("request_id").loc[request, "value"]
    shown = record["tasks"]["article"]["answers"]["llm1"]["rag retriever0"]
    assert shown == [answers.loc[request, "answer"], score, 100, 0, 6, "stop"]
    factors = task.factors["llm1"]
    of_query = factors[(factors.query_id == "topic0-d1") & (factors.retriever == "retriever0")]
    expected = {row.doc_id: [row.rank, row.utility, row.attribution] for row in of_query.itertuples()}
    assert record["tasks"]["article"]["factors"]["llm1"]["retriever0"] == expected and len(expected) == 3
    assert set(record["documents"]) == {"topic0-d1", *(d for docs in rows.doc_ids for d in docs), *(
        d for docs in tables.tasks["title"].requests.query("query_id == 'topic0-d1'").doc_ids for d in docs)}  # fmt: skip
    labels = dict(zip(tables.groups[tables.groups.doc_id == "topic0-d1"].category, tables.groups[tables.groups.doc_id == "topic0-d1"].group, strict=True))  # fmt: skip
    assert record["documents"]["topic0-d1"]["groups"] == labels


def test_text_in_a_record_is_made_visible_and_its_script_cannot_end_an_element(made):
    _, found = made
    text = script(found[0])
    assert "\u202e" not in text and "</" not in text and "<" not in text
    assert json.loads(text[text.index("(") + 1 : text.rindex(")")]) == found[0]
    assert found[0]["documents"]["topic0-d0"]["text"] == visible(studies.HOSTILE["text"])


def test_an_undefined_score_is_none(made):
    tables, _ = made
    task = tables.tasks["title"]
    task.scores["llm0"].loc[:, "value"] = np.nan
    record = next(iter(records("topic0", tables)))
    assert record["tasks"]["title"]["answers"]["llm0"]["llm"][1] is None


def test_files_are_numbered_and_not_named_by_what_a_corpus_says(made, tmp_path):
    tables, found = made
    paths = write_queries("topic0", tables, tmp_path)
    assert paths == [f"topic0/{i}.js" for i in range(1, 9)]


def test_every_beginning_of_the_order_is_spread_over_all():
    # of 8: halves first, then quarters
    assert evenly_spread(8) == [0, 4, 2, 6, 1, 5, 3, 7]
    assert evenly_spread(5) == [0, 4, 2, 1, 3] and evenly_spread(1) == [0] and evenly_spread(0) == []


@given(st.integers(0, 300))
def test_each_number_comes_once(count):
    assert sorted(evenly_spread(count)) == list(range(count))


def test_as_many_records_are_carried_as_fit_in_their_order(tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.js").write_text(str(i) * 10)
    paths = [f"{i}.js" for i in range(4)]
    assert carried(tmp_path, paths) == [str(i) * 10 for i in range(4)]
    # two of ten bytes fit into 25: the first and the third
    assert carried(tmp_path, paths, room=25) == ["0" * 10, "2" * 10]


def test_a_list_that_is_too_long_is_thinned_evenly():
    rows = [["t", str(i)] for i in range(8)]
    assert listed(rows) == rows
    # a row is 10 bytes as JSON
    assert listed(rows, room=40) == [rows[0], rows[2], rows[4], rows[6]]


def test_the_list_of_queries_has_each_accuracy_by_task_llm_and_retriever():
    outcomes = pd.DataFrame([
        {"query_id": "q", "task": "title", "llm": "m", "retriever": r, "measure": m, "value": v}
        for r, m, v in (("none", "ac_llm", 0.5), ("bm25", "ac_rag", np.nan), ("bm25", "delta", 0.1))
    ])  # fmt: skip
    assert query_rows("t", ["t/1.js"], {"q": "Title"}, outcomes) == [
        ["t", "q", "Title", "t/1.js", {"title m none": 0.5, "title m bm25": None}]
    ]
