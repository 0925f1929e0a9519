import os
import signal

import pandas as pd
import pytest
import tiny

from whobenefits.generation.answers import query_text, request_prompts, stored_answers
from whobenefits.generation.engine import Decoding, Engine
from whobenefits.generation.plan import request_plan
from whobenefits.generation.prompts import Document, Template
from whobenefits.store import stored_records
from whobenefits.tables import ANSWERS, write_table
from whobenefits.termination import TerminatedError

DOCUMENTS = {name: Document(f"Lake {name}", f"{name} is a lake in Russia.") for name in "abcd"}
TEMPLATES = {
    "llm": Template("Title: {{ query }}\nArticle:"),
    "rag": Template("{% for d in documents %}{{ d.title }}: {{ d.body }}\n{% endfor %}Title: {{ query }}\nArticle:"),
    "doc": Template("{% for d in documents %}{{ d.title }}: {{ d.body }}\n{% endfor %}Title: {{ query }}\nArticle:"),
}
DECODING = Decoding("article", 2, 5, "none")
MODEL = {"model": "m", "dtype": "float32"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return Engine(tiny.tiny_llm(tmp_path_factory.mktemp("llm")), "float32")


def plan_of(context):
    run = pd.DataFrame({"query_id": "a", "doc_id": list(context), "rank": range(1, len(context) + 1)})
    return request_plan(["a"], {"bm25": run}, TEMPLATES, 3)


def prompts_of(engine, context, limit=400):
    queries = {"a": "Lake Baikal"}
    return request_prompts(plan_of(context), queries, DOCUMENTS, TEMPLATES, engine.tokenizer, limit)


def counted(engine):
    """The engine, and a list of how many prompts it was given each time it was called for."""
    calls = []

    class Counting:
        def answers(self, prompts, decoding, budget):
            calls.append(len(prompts))
            return engine.answers(prompts, decoding, budget)

    return Counting, calls


def test_answers_are_generated_once_and_then_come_from_the_store(engine, tmp_path):
    prompts = prompts_of(engine, "bc")  # the LLM alone, the list b c, b alone, c alone
    load, calls = counted(engine)
    first = stored_answers(prompts, load, MODEL, DECODING, 1000, tmp_path)
    second = stored_answers(prompts, load, MODEL, DECODING, 1000, tmp_path)
    assert calls == [4]
    pd.testing.assert_frame_equal(first, second)
    write_table(first, ANSWERS, tmp_path / "answers.parquet")


def test_another_list_costs_only_its_new_prompts(engine, tmp_path):
    load, calls = counted(engine)
    stored_answers(prompts_of(engine, "bc"), load, MODEL, DECODING, 1000, tmp_path)
    stored_answers(prompts_of(engine, "bcd"), load, MODEL, DECODING, 1000, tmp_path)
    assert calls == [4, 2]  # the list b c d, and d alone


@pytest.mark.parametrize(
    ("model", "decoding"),
    [
        ({"model": "other", "dtype": "float32"}, DECODING),
        ({"model": "m", "dtype": "bfloat16"}, DECODING),
        (MODEL, Decoding("article", 2, 5, "line")),
        (MODEL, Decoding("article", 3, 5, "none")),
        (MODEL, Decoding("article", 2, 4, "none")),
    ],
)
def test_another_model_or_decoding_takes_nothing_from_the_store(model, decoding, engine, tmp_path):
    load, calls = counted(engine)
    prompts = prompts_of(engine, "b")
    stored_answers(prompts, load, MODEL, DECODING, 1000, tmp_path)
    stored_answers(prompts, load, model, decoding, 1000, tmp_path)
    assert calls == [2, 2]


def test_another_version_of_the_engine_takes_nothing_from_the_store(engine, tmp_path, monkeypatch):
    load, calls = counted(engine)
    prompts = prompts_of(engine, "b")
    stored_answers(prompts, load, MODEL, DECODING, 1000, tmp_path)
    monkeypatch.setattr("whobenefits.generation.answers.VERSION", 0)
    stored_answers(prompts, load, MODEL, DECODING, 1000, tmp_path)
    assert calls == [2, 2]


def test_deleting_the_store_changes_no_answer(engine, tmp_path):
    prompts = prompts_of(engine, "bcd")
    first = stored_answers(prompts, lambda: engine, MODEL, DECODING, 1000, tmp_path / "one")
    pd.testing.assert_frame_equal(
        first, stored_answers(prompts, lambda: engine, MODEL, DECODING, 1000, tmp_path / "two")
    )


def test_a_job_killed_between_batches_goes_on_where_it_was(engine, tmp_path):
    class KilledError(Exception):
        pass

    class Dying:
        def answers(self, prompts, decoding, budget):
            for number, batch in enumerate(engine.answers(prompts, decoding, 1)):
                if number == 2:
                    raise KilledError
                yield batch

    prompts = prompts_of(engine, "bcd")
    with pytest.raises(KilledError):
        stored_answers(prompts, Dying, MODEL, DECODING, 1, tmp_path)
    assert len(stored_records(tmp_path)) == 2
    load, calls = counted(engine)
    resumed = stored_answers(prompts, load, MODEL, DECODING, 1, tmp_path)
    assert calls == [3]
    pd.testing.assert_frame_equal(
        resumed, stored_answers(prompts, lambda: engine, MODEL, DECODING, 1, tmp_path / "new")
    )


def test_a_job_that_is_asked_to_end_writes_the_batch_in_flight_and_goes_on_from_there(engine, tmp_path):
    class Ended:
        def answers(self, prompts, decoding, budget):
            for number, batch in enumerate(engine.answers(prompts, decoding, 1)):
                if number == 1:
                    os.kill(os.getpid(), signal.SIGTERM)  # comes while the second batch is generated
                yield batch

    prompts = prompts_of(engine, "bcd")
    with pytest.raises(TerminatedError, match="2 of 5 missing answers are kept; the next run goes on from there"):
        stored_answers(prompts, Ended, MODEL, DECODING, 1, tmp_path)
    load, calls = counted(engine)
    stored_answers(prompts, load, MODEL, DECODING, 1, tmp_path)
    assert calls == [3]


def test_a_signal_during_the_last_batch_ends_nothing_because_all_is_there(engine, tmp_path):
    class Ended:
        def answers(self, prompts, decoding, budget):
            os.kill(os.getpid(), signal.SIGTERM)
            yield from engine.answers(prompts, decoding, 1000)

    assert len(stored_answers(prompts_of(engine, "b"), Ended, MODEL, DECODING, 1000, tmp_path)) == 2


def test_a_shard_without_prompts_loads_no_model(engine, tmp_path):
    load, calls = counted(engine)
    write_table(stored_answers({}, load, MODEL, DECODING, 1, tmp_path), ANSWERS, tmp_path / "answers.parquet")
    assert calls == []


def test_the_row_of_a_shortened_prompt_says_how_many_tokens_were_cut(engine, tmp_path):
    whole, short = prompts_of(engine, "bcd"), prompts_of(engine, "bcd", limit=40)
    table = stored_answers(short, lambda: engine, MODEL, DECODING, 1000, tmp_path).set_index("request_id")
    for request, prompt in whole.items():
        row = table.loc[request]
        assert row.prompt_tokens + row.cut_tokens == len(prompt.tokens) and row.prompt_tokens <= 40
    assert (table.cut_tokens > 0).any()


def test_an_article_is_asked_for_by_the_title_and_a_title_by_the_body():
    assert query_text(DOCUMENTS["a"], "article") == "Lake a"
    assert query_text(DOCUMENTS["a"], "title") == "a is a lake in Russia."
