import numpy as np
import pytest
import synthetic

from whobenefits.report.figure_files import drawn_figures, figure_data, write_figures
from whobenefits.report.figures import correlation_bars, range_bars
from whobenefits.report.inputs import Results
from whobenefits.report.palette import HUES, pair_colours


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
    figures = drawn_figures(synthetic.study(grid), grid)
    panels = len(grid["topics"]) * len(grid["tasks"])
    cells = panels * len(grid["llms"])
    # of the ranges two panels a cell: gains and accuracy; of the map one for each outcome
    counts = [cells, panels, panels, 2 * cells, cells, cells, 2]
    names = ["group_accuracy", "figure2", "figure3", "ranges", "figure4", "figure5", "correlation_map"]
    assert {name: len(figure.axes) for name, figure in figures.items()} == dict(zip(names, counts, strict=True))
    assert list(figure_data(synthetic.study(grid))) == names


def test_two_runs_make_the_same_bytes_in_each_format(tmp_path):
    grid = synthetic.labels(tasks=1, retrievers=1, llms=1, categories=2)
    for folder in ("one", "two"):
        ranges = synthetic.results(grid)[1]
        write_figures({"figure": range_bars(ranges, "r_rag", "R", grid)}, {"figure": ranges}, tmp_path / folder)
    names = ["figure.csv", "figure.pdf", "figure.png", "figure.svg"]
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == names
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "two" / n).read_bytes() for n in names)


@pytest.mark.parametrize("size", [{"retrievers": 3, "llms": 2}, {"retrievers": 6, "llms": 1, "tasks": 1}])
def test_legends_stay_inside_the_figure(size):
    grid = synthetic.labels(**size)
    figures = drawn_figures(synthetic.study(grid), grid)
    for figure in (figure for name, figure in figures.items() if name != "correlation_map"):
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
    (axis,) = drawn_figures(synthetic.study(grid), grid)["group_accuracy"].axes
    dots = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]
    # of each group six dots with documents, then the LLM alone
    groups = [dots[i : i + 7] for i in range(0, len(dots), 7)]
    assert len(groups) == 4 and all(min(group[:6]) > group[6] for group in groups)


def test_a_range_that_is_more_than_chance_is_filled_and_chance_stands_beside_it():
    grid = synthetic.labels(tasks=1, retrievers=2, llms=1, categories=1)
    results = synthetic.study(grid)
    hit = (results.ranges.measure == "r_rag") & (results.ranges.retriever == "retriever1")
    results.ranges.loc[results.ranges.measure == "r_rag", "p_holm"] = 0.5
    results.ranges.loc[hit, "p_holm"] = 0.01
    _, rag = drawn_figures(results, grid)["ranges"].axes
    dots = [line for line in rag.lines if line.get_marker() == "o"]
    assert [dot.get_markerfacecolor() for dot in dots] == ["white", HUES[1]]
    # one segment for the interval and one for chance, at each retriever
    ends = [segment for lines in rag.collections for segment in lines.get_segments()]
    row = results.ranges[hit].iloc[0]
    assert any(np.allclose(segment[:, 0], [row["low"], row["high"]]) for segment in ends)
    assert any(np.allclose(segment[:, 0], row["expected"]) for segment in ends)


def test_the_map_shows_each_correlation_and_hatches_the_undefined():
    grid = synthetic.labels(tasks=1, retrievers=1, llms=1, categories=1)
    results = synthetic.study(grid)
    mean = (results.correlations.retriever == "mean") & (results.correlations.outcome == "delta")
    results.correlations.loc[mean, "value"] = [np.nan, -0.001, 0.5]
    results.correlations.loc[mean, "p_holm"] = [np.nan, 0.5, 0.01]
    delta, _ = drawn_figures(results, grid)["correlation_map"].axes
    assert [text.get_text() for text in delta.texts if "n=" not in text.get_text()][:2] == ["0.00", "0.50*"]
    assert [bool(patch.get_hatch()) for patch in delta.patches] == [True, False, False]


def test_figures_are_drawn_where_nothing_of_the_uncertainty_is_known():
    grid = synthetic.labels(tasks=1, retrievers=1, llms=1, categories=1)
    figures = drawn_figures(Results(*synthetic.results(grid)), grid)
    for figure in figures.values():
        figure.draw_without_rendering()


def test_the_data_of_a_figure_are_the_rows_it_shows(tmp_path):
    grid = synthetic.labels(tasks=1, retrievers=2, llms=1, categories=1)
    results = synthetic.study(grid)
    data = figure_data(results)
    kept = results.ranges[results.ranges.measure == "r_delta"]
    assert data["figure2"]["value"].tolist() == kept["value"].tolist() and len(data["figure2"]) == 2
    assert set(data["figure4"]["outcome"]) == {"ac_rag"} and set(data["figure4"]["retriever"]) == {"mean"}
