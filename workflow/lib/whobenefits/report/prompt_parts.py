"""A prompt as parts, in which texts that stand elsewhere already are named and not repeated."""

import re
from collections.abc import Mapping, Sequence

from whobenefits.generation.prompts import Document, Template

# Which half of a query's own document is the query; the other one is the reference.
QUERY_HALF = {"article": "title", "title": "text"}
# Private characters, which no template needs, around what stands for a text.
_MARK = re.compile("\ue000(query|\\d+ (?:title|text))\ue001")
Texts = Mapping[str, Mapping[str, str]]
Part = str | list[str]


def prompt_parts(template: Template, task: str, query: str, documents: Sequence[str], texts: Texts) -> list[Part]:
    """The prompt, before it is made to fit: literal texts, and pairs of a document's identifier and "title" or "text".

    `texts` has the title and the text of each document, the query's own among them. Joined, the parts are the very
    prompt: where a template does more than to put texts in, the whole prompt is the one part.
    """
    half = QUERY_HALF[task]
    marked = template.render("\ue000query\ue001", [_marked(i) for i in range(len(documents))])
    pieces = _MARK.split(marked)
    parts = [_named(piece, query, half, documents) if i % 2 else piece for i, piece in enumerate(pieces)]
    shown = [Document(texts[doc]["title"], texts[doc]["text"]) for doc in documents]
    whole = template.render(texts[query][half], shown)
    return [part for part in parts if part] if joined(parts, texts) == whole else [whole]


def joined(parts: Sequence[Part], texts: Texts) -> str:
    """The prompt that the parts stand for."""
    return "".join(part if isinstance(part, str) else texts[part[0]][part[1]] for part in parts)


def _marked(i: int) -> Document:
    return Document(f"\ue000{i} title\ue001", f"\ue000{i} text\ue001")


def _named(mark: str, query: str, half: str, documents: Sequence[str]) -> list[str]:
    if mark == "query":
        return [query, half]
    number, name = mark.split(" ")
    return [documents[int(number)], name]
