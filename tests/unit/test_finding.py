import numpy as np
import pandas as pd
import synthetic

from whobenefits.report.finding import accuracy_sentence, alike_sentence, blind_cells, finding, gap_sentence
from whobenefits.report.inputs import Results
from whobenefits.report.notes import correlation_sentence, gain_sentence

GRID = synthetic.labels(tasks=2, retrievers=1, llms=1, categories=1)


def measures(**by_group):
    """Gains of two groups over two cells."""
    rows = [
        {
            "category": "popularity",
            "group": group,
            "measure": "delta",
            "value": value,
            "n": 3,
            "topic": "t",
            "task": task,
        }
        for group, values in by_group.items()
        for task, value in zip(("article", "title"), values, strict=True)
    ]
    return pd.DataFrame(rows)


def ranges(*pairs):
    """Cells with a range without and one with documents."""
    place = {"topic": "t", "llm": "m", "category": "c"}
    rows = []
    for i, (alone, rag) in enumerate(pairs):
        rows.append(place | {"task": str(i), "retriever": "none", "measure": "r_llm", "value": alone})
        rows.append(place | {"task": str(i), "retriever": "bm25", "measure": "r_rag", "value": rag})
    return pd.DataFrame(rows).assign(p_holm=np.nan, change_low=np.nan, change_high=np.nan)


def correlations(**values):
    rows = [
        {"retriever": "mean", "outcome": "delta", "factor": factor, "value": value}
        for factor, list_ in values.items()
        for value in list_
    ]
    return pd.DataFrame(rows)


LABELS = {"categories": {"popularity": {"label": "Popularity"}, "alphabetical": {"label": "Alphabetical"}}}


def test_wider_and_narrower_gaps_are_counted_and_equal_ones_are_neither():
    # 2 -> 5 wider, 4 -> 1 narrower, 3 -> 3 neither; medians 3 and 3
    assert gap_sentence(ranges((2, 5), (4, 1), (3, 3))).endswith(
        "was wider with RAG than without in 1 of 3 cells and narrower in 1 (median 3.0 points without, 3.0 with)."
    )


def test_an_undefined_gap_counts_in_no_cell_and_nothing_is_claimed_where_none_is_defined():
    assert "in 1 of 1 cells" in gap_sentence(ranges((2, 5), (np.nan, 1), (3, np.nan)))
    assert gap_sentence(ranges((np.nan, 1))) == "The gap between the groups is undefined in every cell."


def test_the_groups_that_gained_most_and_least_are_named_with_their_mean_gain():
    # Low: (0.10 + 0.30) / 2 = 0.20; High: (0.00 + 0.05) / 2 = 0.025
    sentence = gain_sentence(measures(Low=(0.1, 0.3), High=(0.0, 0.05)), LABELS)
    assert sentence == (
        "Averaged over all cells, most was gained by Popularity: Low (+20.0 points), "
        "least by Popularity: High (+2.5 points)."
    )


def test_ties_name_all_groups_and_equal_gains_are_called_alike():
    tied = gain_sentence(measures(Low=(0.2, 0.2), High=(0.1, 0.3), Medium=(0.0, 0.0)), LABELS)
    assert "most was gained by Popularity: High and Popularity: Low (+20.0 points)" in tied
    assert gain_sentence(measures(Low=(0.2, 0.2), High=(0.1, 0.3)), LABELS) == "All groups gained alike (+20.0 points)."
    assert gain_sentence(measures(Low=(np.nan, np.nan)), LABELS) == "No group's gain is defined."


def test_the_direction_of_correlations_is_claimed_only_where_it_is_consistent():
    assert "in a mostly positive relation" in correlation_sentence(
        correlations(utility=[0.5, 0.4, 0.2, -0.1], exposure=[0.3, 0.2], attribution=[0.1])
    )
    assert "in a mostly negative relation" in correlation_sentence(correlations(utility=[-0.5], exposure=[-0.1, -0.2]))
    mixed = correlation_sentence(correlations(utility=[0.5, -0.4], exposure=[0.3], attribution=[np.nan, 0.2]))
    assert (
        "in no consistent relation" in mixed and "utility in 1 of 2, exposure in 1 of 1, attribution in 1 of 1" in mixed
    )
    assert correlation_sentence(correlations(utility=[np.nan])).endswith("is defined.")


