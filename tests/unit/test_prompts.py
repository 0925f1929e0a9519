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


def test_with_the_tail_lost_the_query_goes_first_and_then_documents_from_the_last_on():
    whole = ARTICLE.render("Lake Victoria", DOCUMENTS)
    ids = TOKENIZER(whole, add_special_tokens=False)["input_ids"]
    # This tokenizer adds no special token: a limit of n keeps the first n of the tokens.
    assert size(whole) == len(ids)
    prompt = fitted_prompt(ARTICLE, "Lake Victoria", DOCUMENTS, TOKENIZER, len(ids) - 3, "tail")
    assert prompt.tokens == tuple(ids[:-3]) and prompt.cut_tokens == 3
    assert prompt.text == TOKENIZER.decode(ids[:-3]) and whole.startswith(prompt.text)
    assert not prompt.text.endswith("Article:")
    short = fitted_prompt(ARTICLE, "Lake Victoria", DOCUMENTS, TOKENIZER, 14, "tail").text
    assert short.startswith("Title: Lake Baikal\n") and "Victoria" not in short and "Kenya" not in short


def test_the_truncation_changes_no_prompt_that_fits_and_the_default_keeps_the_query():
    limit = size(ARTICLE.render("Lake Victoria", DOCUMENTS))
    fits = [fitted_prompt(ARTICLE, "Lake Victoria", DOCUMENTS, TOKENIZER, limit, how) for how in ("documents", "tail")]
    assert fits[0] == fits[1] and fits[0].cut_tokens == 0
    default = fitted_prompt(ARTICLE, "Lake Victoria", DOCUMENTS, TOKENIZER, limit - 1)
    assert default == fitted_prompt(ARTICLE, "Lake Victoria", DOCUMENTS, TOKENIZER, limit - 1, "documents")
    assert default.text.endswith("Title: Lake Victoria\nArticle:")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.integers(1, 60))
def test_a_lost_tail_leaves_a_beginning_within_the_limit(query, limit):
    whole = ARTICLE.render(query, DOCUMENTS)
    prompt = fitted_prompt(ARTICLE, query, DOCUMENTS, TOKENIZER, limit, "tail")
    assert len(prompt.tokens) <= limit and whole.startswith(prompt.text)
    assert prompt.cut_tokens == size(whole) - len(prompt.tokens)


AUTHORS = {
    "article": "Output only a Wikipedia article. Do not add any additional text, formatting, or explanation. Your response "
    "must be a single document related to the following title. Title:Lake Victoria",
    "title": "Output only the exact Wikipedia article title. Do not add any additional text, formatting, or explanation. "
    "Your response must be a single line consisting solely of the title. Article:Lake Victoria",
}


@pytest.mark.parametrize(
    ("task", "documents", "end"),
    [
        (
            "article",
            "Title: Lake Baikal\nArticle: A deep lake.\nTitle: Mount Kenya\nArticle: A high mountain.. ",
            "\n Article: ",
        ),
        (
            "title",
            "Article: A deep lake.\nTitle: Lake Baikal\nArticle: A high mountain.\nTitle: Mount Kenya. ",
            "\n Title: ",
        ),
    ],
)
def test_the_prompts_of_the_public_code_end_in_a_space_and_the_llm_alone_gets_the_instruction_only(
    task, documents, end
):
    templates = {s: read_template(template_path(PROMPTS / "authors", task, s)) for s in SETTINGS}
    spaced = [Document("Lake  Baikal", "A\ndeep lake."), DOCUMENTS[1]]
    expected = f"{documents}Following the given patterns, {AUTHORS[task]}{end}"
    assert templates["rag"].render("Lake\n Victoria", spaced) == expected
    assert templates["doc"].text == templates["rag"].text
    assert templates["llm"].render("Lake\n Victoria") == AUTHORS[task]


def test_line_ends_at_the_end_of_a_template_are_dropped_and_a_space_that_it_asks_for_is_kept():
    assert Template("{{ query }}:\n\n").render("q") == "q:"
    assert Template('{{ query }}:{{ " " }}\n').render("q") == "q: "
