import numpy as np
import pytest
import synthetic

from whobenefits.report.figures import correlation_bars, drawn_figures, range_bars, write_figures
from whobenefits.report.palette import pair_colours


def bars(axis):
    return [patch.get_height() for patch in axis.patches]


def test_each_bar_of_figure_3_is_a_range_of_the_table():
    grid = synthetic.labels(retrievers=2, categories=2)
    _, ranges, _ = synthetic.results(grid)
    article, title = range_bars(ranges, "r_rag", "R", grid).axes
    kept = ranges[(ranges.measure == "r_rag") & (ranges.task == "title")]
    drawn = sorted(bars(title))
    assert np.allclose(drawn, sorted(kept["value"])) and len(drawn) == 2 * 2 * 2
    # the first bars are the first LLM with the first retriever, over the categories
    first = kept[(kept.llm == "llm0") & (kept.retriever == "retriever0")].set_index("category")["value"]
    assert np.allclose(bars(title)[:2], [first[c] for c in grid["categories"]])
    assert bars(article) != bars(title)


def test_an_undefined_correlation_is_a_cross_and_not_a_bar_of_zero():
    grid = synthetic.labels(tasks=1, llms=1, retrievers=2, categories=2)
    _, _, correlations = synthetic.results(grid)
    hit = (correlations.retriever == "mean") & (correlations.outcome == "delta") & (correlations.factor == "utility")
    hit &= correlations.category == "popularity"
    correlations.loc[hit, ["value", "n_retrievers"]] = [np.nan, 0]
    (axis,) = correlation_bars(correlations, "delta", "ρ", grid).axes
    assert sum(np.isnan(bars(axis))) == 1
    assert [line.get_marker() for line in axis.lines].count("x") == 1


def test_an_average_over_fewer_retrievers_says_over_how_many():
    grid = synthetic.labels(tasks=1, llms=1, retrievers=3, categories=1)
    _, _, correlations = synthetic.results(grid)
    hit = (correlations.retriever == "mean") & (correlations.outcome == "ac_rag") & (correlations.factor == "exposure")
    correlations.loc[hit, "n_retrievers"] = 2
    (axis,) = correlation_bars(correlations, "ac_rag", "ρ", grid).axes
    assert [text.get_text() for text in axis.texts] == ["2"]


@pytest.mark.parametrize(
    "size",
    [
        {"topics": 3},
        {"topics": 1, "tasks": 1, "retrievers": 1, "llms": 1, "categories": 1},
        {"topics": 2, "retrievers": 6, "llms": 4},
    ],
)
def test_grids_of_every_size_are_drawn(size):
    grid = synthetic.labels(**size)
    figures = drawn_figures(*synthetic.results(grid), grid)
    assert list(figures) == ["group_accuracy", "figure2", "figure3", "figure4", "figure5"]
    panels = len(grid["topics"]) * len(grid["tasks"])
    assert [len(figure.axes) for figure in figures.values()] == [panels * len(grid["llms"]), panels, panels] + [
        panels * len(grid["llms"])
    ] * 2


def test_two_runs_make_the_same_bytes_in_each_format(tmp_path):
    grid = synthetic.labels(tasks=1, retrievers=1, llms=1, categories=2)
    for folder in ("one", "two"):
        write_figures({"figure": range_bars(synthetic.results(grid)[1], "r_rag", "R", grid)}, tmp_path / folder)
    names = ["figure.pdf", "figure.png", "figure.svg"]
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == names
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "two" / n).read_bytes() for n in names)


@pytest.mark.parametrize("size", [{"retrievers": 3, "llms": 2}, {"retrievers": 6, "llms": 1, "tasks": 1}])
def test_legends_stay_inside_the_figure(size):
    grid = synthetic.labels(**size)
    for figure in drawn_figures(*synthetic.results(grid), grid).values():
        figure.draw_without_rendering()
        (legend,) = figure.legends
        box, whole = legend.get_window_extent(), figure.bbox
        assert box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0


def test_each_llm_has_a_hue_and_each_retriever_a_shade_of_it():
    colours = pair_colours(["a", "b"], ["x", "y"])
    assert len(set(colours.values())) == 4
    assert sum(colours["a", "y"]) > sum(colours["a", "x"])


def test_no_bar_is_higher_than_its_panel_where_panels_share_an_axis():
    grid = synthetic.labels(topics=3, tasks=1, retrievers=1, llms=1, categories=2)
    _, ranges, _ = synthetic.results(grid)
    # the last topic has by far the widest gap: 90 points
    ranges.loc[(ranges.topic == "topic2") & (ranges.measure == "r_rag"), "value"] = 90.0
    panels = range_bars(ranges, "r_rag", "R", grid).axes
    assert max(bars(panels[2])) == 90
    assert all(panel.get_ylim()[0] == 0 and panel.get_ylim()[1] > 90 for panel in panels)


def test_an_undefined_range_is_a_cross_even_where_all_are_undefined():
    grid = synthetic.labels(tasks=1, retrievers=2, llms=1, categories=3)
    _, ranges, _ = synthetic.results(grid)
    (axis,) = range_bars(ranges.assign(value=np.nan), "r_rag", "R", grid).axes
    assert [line.get_marker() for line in axis.lines] == ["x"] * (2 * 3)


def test_the_number_of_groups_stands_under_each_category_of_a_correlation():
    grid = synthetic.labels(tasks=1, llms=1, retrievers=1, categories=3)
    _, _, correlations = synthetic.results(grid)
    mean = correlations.retriever == "mean"
    hit = mean & (correlations.category == "popularity") & (correlations.factor == "utility")
    correlations.loc[hit, "n"] = 3
    correlations.loc[mean & (correlations.category == "alphabetical"), ["value", "n"]] = [np.nan, 0]
    (axis,) = correlation_bars(correlations, "delta", "ρ", grid).axes
    names = [tick.get_text() for tick in axis.get_xticklabels()]
    assert names == ["Age of topic\nn=4", "Popularity\nn=3–4", "Alphabetical"]


def test_two_names_with_one_label_still_have_a_panel_each():
    grid = synthetic.labels(tasks=1, retrievers=1, categories=2) | {"llms": {"llm0": "Model", "llm1": "Model"}}
    (_, _, correlations) = synthetic.results(grid)
    assert len(correlation_bars(correlations, "delta", "ρ", grid).axes) == 2


def test_dots_with_documents_stand_right_of_the_one_without():
    grid = synthetic.labels(tasks=1, retrievers=6, llms=1, categories=1)
    (axis,) = drawn_figures(*synthetic.results(grid), grid)["group_accuracy"].axes
    dots = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]
    # of each group six dots with documents, then the LLM alone
    groups = [dots[i : i + 7] for i in range(0, len(dots), 7)]
    assert len(groups) == 4 and all(min(group[:6]) > group[6] for group in groups)
