"""Lead paragraphs of Wikipedia's vital articles: one JSON object {title: {title, extract, description, topic}}."""

import difflib
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whobenefits.datasets.form import Record, spaced
from whobenefits.errors import DataError
from whobenefits.groups import age_group, alphabetical_group, times_named, years_named

FILE = "summaries_en-us.json"
FIELDS = ("title", "extract", "topic")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_REMEDY = "correct the file or fetch the asset again"


@dataclass(frozen=True)
class Article:
    """One article of the file, its title and text with single spaces."""

    doc_id: str
    title: str
    text: str
    topic: str


class VitalArticles:
    """The vital articles in a folder that holds `summaries_en-us.json`."""

    reasons: Sequence[str] = ()

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def about(self, topic: str) -> Mapping[str, str]:
        """Nothing: a topic is what its name says."""
        return {}

    def records(self, topic: str) -> Iterator[Record]:
        """The articles of one topic, with their groups.

        Age of topic and alphabetical are labels; popularity (how many other articles of the whole file name the title)
        and article length (words of the text) are values, cut at the quartiles of the topic. Raises DataError where
        the file is broken or the topic is not in it.
        """
        articles = read_articles(self.path)
        known = {article.topic for article in articles}
        if topic not in known:
            raise DataError(f"{self.path}: no article has the topic {topic!r}: {_hint(topic, known)}")
        named = times_named((article.doc_id, article.title, article.text) for article in articles)
        return (_record(article, named[article.doc_id]) for article in articles if article.topic == topic)


def _hint(topic: str, known: Iterable[str]) -> str:
    # Not config.nearest: each edit of the settings' module would make all datasets again.
    near = difflib.get_close_matches(topic, sorted(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"


def _record(article: Article, named: int) -> Record:
    labels = {"age-of-topic": age_group(years_named(article.text))}
    if article.title:
        labels["alphabetical"] = alphabetical_group(article.title)
    values = {"popularity": named, "article-length": len(article.text.split())}
    return Record(article.doc_id, article.title, article.text, labels, values)


def article_id(key: str) -> str:
    """A name for the article under this key of the file: `lake-baikal-` and 8 hexadecimal digits of its SHA-256.

    It depends on the key alone, holds only a-z, 0-9 and -, so that it fits into a TREC run, and has at most 49
    characters. The digits keep apart the titles that look alike without case, accents and signs (C, C++, C#).
    """
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-")
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{words}-{digest}" if words else digest


def read_articles(path: Path) -> list[Article]:
    """All articles of the file; a key that it holds twice gives two articles with the same doc_id.

    Raises DataError, naming the file and the record, where it is no such file or a field is missing or no text.
    """
    try:
        # A tuple of pairs for each object: a dict would silently keep the last one of equal keys.
        pairs = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=tuple)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file: give dataset.asset the asset that holds {FILE}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: is not JSON ({error}): {_REMEDY}") from None
    if not isinstance(pairs, tuple):
        raise DataError(f"{path}: holds {_kind(pairs)}, not an object of articles by title: {_REMEDY}")
    return [_article(path, key, value) for key, value in pairs]


def _article(path: Path, key: str, value: Any) -> Article:
    place = f"{path}: the article {key!r}"
    if not isinstance(value, tuple):
        raise DataError(f"{place} is {_kind(value)}, not an object: {_REMEDY}")
    names = [name for name, _ in value]
    fields = dict(value)
    for name in FIELDS:
        if names.count(name) != 1:
            fault = f"{name!r} {names.count(name)} times" if name in names else f"no field {name!r}"
            raise DataError(f"{place} has {fault}: {_REMEDY}")
        if not isinstance(fields[name], str):
            raise DataError(f"{place} has {_kind(fields[name])} as {name!r}, not a text: {_REMEDY}")
        if _HALF_CHARACTER.search(fields[name]):
            raise DataError(f"{place} has a half of a character (a lone surrogate) in {name!r}: {_REMEDY}")
    return Article(article_id(key), spaced(fields["title"]), spaced(fields["extract"]), spaced(fields["topic"]))


def _kind(value: Any) -> str:
    names = {tuple: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
