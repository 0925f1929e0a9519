import bisect
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.categories import VITAL_ARTICLES
from whobenefits.groups import age_group, alphabetical_group, quartile_groups, times_named, years_named

LEVELS = VITAL_ARTICLES["popularity"].groups


@pytest.mark.parametrize(
    ("title", "group"),
    [
        ("Aral Sea", "a-d"),
        ("danube", "a-d"),
        ("Elbe", "e-k"),
        ("Kenya", "e-k"),
        ("Lima", "l-r"),
        ("Rhine", "l-r"),
        ("Seine", "s-"),
        ("Zambezi", "s-"),
        ("Éamon de Valera", "e-k"),
        ("İzmir", "e-k"),
        ("Łódź", "l-r"),
        ("Ürümqi", "s-"),
        ("Æthelstan", "a-d"),
        ("Þingvellir", "s-"),
        ("1556 Shaanxi earthquake", "a-d"),
        ('"Heroes"', "a-d"),
        ("Ω", "s-"),
        ("  Nile", "l-r"),
    ],
)
def test_a_title_is_grouped_by_its_first_character_as_a_dictionary_sorts_it(title, group):
    assert alphabetical_group(title) == group


def test_a_title_of_spaces_has_no_alphabetical_group():
    with pytest.raises(ValueError, match="empty title"):
        alphabetical_group("  ")


@settings(deadline=None)
@given(st.text(min_size=1).filter(str.strip))
def test_every_title_has_one_of_the_four_alphabetical_groups(title):
    assert alphabetical_group(title) in VITAL_ARTICLES["alphabetical"].groups


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("It was built in 1889.", [1889]),
        ("Victor (1824–1885) and Ann (1899–)", [1824, 1885, 1899]),
        ("a band of the 1960s and mid-1970s", [1960, 1970]),
        ("from 1733–35", [1733]),
        ("In 2023, it had 344,000 people, 1,100 shops and 1999.5 km", [2023]),
        ("room 12000, code A1900 and 3300 metres", []),
        ("a day in 476 or in AD 80, in 184 AD, in 1054 CE", [80, 184, 1054]),
        ("between 620 and 564 BCE", [-620, -564]),
        ("from c. 2500 to c. 1900 BC until 2001", [-2500, -1900, 2001]),
        ("since 10,000 BC", [-10000]),
        ("from 331 BC to 428 AD", [-331, 428]),
        # the middle of a century: 100 n - 50, with a minus before Christ
        ("20th-century classical music", [1950]),
        ("the late 15th and early 16th centuries", [1450, 1550]),
        ("in the 3rd century BC and the 1st century", [-250, 50]),
        ("66 million years ago, the fourth century, 2nd millennium", []),
        ("", []),
    ],
)
def test_the_years_of_a_text_are_found_in_their_order(text, years):
    assert years_named(text) == years


@pytest.mark.parametrize(
    ("years", "group"),
    [
        ([], "Unknown"),
        ([-44], "Pre-1900s"),
        ([1899], "Pre-1900s"),
        ([1900], "20th century"),
        ([1999], "20th century"),
        ([2000], "21st century"),
        # the middle of 1850, 1871, 2021 is 1871
        ([2021, 1850, 1871], "Pre-1900s"),
        # (1899 + 1902) / 2 = 1900.5
        ([1899, 1902], "20th century"),
        # (1998 + 2001) / 2 = 1999.5
        ([1998, 2001], "20th century"),
    ],
)
def test_the_age_of_a_topic_is_where_the_median_of_its_years_lies(years, group):
    assert age_group(years) == group


def test_eight_different_values_make_four_groups_of_two():
    groups = quartile_groups({name: value for value, name in enumerate("abcdefgh")}, LEVELS)
    assert list(groups.values()) == [level for level in LEVELS for _ in range(2)]


def test_equal_values_at_an_edge_stay_together_in_the_lowest_quartile_they_reach():
    # 0 has 0 smaller of 5: Low; 1 has 3 smaller: 4 x 3 / 5 = 2.4, so Medium-High; 2 has 4: 3.2, so High
    groups = quartile_groups({"a": 0, "b": 0, "c": 0, "d": 1, "e": 2}, LEVELS)
    assert groups == {"a": "Low", "b": "Low", "c": "Low", "d": "Medium-High", "e": "High"}


def test_no_values_make_no_groups():
    assert quartile_groups({}, LEVELS) == {}


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=3), st.integers(0, 6)), st.randoms())
def test_a_quartile_is_the_number_of_smaller_edges_in_any_order(values, rng):
    ordered = sorted(values.values())
    # the k-th edge by the inverted distribution function is the value at place ceil(k n / 4)
    edges = [ordered[-(-k * len(ordered) // 4) - 1] for k in (1, 2, 3)] if ordered else []
    items = list(values.items())
    rng.shuffle(items)
    expected = {name: LEVELS[bisect.bisect_left(edges, value)] for name, value in values.items()}
    assert quartile_groups(dict(items), LEVELS) == expected


ARTICLES = [
    ("j", "Java", "Java is an island. Java has volcanoes."),
    ("b", "Borneo", "Borneo is larger than Java; Java is near the Sea of Java."),
    ("i", "Island", "A Javanese java from the islands. Dr. No was not made on Java."),
    ("n", "Dr. No", "Dr No was filmed in Jamaica, no Island."),
    ("s", "Sea", "Water."),
]


def test_a_title_is_named_by_other_articles_once_each_as_whole_words_in_the_same_case():
    # Java: by b (twice, counts once) and i, not by itself. Island: by n alone (islands, island differ).
    # Dr. No: by i, whose words and signs are the same, not by n itself. Sea: by b.
    assert times_named(ARTICLES) == {"j": 2, "b": 0, "i": 1, "n": 1, "s": 1}


def test_a_title_without_a_word_or_sign_is_named_by_nobody():
    assert times_named([("a", "", "Text."), ("b", "B", "")]) == {"a": 0, "b": 0}


def test_two_records_of_one_article_are_one_namer_and_one_named():
    assert times_named([("a", "A", "B"), ("a", "A", "B too, A"), ("b", "B", "")]) == {"a": 0, "b": 1}


WORDS = st.lists(st.sampled_from(["Sea", "Red", "sea", "C", "Lake"]), min_size=1, max_size=3).map(" ".join)


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), max_size=6))
def test_counts_agree_with_a_search_for_each_title_in_each_text(pairs):
    articles = [(str(i), title, text) for i, (title, text) in enumerate(pairs)]
    expected = {
        name: sum(bool(re.search(rf"\b{title}\b", text)) for other, _, text in articles if other != name)
        for name, title, _ in articles
    }
    assert times_named(articles) == expected
    assert times_named(random.Random(1).sample(articles, len(articles))) == expected
