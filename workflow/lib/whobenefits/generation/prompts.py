"""Prompts: templates of `config/prompts`, filled in and made to fit the LLM's context."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from jinja2 import StrictUndefined
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from whobenefits.errors import ConfigError, DataError

_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)


@dataclass(frozen=True)
class Document:
    """A document as a prompt shows it."""

    title: str
    body: str


@dataclass(frozen=True)
class Prompt:
    """A prompt that fits: its text, its tokens, and how many tokens of documents were cut to make it fit."""

    text: str
    tokens: tuple[int, ...]
    cut_tokens: int


class Tokenizer(Protocol):
    """What is needed of a transformers tokenizer."""

    def __call__(self, text: str, **options: bool) -> dict:
        """Token ids under `input_ids`, and under `offset_mapping`, if asked for, where each token stands in the text."""


class Template:
    """One prompt template: the variables are `query`, the query's text, and `documents`, each with `title` and `body`.

    The reference half of the query's own document is no variable, so that no template can show it to the LLM.
    """

    def __init__(self, text: str, place: str = "template") -> None:
        self.text, self.place = text, place
        try:
            self._template = _ENVIRONMENT.from_string(text)
        except TemplateError as error:
            raise ConfigError(f"{place}: is not a valid Jinja template: {error}") from error

    def render(self, query: str, documents: Sequence[Document] = ()) -> str:
        """The prompt, without line ends at its end: a language model continues best right after the last colon.

        Other white space there is kept: a template that wants a space at its end writes `{{ " " }}`.
        """
        try:
            return self._template.render(query=query, documents=documents).rstrip("\r\n")
        except TemplateError as error:
            raise ConfigError(f"{self.place}: {error}; a template knows query and documents (title, body)") from error


def template_path(folder: str | Path, task: str, setting: str) -> Path:
    """Where the template of a task and a setting (llm, rag or doc) is kept."""
    return Path(folder) / f"{task}.{setting}.txt"


def read_template(path: str | Path) -> Template:
    """The template in a file."""
    return Template(Path(path).read_text(encoding="utf-8"), str(path))


def fitted_prompt(
    template: Template,
    query: str,
    documents: Sequence[Document],
    tokenizer: Tokenizer,
    limit: int,
    truncation: str = "documents",
) -> Prompt:
    """The prompt in at most `limit` tokens, the special ones included.

    With the truncation "documents", a prompt that is too long has every document's body cut to the same number of
    tokens, the largest that fits, so that all k documents stay in the prompt and each group keeps the exposure that it
    is counted for. Where even titles alone do not fit, documents are dropped from the last one on. The instruction and
    the query are never cut: a DataError says so where they do not fit by themselves.

    With "tail", the prompt loses its end: the query first, as it stands last, and then documents from the last one on.
    """
    whole = template.render(query, documents)
    tokens = _tokens(tokenizer, whole)
    if len(tokens) <= limit:
        return Prompt(whole, tokens, 0)
    if truncation == "tail":
        text, kept = _without_tail(whole, tokenizer, limit)
    else:
        text, kept = _shortened(template, query, documents, tokenizer, limit)
    return Prompt(text, kept, len(tokens) - len(kept))


def _without_tail(whole: str, tokenizer: Tokenizer, limit: int) -> tuple[str, tuple[int, ...]]:
    body = _Body(whole, tokenizer)
    # From the limit down: the special tokens need room, and a text that is cut may have other tokens at its end.
    for cap in range(min(limit, len(body.ends)), -1, -1):
        text = body.first(cap)
        tokens = _tokens(tokenizer, text)
        if len(tokens) <= limit:
            return text, tokens
    raise DataError(
        f"the LLM's context leaves {limit} tokens for a prompt, fewer than its special tokens need: raise context_tokens "
        "or lower max_new_tokens"
    )


def _shortened(
    template: Template, query: str, documents: Sequence[Document], tokenizer: Tokenizer, limit: int
) -> tuple[str, tuple[int, ...]]:
    bodies = [_Body(document.body, tokenizer) for document in documents]

    def attempt(cap: int, kept: int) -> tuple[str, tuple[int, ...]]:
        cut = [replace(d, body=body.first(cap)) for d, body in zip(documents[:kept], bodies[:kept], strict=True)]
        text = template.render(query, cut)
        return text, _tokens(tokenizer, text)

    for kept in range(len(documents), -1, -1):
        longest = max((len(body.ends) for body in bodies[:kept]), default=0)
        caps = range(longest + 1)
        cap = bisect_right(caps, limit, key=lambda cap, kept=kept: len(attempt(cap, kept)[1])) - 1
        if cap >= 0:
            return attempt(cap, kept)
    shown = query if len(query) <= 60 else query[:60] + "…"
    raise DataError(
        f"the instruction and the query {shown!r} alone need {len(attempt(0, 0)[1])} tokens, the LLM's context leaves "
        f"{limit}: raise context_tokens, or lower max_new_tokens or the dataset's max_words"
    )


class _Body:
    """A body that can be cut after so many of its own tokens."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self.text = text
        offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        self.ends = [end for _, end in offsets]

    def first(self, cap: int) -> str:
        return self.text if cap >= len(self.ends) else self.text[: self.ends[cap - 1]] if cap else ""


def _tokens(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    return tuple(tokenizer(text)["input_ids"])
