"""Fairness categories: their names, their groups and the order of these. Imports nothing heavy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Category:
    """One fairness category.

    `groups` are the literal labels in their natural order, and a document has at most one of them.
    `note` says what stands behind the labels where that is not the label of the published study. `field` is the field
    of the source's records that holds the label, where the source has such fields.
    """

    slug: str
    label: str
    short: str
    groups: tuple[str, ...]
    note: str = ""
    field: str = ""


# The groups of documents with no value and with several different values of a field that can have any number of them.
UNKNOWN, SEVERAL = "Unknown", "Several"

_AGE = ("Unknown", "Pre-1900s", "20th century", "21st century")
_LEVELS = ("Low", "Medium-Low", "Medium-High", "High")
_LETTERS = ("a-d", "e-k", "l-r", "s-")
_LENGTHS = ("Short", "Medium-Short", "Medium-Long", "Long")
_PERIODS = ("2001-2006", "2007-2011", "2012-2016", "2017-2022")
_LANGUAGES = ("English only", "2-4 languages", "5+ languages")
_GENDERS = ("Man", "Woman", "Non-binary", UNKNOWN)
_QUALITIES = ("Stub", "Start", "C", "B", "GA", "FA")
# The regions of the United Nations' M49 standard.
_REGIONS = (
    ("Northern Africa", "Western Africa", "Middle Africa", "Eastern Africa", "Southern Africa")
    + ("Northern America", "Central America", "Caribbean", "South America")
    + ("Central Asia", "Eastern Asia", "South-eastern Asia", "Southern Asia", "Western Asia")
    + ("Northern Europe", "Western Europe", "Eastern Europe", "Southern Europe")
    + ("Australia and New Zealand", "Melanesia", "Micronesia", "Polynesia", "Antarctica")
)

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

_GENDER_NOTE = "of the person that a biography is about; any other document is Unknown"
_QUALITY_NOTE = "the class that the track's model of article quality predicts"
_REGION_NOTE = (
    "regions of the countries that the document is about: of several different ones in Several, of none in Unknown"
)

TREC_FAIR = {
    category.slug: category
    for category in (
        Category("age-of-topic", "Age of topic", "AoT", _AGE, field="years_category"),
        Category("popularity", "Popularity", "Pop", _LEVELS, field="relative_pageviews_category"),
        Category("age-of-article", "Age of article", "AoA", _PERIODS, field="creation_date_category"),
        Category("alphabetical", "Alphabetical", "Alp", _LETTERS, field="first_letter_category"),
        Category("languages", "Languages", "Lan", _LANGUAGES, field="num_sitelinks_category"),
        Category("gender", "Gender", "Gen", _GENDERS, _GENDER_NOTE, "gender_category"),
        Category("quality", "Quality", "Qua", _QUALITIES, _QUALITY_NOTE, "qual_cat"),
        Category(
            "subcontinents", "Subcontinents", "Sub", (*_REGIONS, SEVERAL, UNKNOWN), _REGION_NOTE, "page_subcont_regions"
        ),
    )
}

SOURCES = {"vital-articles": VITAL_ARTICLES, "trec-fair": TREC_FAIR}


def categories_of(dataset: Mapping[str, Any]) -> dict[str, Category]:
    """The categories that the documents of checked dataset settings have, by their slug: built in, then the settings' own.

    One of the settings with the name of a built-in one takes its place.
    """
    own = {
        slug: Category(slug, **{**item, "groups": tuple(item["groups"])})
        for slug, item in dataset.get("categories", {}).items()
    }
    return SOURCES[dataset["source"]] | own


def shown_group(group: str) -> str:
    """A group's label as people read it: the track writes `s-` for s to z."""
    return "s–z" if group == "s-" else group.replace("-", "–") if len(group) == 3 and group[1] == "-" else group
