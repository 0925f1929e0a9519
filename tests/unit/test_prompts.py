from pathlib import Path

import pytest
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.errors import ConfigError, DataError
from whobenefits.generation.kinds import SETTINGS
from whobenefits.generation.prompts import Document, Template, fitted_prompt, read_template, template_path

PROMPTS = Path(__file__).parents[2] / "config/prompts"
DOCUMENTS = [Document("Lake Baikal", "A deep lake."), Document("Mount Kenya", "A high mountain.")]
TOKENIZER = tiny.tiny_tokenizer()
ARTICLE = read_template(template_path(PROMPTS / "paper", "article", "rag"))


def size(text):
    return len(TOKENIZER(text)["input_ids"])


def test_the_article_prompt_is_the_one_of_the_paper():
    assert ARTICLE.render("Lake Victoria", DOCUMENTS) == (
        "Title: Lake Baikal\nArticle: A deep lake.\nTitle: Mount Kenya\nArticle: A high mountain.\n"
        "Following the given pattern, generate an article for the following title:\nTitle: Lake Victoria\nArticle:"
    )


def test_the_title_prompt_has_bodies_before_titles():
    template = read_template(template_path(PROMPTS / "paper", "title", "doc"))
    assert template.render("A large lake.", DOCUMENTS[:1]) == (
        "Article: A deep lake.\nTitle: Lake Baikal\n"
        "Following the given pattern, generate a title for the following article:\nArticle: A large lake.\nTitle:"
    )


@pytest.mark.parametrize("task", ["article", "title"])
def test_the_llm_alone_gets_the_same_instruction_without_documents(task):
    alone, rag = (read_template(template_path(PROMPTS / "paper", task, setting)) for setting in ("llm", "rag"))
    assert alone.render("Lake Victoria") == rag.render("Lake Victoria", [])


def test_every_folder_of_prompts_has_a_template_for_each_task_and_setting():
    for folder in PROMPTS.iterdir():
        for task in ("article", "title"):
            for setting in SETTINGS:
                assert "whole" in read_template(template_path(folder, task, setting)).render("whole", DOCUMENTS)


def test_template_syntax_in_a_document_is_text():
    hostile = Document("{{ query }}", "{% for x in y %}{{ 7 * 7 }}")
    assert "Title: {{ query }}\nArticle: {% for x in y %}{{ 7 * 7 }}\n" in ARTICLE.render("q", [hostile])


def test_a_template_with_an_unknown_variable_or_bad_syntax_says_where():
    with pytest.raises(ConfigError, match="mine.txt: 'reference' is undefined"):
        Template("{{ reference }}", "mine.txt").render("q")
    with pytest.raises(ConfigError, match="mine.txt: is not a valid Jinja template"):
        Template("{% for %}", "mine.txt")


def test_a_prompt_that_fits_is_whole():
    prompt = fitted_prompt(ARTICLE, "Lake Victoria", DOCUMENTS, TOKENIZER, 500)
    assert prompt.text == ARTICLE.render("Lake Victoria", DOCUMENTS)
    assert (len(prompt.tokens), prompt.cut_tokens) == (size(prompt.text), 0)


def test_a_prompt_at_the_limit_is_whole_and_one_token_less_cuts():
    whole = size(ARTICLE.render("Lake Victoria", DOCUMENTS))
    assert fitted_prompt(ARTICLE, "Lake Victoria", DOCUMENTS, TOKENIZER, whole).cut_tokens == 0
    assert fitted_prompt(ARTICLE, "Lake Victoria", DOCUMENTS, TOKENIZER, whole - 1).cut_tokens > 0


def test_long_documents_are_cut_and_short_ones_kept_before_any_is_dropped():
    documents = [Document("Lake Baikal", "deep " * 300), Document("Mount Kenya", "A high mountain.")]
    prompt = fitted_prompt(ARTICLE, "Lake Victoria", documents, TOKENIZER, 200)
    assert len(prompt.tokens) <= 200
    assert "Article: A high mountain.\n" in prompt.text and prompt.text.count("deep") > 20
    assert prompt.cut_tokens == size(ARTICLE.render("Lake Victoria", documents)) - len(prompt.tokens)


def test_documents_are_dropped_from_the_last_where_titles_alone_do_not_fit():
    documents = [Document(f"Title number {i} of a long list", "body") for i in range(20)]
    limit = size(ARTICLE.render("Lake Victoria", documents[:3]))
    prompt = fitted_prompt(ARTICLE, "Lake Victoria", documents, TOKENIZER, limit)
    assert "number 2" in prompt.text and "number 5" not in prompt.text
    assert prompt.text.endswith("Title: Lake Victoria\nArticle:") and len(prompt.tokens) <= limit


def test_a_query_that_does_not_fit_by_itself_is_an_error_that_says_what_to_change():
    with pytest.raises(DataError, match=r"'deep deep .*…' alone need \d+ tokens, .* leaves 50: raise context_tokens"):
        fitted_prompt(ARTICLE, "deep " * 100, DOCUMENTS, TOKENIZER, 50)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=80), max_size=5), st.integers(60, 400))
def test_the_question_is_never_cut_and_the_limit_is_kept(bodies, limit):
    documents = [Document("Lake", body) for body in bodies]
    prompt = fitted_prompt(ARTICLE, "Lake Victoria", documents, TOKENIZER, limit)
    assert len(prompt.tokens) <= limit
    assert prompt.text.endswith("for the following title:\nTitle: Lake Victoria\nArticle:")
