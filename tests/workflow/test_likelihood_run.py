"""A whole run in which the LLM itself says which documents support its answers."""

import math

import pandas as pd
import pytest
import torch
from checkouts import ARTICLES, copied, tiny_config
from transformers import AutoModelForCausalLM, AutoTokenizer

from whobenefits.attribution.likelihood import drawn_controls
from whobenefits.tables import ANSWERS, ATTRIBUTIONS, CORPUS, FACTORS, REQUESTS, read_table


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("likelihood")
    config = tiny_config(folder, ARTICLES) | {"attribution": {"kind": "likelihood", "threshold": 0.0, "controls": 1}}
    checkout = copied(folder, config)
    checkout.run()
    return checkout


def mean_log_probability(network, tokenizer, prompt, answer):
    """One text, all logits, a plain softmax."""
    start, ids = len(tokenizer(prompt)["input_ids"]), tokenizer(f"{prompt} {answer}")["input_ids"]
    with torch.no_grad():
        weights = network(torch.tensor([ids])).logits[0].log_softmax(-1).tolist()
    return sum(weights[i - 1][ids[i]] for i in range(start, len(ids))) / (len(ids) - start)


def test_every_score_follows_from_the_answers_the_corpus_and_the_llm(run):
    cell = run.results / "geography/title"
    documents = read_table(CORPUS, run.results / "geography/corpus.parquet").set_index("doc_id")
    answers = read_table(ANSWERS, cell / "tiny/answers.parquet").set_index("request_id")["answer"]
    requests = read_table(REQUESTS, cell / "requests.parquet").query("setting == 'rag'")
    network = AutoModelForCausalLM.from_pretrained(run.folder / "data/llm").double().eval()
    tokenizer = AutoTokenizer.from_pretrained(run.folder / "data/llm")
    retrieved = requests.groupby("query_id")["doc_ids"].sum()

    def value(query, doc, answer):
        known = documents.loc[doc]
        shown = f"Article: {known.text}\nTitle: {known.title}\nFollowing the given pattern, generate a title for the "
        prompt = f"{shown}following article:\nArticle: {documents.loc[query].text}\nTitle:"
        return mean_log_probability(network, tokenizer, prompt, answer)

    expected = []
    for row in requests.itertuples():
        answer = answers[row.request_id]
        [control] = drawn_controls(row.query_id, retrieved[row.query_id], documents.index, 1)
        for doc in row.doc_ids:
            rise = value(row.query_id, doc, answer) - value(row.query_id, control, answer) if answer else math.nan
            expected.append((row.query_id, row.retriever, doc, rise))
    got = read_table(ATTRIBUTIONS, cell / "tiny/attributions.parquet")
    expected = pd.DataFrame(expected, columns=["query_id", "retriever", "doc_id", "score"])
    pd.testing.assert_frame_equal(got.drop(columns="attributed"), expected, rtol=1e-3, check_dtype=False)
    assert got["attributed"].tolist() == [score >= 0 for score in got["score"]]
    assert 0 < got["attributed"].sum() < len(got)
    factors = read_table(FACTORS, cell / "tiny/factors.parquet")
    assert factors["attribution"].sum() == got["attributed"].sum()


def test_another_threshold_redoes_the_verdicts_and_what_follows_from_them(run):
    run.config["attribution"]["threshold"] = 1.0
    planned = run.planned()
    run.config["attribution"]["threshold"] = 0.0
    assert planned["attribute_by_model"] == 1
    assert planned["generate"] == planned["score_answers"] == 0


def test_the_report_names_the_attributor(run):
    assert "likelihood" in (run.results / "report/finding.txt").read_text()
