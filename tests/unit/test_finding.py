import numpy as np
import pandas as pd
import synthetic

from whobenefits.report.finding import correlation_sentence, finding, gain_sentence, gap_sentence

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
    return pd.DataFrame(rows)


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


def test_the_smallest_p_follows_from_the_number_of_groups():
    grid = synthetic.labels(tasks=1, retrievers=1, llms=1, categories=1)
    table, gaps, rhos = synthetic.results(grid)
    # 4 groups have 24 orders and two of them |ρ| = 1: 2/24 = 1/12; 3 groups: 2/6 = 1/3; of 2 no ρ is defined
    for emptied, words in ((0, "a ρ over 4 groups cannot reach p < 1/12"), (1, "over 3 groups cannot reach p < 1/3")):
        table.loc[table.group.isin(grid["categories"]["age-of-topic"]["groups"][:emptied]), "n"] = 0
        assert words in finding(table, gaps, rhos, grid, synthetic.ABOUT)[-1]
    table.loc[table.group.isin(["Unknown", "Pre-1900s"]), "n"] = 0
    assert "cannot reach" not in finding(table, gaps, rhos, grid, synthetic.ABOUT)[-1]


def test_accuracy_is_said_to_be_raised_lowered_or_unchanged_as_the_numbers_are():
    table, gaps, rhos = synthetic.results(GRID)
    overall = table.category == "all"
    for task, alone, rag in (("article", 0.2, 0.3), ("title", 0.2, 0.1)):
        here = overall & (table.task == task)
        table.loc[here & (table.measure == "ac_llm"), "value"] = alone
        table.loc[here & (table.measure == "ac_rag"), "value"] = rag
    first, second, *_, last = finding(table, gaps, rhos, GRID, synthetic.ABOUT)
    assert first.startswith("Article generation: retrieved documents raised the mean ROUGE-L from 20.0 to 30.0 points")
    assert second.startswith("Title generation: retrieved documents lowered the mean ROUGE-L from 20.0 to 10.0 points")
    assert "3 queries, 3 in a group" in last and "the attributor overlap" in last and "no interval or test" in last
    table.loc[overall & (table.measure == "ac_rag"), "value"] = 0.2
    assert (
        "left the mean ROUGE-L from 20.0 to 20.0 points unchanged"
        in finding(table, gaps, rhos, GRID, synthetic.ABOUT)[0]
    )
    table.loc[overall, "value"] = np.nan
    assert finding(table, gaps, rhos, GRID, synthetic.ABOUT)[0] == "Article generation: the mean accuracy is undefined."


def test_a_cell_that_is_undefined_with_documents_counts_on_neither_side():
    grid = synthetic.labels(tasks=1, retrievers=2, llms=1, categories=1)
    table, gaps, rhos = synthetic.results(grid)
    overall = table.category == "all"
    table.loc[overall & (table.measure == "ac_llm"), "value"] = 0.2
    table.loc[overall & (table.measure == "ac_rag"), "value"] = 0.4
    table.loc[overall & (table.measure == "ac_rag") & (table.retriever == "retriever0"), "value"] = np.nan
    assert "from 20.0 to 40.0 points" in finding(table, gaps, rhos, grid, synthetic.ABOUT)[0]
    # two LLMs, 0.2 and 0.6 alone; the second has no RAG answer: the mean alone is 20, not 40
    grid = synthetic.labels(tasks=1, retrievers=1, llms=2, categories=1)
    table, gaps, rhos = synthetic.results(grid)
    for llm, alone, rag in (("llm0", 0.2, 0.3), ("llm1", 0.6, np.nan)):
        here = (table.category == "all") & (table.llm == llm)
        table.loc[here & (table.measure == "ac_llm"), "value"] = alone
        table.loc[here & (table.measure == "ac_rag"), "value"] = rag
    assert "from 20.0 to 30.0 points" in finding(table, gaps, rhos, grid, synthetic.ABOUT)[0]
