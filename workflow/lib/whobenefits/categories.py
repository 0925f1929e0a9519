"""Fairness categories: their names, their groups and the order of these. Imports nothing heavy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Category:
    """One fairness category.

    `groups` are the literal labels in their natural order, and a document has at most one of them.
    `note` says what stands behind the labels where that is not the label of the published study.
    """

    slug: str
    label: str
    short: str
    groups: tuple[str, ...]
    note: str = ""


_AGE = ("Unknown", "Pre-1900s", "20th century", "21st century")
_LEVELS = ("Low", "Medium-Low", "Medium-High", "High")
_LETTERS = ("a-d", "e-k", "l-r", "s-")
_LENGTHS = ("Short", "Medium-Short", "Medium-Long", "Long")

VITAL_ARTICLES = {
    category.slug: category
    for category in (
        Category(
            "age-of-topic",
            "Age of topic",
            "AoT",
            _AGE,
            "the track's groups, by the median of the years that the lead paragraph names",
        ),
        Category(
            "popularity",
            "Popularity",
            "Pop",
            _LEVELS,
            "a stand-in: quartiles, within the topic, of how many other vital articles name the title",
        ),
        Category("alphabetical", "Alphabetical", "Alp", _LETTERS, "first letter of the title, as the track groups it"),
        Category("article-length", "Article length", "Len", _LENGTHS, "quartiles of the words of the lead paragraph"),
    )
}

SOURCES = {"vital-articles": VITAL_ARTICLES}


def shown_group(group: str) -> str:
    """A group's label as people read it: the track writes `s-` for s to z."""
    return "s–z" if group == "s-" else group.replace("-", "–") if len(group) == 3 and group[1] == "-" else group
