"""Figures 2 to 5 of the query-group study in its own form, drawn from the tables alone."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whobenefits.report.inputs import Labels
from whobenefits.report.palette import GREY, HUES, pair_colours

FACTORS = {"utility": "Utility", "exposure": "Exposure", "attribution": "Attribution"}
CELL = ["topic", "task", "llm", "category", "retriever"]
WIDTH, COLUMN = 7.5, 3.7  # inches of a figure at least, and of a column where there are several


def topic_panels(labels: Labels, rows: Mapping[Hashable, str], name: str, height: float, **options: object) -> tuple:
    """A figure with a column for each topic and a row for each title, and its axes by (topic, row).

    `name` stands at the value axis, `height` is a row's in inches, and `options` are those of Figure.subplots.
    """
    topics = labels["topics"]
    size = max(WIDTH, COLUMN * len(topics)), height * len(rows) + 0.9
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(rows), len(topics), squeeze=False, **options)
    for line, row in zip(grid, rows, strict=True):
        line[0].set_ylabel(name)
        for axis, topic in zip(line, topics.values(), strict=True):
            axis.set_title(_title(topic, rows[row], len(topics)), loc="left")
    return figure, dict(zip([(topic, row) for row in rows for topic in topics], grid.flat, strict=True))


def _title(topic: str, row: str, topics: int) -> str:
    return row if topics == 1 else f"{topic}\n{row}"


def _pairs(labels: Labels) -> dict[tuple[str, str], str]:
    """A title for each task and LLM."""
    return {(t, m): f"{labels['tasks'][t]}, {labels['llms'][m]}" for t in labels["tasks"] for m in labels["llms"]}


def range_bars(ranges: pd.DataFrame, measure: str, name: str, labels: Labels) -> Figure:
    """Figure 2 (`r_delta`) or 3 (`r_rag`): bars of LLM x retriever over the categories, a panel for topic and task.

    An undefined range is marked by a cross at zero; a short line at a bar is what the range comes to by chance alone.
    """
    kept = ranges[ranges["measure"] == measure].set_index(CELL)
    values, expected = kept["value"].to_dict(), kept["expected"].to_dict()
    llms, retrievers, categories = (list(labels[kind]) for kind in ("llms", "retrievers", "categories"))
    colours = pair_colours(llms, retrievers)
    figure, axes = topic_panels(labels, labels["tasks"], name, 2.5, sharey="row")
    for (topic, task), axis in axes.items():
        for i, (llm, retriever) in enumerate(colours):
            places = [(topic, task, llm, category, retriever) for category in categories]
            heights = [values.get(place, np.nan) for place in places]
            xs = _bars(axis, heights, i, len(colours), colours[llm, retriever])
            _chance_lines(axis, xs, [expected.get(place, np.nan) for place in places], len(colours))
        _category_ticks(axis, labels)
    for axis in axes.values():
        axis.set_ylim(bottom=0)  # after all bars: a limit of a shared axis stops it from growing with the next ones
    handles = [Patch(color=colours[m, r], label=f"{labels['llms'][m]}, {labels['retrievers'][r]}") for m, r in colours]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(llms))
    return figure


def correlation_bars(correlations: pd.DataFrame, outcome: str, name: str, labels: Labels) -> Figure:
    """Figure 4 (`ac_rag`) or 5 (`delta`): Spearman's ρ with U, E and A, averaged over the retrievers.

    A panel for topic, task and LLM. n is the number of groups that a ρ is over. An undefined ρ is marked by a cross at
    zero; the number of retrievers that an average is over stands at the bar where it is not all of them.
    """
    kept = correlations[(correlations["outcome"] == outcome) & (correlations["retriever"] == "mean")]
    values = kept.set_index(["topic", "task", "llm", "category", "factor"])
    figure, axes = topic_panels(labels, _pairs(labels), name, 2.1, sharey=True)
    for (topic, pair), axis in axes.items():
        cells = {
            factor: [values.loc[(topic, *pair, category, factor)] for category in labels["categories"]]
            for factor in FACTORS
        }
        for i, of_factor in enumerate(cells.values()):
            xs = _bars(axis, [cell["value"] for cell in of_factor], i, len(FACTORS), HUES[i])
            _mark_partial(axis, xs, of_factor, len(labels["retrievers"]))
        _category_ticks(axis, labels, [_group_counts(column) for column in zip(*cells.values(), strict=True)])
        axis.set(ylim=(-1.18, 1.18), yticks=[-1, -0.5, 0, 0.5, 1])
        axis.axhline(0, color=GREY, linewidth=0.8)
    handles = [Patch(color=HUES[i], label=label) for i, label in enumerate(FACTORS.values())]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _bars(axis: Axes, heights: Sequence[float], i: int, of: int, colour: object) -> np.ndarray:
    width = 0.8 / of
    xs = np.arange(len(heights)) + (i - (of - 1) / 2) * width
    axis.bar(xs, heights, width * 0.94, color=colour)
    for x in xs[np.isnan(heights)]:
        axis.plot(x, 0, marker="x", color=GREY, markersize=5, clip_on=False)
    return xs


def _chance_lines(axis: Axes, xs: np.ndarray, expected: Sequence[float], of: int) -> None:
    half = 0.4 / of
    axis.hlines(expected, xs - half, xs + half, color="#222222", linewidth=1.1, zorder=3)


def _group_counts(cells: Sequence[pd.Series]) -> str:
    """Over how many groups the defined ρ of a category are, as a line below its name."""
    counts = sorted({int(cell["n"]) for cell in cells if not np.isnan(cell["value"])})
    return f"\nn={'–'.join(map(str, (counts[0], counts[-1])[: len(counts)]))}" if counts else ""


def _mark_partial(axis: Axes, xs: np.ndarray, cells: Sequence[pd.Series], retrievers: int) -> None:
    for x, cell in zip(xs, cells, strict=True):
        if not np.isnan(cell["value"]) and cell["n_retrievers"] < retrievers:
            above = cell["value"] >= 0
            place = {"xy": (x, cell["value"]), "xytext": (0, 2 if above else -2), "textcoords": "offset points"}
            axis.annotate(str(cell["n_retrievers"]), **place, ha="center", va="bottom" if above else "top", fontsize=7)


def _category_ticks(axis: Axes, labels: Labels, below: Sequence[str] | None = None) -> None:
    """The categories' names, the short ones where there are several columns, with a line of text below each."""
    categories = labels["categories"].values()
    names = [category["short" if len(labels["topics"]) > 1 else "label"] for category in categories]
    below = below or [""] * len(names)
    axis.set_xticks(range(len(names)), [name + text for name, text in zip(names, below, strict=True)])
    axis.tick_params(axis="x", length=0)