def test_correlations_of_zero_speak_for_no_direction():
    assert "in no consistent relation" in correlation_sentence(
        correlations(utility=[0.0, 0.0], exposure=[0.0], attribution=[0.0])
    )
    # two of three are negative, which is less than three quarters
    assert "in no consistent relation" in correlation_sentence(correlations(utility=[-0.5, -0.2, 0.0]))


def test_a_loss_is_never_called_a_gain():
    lost = gain_sentence(measures(Low=(-0.3, -0.3), High=(-0.1, -0.1)), LABELS)
    assert lost == (
        "Averaged over all cells, no group gained: least was lost by Popularity: High (-10.0 points), "
        "most by Popularity: Low (-30.0 points)."
    )
    mixed = gain_sentence(measures(Low=(0.3, 0.3), High=(-0.1, -0.1)), LABELS)
    assert mixed.endswith(
        "most was gained by Popularity: Low (+30.0 points), and most lost by Popularity: High (-10.0 points)."
    )
    assert gain_sentence(measures(Low=(-0.1, -0.1)), LABELS) == "All groups changed alike (-10.0 points)."
    # -0.00001 is 0.0 points when rounded, without a minus
    assert gain_sentence(measures(Low=(-0.00001, -0.00001)), LABELS) == "All groups changed alike (+0.0 points)."


def said(table, gaps, rhos, grid):
    return finding(Results(table, gaps, rhos), grid, synthetic.ABOUT)


def test_the_smallest_p_follows_from_the_number_of_groups():
    grid = synthetic.labels(tasks=1, retrievers=1, llms=1, categories=1)
    table, gaps, rhos = synthetic.results(grid)
    # 4 groups have 24 orders and two of them |ρ| = 1: 2/24 = 1/12; 3 groups: 2/6 = 1/3; of 2 no ρ is defined
    for emptied, words in ((0, "a ρ over 4 groups cannot reach p < 1/12"), (1, "over 3 groups cannot reach p < 1/3")):
        table.loc[table.group.isin(grid["categories"]["age-of-topic"]["groups"][:emptied]), "n"] = 0
        assert words in said(table, gaps, rhos, grid)[-1]
    table.loc[table.group.isin(["Unknown", "Pre-1900s"]), "n"] = 0
    assert "cannot reach" not in said(table, gaps, rhos, grid)[-1]


def test_accuracy_is_said_to_rise_fall_or_stay_as_the_numbers_do():
    table, gaps, rhos = synthetic.results(GRID)
    overall = table.category == "all"
    for task, alone, rag in (("article", 0.2, 0.3), ("title", 0.2, 0.1)):
        here = overall & (table.task == task)
        table.loc[here & (table.measure == "ac_llm"), "value"] = alone
        table.loc[here & (table.measure == "ac_rag"), "value"] = rag
    assert accuracy_sentence(table, GRID) == (
        "With retrieved documents the mean ROUGE-L rose from 20.0 to 30.0 points in article generation and fell from 20.0 "
        "to 10.0 points in title generation (mean over topics, LLMs and retrievers)."
    )
    table.loc[overall & (table.measure == "ac_rag"), "value"] = 0.2
    assert "stayed at 20.0 points in article generation" in accuracy_sentence(table, GRID)
    table.loc[overall & (table.task == "title"), "value"] = np.nan
    assert "and is undefined in title generation" in accuracy_sentence(table, GRID)


def test_the_intervals_of_the_gain_are_counted_above_and_below_zero():
    table, _, _ = synthetic.results(synthetic.labels(tasks=1, retrievers=3, llms=1, categories=1))
    gains = (table.category == "all") & (table.measure == "delta")
    # above 0, across it, below it
    table.loc[gains, ["low", "high"]] = [[0.1, 0.3], [-0.1, 0.2], [-0.3, -0.1]]
    assert "the 95 % interval of the gain lies above 0 in 1 of 3 cells and below 0 in 1)" in accuracy_sentence(
        table, GRID
    )


def gains(*rows):
    """Ranges of gains: (value, p_holm, detectable) of one category at different retrievers."""
    place = {"topic": "t", "task": "title", "llm": "m", "category": "popularity", "measure": "r_delta"}
    more = {"lowest": "Low", "highest": "a-d", "low": 4.0, "high": 9.0, "expected": 3.0}
    return pd.DataFrame(
        [
            place | more | {"retriever": f"r{i}", "value": value, "p_holm": p, "detectable": detectable}
            for i, (value, p, detectable) in enumerate(rows)
        ]
    )


