"""Group labels from titles and texts. Pure functions: nothing depends on the order of the documents."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from whobenefits.categories import VITAL_ARTICLES

# Letters that Unicode does not take apart, by the letter they are sorted with.
_SORTED_WITH = {"æ": "a", "œ": "o", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "t", "ı": "i"}

_JOINED = r"\s*(?:–|—|-|to|and|or)\s*(?:c\.\s*|the\s+)?(?:early[ -]|late[ -]|mid-?)?"
_NUMBER = r"\d{1,3}(?:,\d{3})+|\d{1,5}"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)"
_YEAR = re.compile(
    rf"""
    \b (?:(?P<bc_from>{_NUMBER}){_JOINED})? (?P<bc>{_NUMBER})\s*(?:BCE?\b|B\.C\.)
    | \b (?:AD|CE)\s*(?P<ad_before>\d{{1,4}})\b
    | \b (?P<ad_after>\d{{1,4}})\s*(?:AD|CE)\b
    | \b (?:(?P<century_from>{_ORDINAL}){_JOINED})? (?P<century>{_ORDINAL})[\s-]+centur(?:y|ies)\b (?P<century_bc>\s*BCE?\b)?
    | (?<!\w)(?<!\d[.,]) (?P<bare>1\d{{3}}|20\d{{2}}) s? (?!\w)(?![.,]\d)
    """,
    re.VERBOSE,
)
_TOKEN = re.compile(r"\w+|[^\w\s]")


def alphabetical_group(title: str) -> str:
    """The group (a-d, e-k, l-r, s-) of a title by its first character, as a dictionary sorts it.

    The track groups by collation, so that no title is without a group: an accented letter counts as its base letter
    (É as e, Ł as l), what is no letter (a digit, a quotation mark) stands before a and is in a-d, and a letter of
    another script stands behind z and is in s-. Raises ValueError for a title without a visible character.
    """
    if not title.strip():
        raise ValueError("an empty title has no alphabetical group")
    first = unicodedata.normalize("NFKD", title.strip()).casefold()[0]
    letter = _SORTED_WITH.get(first, first) if first.isalpha() else "a"
    groups = VITAL_ARTICLES["alphabetical"].groups
    return groups[sum(letter >= start for start in "els")]


def years_named(text: str) -> list[int]:
    """The years that a text names, in their order; a year before Christ is negative.

    Counted are: a bare number from 1000 to 2099 (also in `1950s`, but not a part of a longer or a grouped number); a
    number with BC, BCE, AD or CE, and the one before it in `600 to 400 BC`; and the middle year of a century written
    with digits (`19th century` is 1850, `3rd century BC` is -250), also of the first one in `4th and 5th centuries`.
    Not counted are bare years before 1000, centuries in words, millennia and spans such as `66 million years ago`. A
    count such as `2050 species` is taken for a year.
    """
    return [year for match in _YEAR.finditer(text) for year in _years(match.groupdict())]


def _years(found: Mapping[str, str | None]) -> list[int]:
    years = [-_number(found[name]) for name in ("bc_from", "bc") if found[name]]
    years += [_number(found[name]) for name in ("ad_before", "ad_after", "bare") if found[name]]
    sign = -1 if found["century_bc"] else 1
    return years + [sign * (_number(found[name]) * 100 - 50) for name in ("century_from", "century") if found[name]]


def _number(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))


def age_group(years: Iterable[int]) -> str:
    """The age of a topic by its years, by the track's rule: where their median lies.

    Before 1900 it is Pre-1900s, before 2000 20th century, else 21st century, and without a year Unknown. The median of
    an even number of years is the mean of the two in the middle.
    """
    unknown, before, twentieth, later = VITAL_ARTICLES["age-of-topic"].groups
    years = list(years)
    if not years:
        return unknown
    middle = median(years)
    return before if middle < 1900 else twentieth if middle < 2000 else later


def quartile_groups(values: Mapping[str, float], groups: Sequence[str]) -> dict[str, str]:
    """The group of each document by the quartile of its value: `groups` are four labels, the lowest first.

    A value's quartile is floor(4 x share of the documents with a smaller value): its number of quartile edges (the
    25th, 50th and 75th percentile by the inverted distribution function) that are smaller. Equal values are thus always
    in one group, the lowest they reach, so that with many ties the groups are uneven and an inner one may be empty.
    """
    smaller = {}
    for position, value in enumerate(sorted(values.values())):
        smaller.setdefault(value, position)
    return {doc_id: groups[len(groups) * smaller[value] // len(values)] for doc_id, value in values.items()}


def times_named(articles: Iterable[tuple[str, str, str]]) -> dict[str, int]:
    """How many other articles name an article's title in their text, by its identifier.

    `articles` are (identifier, title, text); two with the same identifier are one article. A title is named where its
    tokens (a run of letters and digits, or one sign) follow each other in a text, in the same case: `Java` is not named
    by `Javanese` or `java`, but `River` is by `Amazon River`. Time grows with the length of the texts, not with texts
    x titles.
    """
    articles = list(articles)
    owners: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, title, _ in articles:
        owners[tuple(_tokens(title))].add(name)
    owners.pop((), None)
    lengths: dict[str, set[int]] = defaultdict(set)
    for title in owners:
        lengths[title[0]].add(len(title))
    namers: dict[str, set[str]] = {name: set() for name, _, _ in articles}
    for namer, _, text in articles:
        for title in _titles_in(_tokens(text), owners, lengths):
            for named in owners[title] - {namer}:
                namers[named].add(namer)
    return {name: len(others) for name, others in namers.items()}


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(unicodedata.normalize("NFC", text))


def _titles_in(
    tokens: list[str], titles: Mapping[tuple[str, ...], set[str]], lengths: Mapping[str, set[int]]
) -> set[tuple[str, ...]]:
    spans = (tuple(tokens[i : i + n]) for i, token in enumerate(tokens) for n in lengths.get(token, ()))
    return {span for span in spans if span in titles}
