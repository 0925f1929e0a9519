import hashlib
import itertools

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.sampling import document_cells, draw_queries, even_cells

CELLS = ["letter", "age"]


def groups_of(documents: dict[str, tuple]) -> pd.DataFrame:
    """Long table of documents with (letter, age, size); None is no group."""
    rows = [
        (doc_id, category, group)
        for doc_id, labels in documents.items()
        for category, group in zip(("letter", "age", "size"), labels, strict=True)
        if group is not None
    ]
    return pd.DataFrame(rows, columns=["doc_id", "category", "group"], dtype="str")


DOCUMENTS = {
    "d1": ("a-d", "Old", "Short"),
    "d2": ("a-d", "Old", "Long"),
    "d3": ("s-", "Old", "Long"),
    "d4": ("s-", None, "Long"),
}


def test_a_cell_joins_the_groups_in_the_order_of_the_categories_and_needs_them_all():
    assert document_cells(groups_of(DOCUMENTS), CELLS).to_dict() == {
        "d1": "a-d | Old",
        "d2": "a-d | Old",
        "d3": "s- | Old",
    }
    assert document_cells(groups_of(DOCUMENTS), ["age", "letter"])["d3"] == "Old | s-"


def test_no_document_makes_no_cell_and_no_query():
    empty = groups_of({})
    assert document_cells(empty, CELLS).empty
    assert draw_queries(empty, CELLS, 1, 3).to_dict("list") == {"query_id": [], "cell": []}


def test_each_cell_draws_the_document_with_the_smallest_digest_of_seed_and_doc_id():
    for seed in range(8):
        digests = {name: hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest() for name in ("d1", "d2")}
        drawn = draw_queries(groups_of(DOCUMENTS), CELLS, seed, None)
        assert drawn.to_dict("list") == {
            "query_id": [min(digests, key=digests.get), "d3"],
            "cell": ["a-d | Old", "s- | Old"],
        }


def test_another_seed_can_draw_another_document():
    drawn = {draw_queries(groups_of(DOCUMENTS), CELLS, seed, None)["query_id"][0] for seed in range(20)}
    assert drawn == {"d1", "d2"}


LABELS = st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("123"))
COLLECTIONS = st.dictionaries(st.text("abcdef0123", min_size=1, max_size=4), LABELS, min_size=1, max_size=30)


@given(COLLECTIONS, st.integers(0, 5), st.one_of(st.none(), st.integers(1, 9)), st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_documents_changes_nothing(documents, seed, size, rng):
    groups = groups_of(documents)
    shuffled = groups.sample(frac=1, random_state=rng.randrange(1000))
    pd.testing.assert_frame_equal(
        draw_queries(groups, ["letter", "age", "size"], seed, size),
        draw_queries(shuffled, ["letter", "age", "size"], seed, size),
    )


@given(COLLECTIONS)
@settings(max_examples=40, deadline=None)
def test_another_document_changes_at_most_its_own_cell(documents):
    before = draw_queries(groups_of(documents), CELLS, 3, None).set_index("cell")["query_id"]
    after = draw_queries(groups_of(documents | {"new": ("a", "x", "1")}), CELLS, 3, None).set_index("cell")["query_id"]
    others = before.drop("a | x", errors="ignore")
    assert after[others.index].equals(others)


@given(COLLECTIONS, st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_a_limit_takes_so_many_of_the_cells_and_draws_the_same_documents_in_them(documents, size):
    groups = groups_of(documents)
    every, some = draw_queries(groups, CELLS, 3, None), draw_queries(groups, CELLS, 3, size)
    assert len(some) == min(size, len(every))
    assert set(some.itertuples(index=False)) <= set(every.itertuples(index=False))


def counts(chosen: list[str], category: int) -> list[int]:
    return sorted(pd.Series([cell.split(" | ")[category] for cell in chosen]).value_counts())


def test_all_cells_of_a_full_product_are_covered_evenly():
    # 4 x 4 x 4 cells, 8 queries: each of the four groups of each category gets 8 / 4 = 2
    product = [" | ".join(cell) for cell in itertools.product("abcd", "1234", "wxyz")]
    for size, each in ((4, 1), (8, 2), (12, 3)):
        chosen = even_cells(product, 5, size)
        assert [counts(chosen, category) for category in range(3)] == [[each] * 4] * 3


def test_an_exchange_mends_a_first_choice_that_leaves_a_group_empty():
    # only {a|2, b|1} covers a, b, 1 and 2 with two cells, whichever of the three is taken first
    for seed in range(12):
        assert even_cells(["a | 1", "a | 2", "b | 1"], seed, 2) == ["a | 2", "b | 1"]


def test_a_size_beyond_the_cells_takes_them_all_and_no_cells_give_none():
    assert even_cells(["a | 1", "b | 1"], 1, 9) == ["a | 1", "b | 1"]
    assert even_cells([], 1, 3) == []


def cost(cells: tuple[str, ...], groups: set[tuple[int, str]]) -> tuple[int, int]:
    """Groups without a cell, and the sum of squared numbers of cells; worked out apart from the library."""
    found = [pair for cell in cells for pair in enumerate(cell.split(" | "))]
    return sum(group not in found for group in groups), sum(found.count(group) ** 2 for group in groups)


@given(
    st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("123")), min_size=2), st.integers(1, 5), st.integers(0, 3)
)
@settings(max_examples=60, deadline=None)
def test_with_two_categories_the_cover_is_as_good_as_that_of_all_choices(pairs, size, seed):
    cells = [" | ".join(pair) for pair in sorted(pairs)]
    groups = {pair for cell in cells for pair in enumerate(cell.split(" | "))}
    best = min(cost(choice, groups) for choice in itertools.combinations(cells, min(size, len(cells))))
    assert cost(tuple(even_cells(cells, seed, size)), groups) == best