def overall(*values):
    """Gains over all queries, in points, at the retrievers of `gains`."""
    place = {"topic": "t", "task": "title", "llm": "m", "category": "all", "measure": "delta"}
    return pd.DataFrame([place | {"retriever": f"r{i}", "value": value / 100} for i, value in enumerate(values)])


NAMES = LABELS | {
    "topics": {"t": "Cities"},
    "tasks": {"title": "Title generation"},
    "llms": {"m": "Model"},
    "retrievers": {"r0": "BM25", "r1": "SPLADE", "r2": "Dense"},
}


def test_a_gap_in_gains_that_is_more_than_chance_is_named_with_its_groups_and_interval():
    # 2 of 3 are below 5 % after correction, and the wider of them is 8 points
    sentence = alike_sentence(gains((6, 0.01, 5), (8, 0.04, 5), (9, 0.2, 5)), overall(20, 20, 20), NAMES)
    assert sentence == (
        "Not all groups gain alike: in 2 of 3 tests the gains differ by more than chance (5 %, corrected for the number of "
        "tests), most of all for Popularity (Cities, title generation, Model, SPLADE), where a–d gained 8.0 points more "
        "than Low (95 % interval 4.0 to 9.0; 3.0 would be there by chance)."
    )


def test_nothing_found_comes_with_the_smallest_difference_that_could_have_been():
    # detectable 4, 5 and 6: median 5; each below the mean gain of 20
    sentence = alike_sentence(gains((2, 0.5, 4), (3, 0.6, 5), (3, 1.0, 6)), overall(20, 20, 20), NAMES)
    assert sentence.startswith(
        "Nothing was found: in none of 3 tests do the gains of the groups differ by more than chance"
    )
    assert sentence.endswith("would find is 5.0 points (median; 4.0 to 6.0), so smaller ones are not ruled out.")


def test_too_few_queries_are_called_so_where_even_the_whole_gain_would_be_missed():
    # the gain is 10 at all three; 12 and 30 exceed it, 8 does not: 2 of 3
    rows = gains((2, 0.5, 12), (3, 0.6, 8), (3, 1.0, 30))
    assert blind_cells(rows, overall(10, 10, -10)) == (2, 3)
    sentence = alike_sentence(rows, overall(10, 10, -10), NAMES)
    assert sentence.startswith("Too few queries to tell: in none of 3 tests")
    assert "is 12.0 points (median; 8.0 to 30.0), which is more than the whole mean gain in 2 of 3 cells." in sentence


def test_without_tests_or_without_ranges_nothing_is_claimed():
    untested = alike_sentence(gains((2, np.nan, np.nan), (4, np.nan, np.nan)), overall(10, 10), NAMES)
    assert "differ by 3.0 points (median of 2 cells); no test was made" in untested
    undefined = alike_sentence(gains((np.nan, np.nan, np.nan)), overall(10), NAMES)
    assert undefined == "Whether all groups gain alike cannot be told: no range of their gains is defined."
    assert "how small a difference could be found is not known" in alike_sentence(
        gains((2, 0.5, np.nan)), overall(10), NAMES
    )


def test_the_gap_with_rag_is_said_to_be_more_than_chance_only_by_its_tests():
    rows = ranges((2, 5), (4, 1))
    rows["p_holm"] = [0.04, 0.01, 0.5, 0.6]  # llm, rag, llm, rag
    assert gap_sentence(rows).endswith(
        "is more than chance in 1 of 2 tests with RAG and in 1 of 2 without (5 %, corrected)."
    )


def test_the_change_of_the_gap_is_told_by_its_intervals():
    rows = ranges((2, 5), (4, 1), (3, 3))
    # llm, rag, llm, rag, llm, rag: above 0, below 0, across 0
    rows.loc[[1, 3, 5], ["change_low", "change_high"]] = [[1, 5], [-4, -1], [-2, 2]]
    assert gap_sentence(rows).endswith("the 95 % interval of the change lies above 0 in 1 of 3 cells and below 0 in 1.")


def test_the_limits_name_the_queries_and_the_attributor():
    last = said(*synthetic.results(GRID), GRID)[-1]
    assert "3 queries, 3 in a group" in last and "the attributor overlap" in last
