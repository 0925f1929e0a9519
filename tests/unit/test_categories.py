import pytest

from whobenefits.categories import SOURCES, TREC_FAIR, VITAL_ARTICLES, categories_of, shown_group

OWN = {"field": "source_subcont_regions", "label": "Sources", "short": "Src", "groups": ["A", "B"], "note": ""}


@pytest.mark.parametrize("categories", SOURCES.values(), ids=SOURCES)
def test_no_two_categories_of_a_source_share_a_label_and_no_two_groups_of_a_category_are_the_same(categories):
    for names in ([c.slug for c in categories.values()], [c.label for c in categories.values()]):
        assert len(set(names)) == len(categories)
    assert len({c.short for c in categories.values()}) == len(categories)
    assert all(len(set(c.groups)) == len(c.groups) > 1 for c in categories.values())


def test_the_published_studys_categories_have_the_tracks_literal_labels():
    # the labels stand so in the track's metadata; `s-` is s to z, and Unknown is a group
    assert {slug: (c.field, c.groups) for slug, c in list(TREC_FAIR.items())[:4]} == {
        "age-of-topic": ("years_category", ("Unknown", "Pre-1900s", "20th century", "21st century")),
        "popularity": ("relative_pageviews_category", ("Low", "Medium-Low", "Medium-High", "High")),
        "age-of-article": ("creation_date_category", ("2001-2006", "2007-2011", "2012-2016", "2017-2022")),
        "alphabetical": ("first_letter_category", ("a-d", "e-k", "l-r", "s-")),
    }
    assert not any(TREC_FAIR[slug].note for slug in list(TREC_FAIR)[:4])
    assert shown_group("s-") == "s–z"


def test_the_settings_own_categories_come_behind_the_built_in_ones_and_replace_those_of_their_name():
    assert categories_of({"source": "vital-articles"}) == VITAL_ARTICLES
    found = categories_of({"source": "trec-fair", "categories": {"sources": OWN, "gender": OWN}})
    assert list(found) == [*TREC_FAIR, "sources"]
    assert found["sources"].groups == found["gender"].groups == ("A", "B")
    assert (found["gender"].slug, found["gender"].field) == ("gender", "source_subcont_regions")
