"""Figures 2 to 5 of the query-group study, and one of group means, drawn from the tables alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whobenefits.categories import shown_group
from whobenefits.report.palette import GREY, HUES, pair_colours, style

Labels = Mapping[str, Mapping]
FACTORS = {"utility": "Utility", "exposure": "Exposure", "attribution": "Attribution"}
CELL = ["topic", "task", "llm", "category", "retriever"]


def panels(labels: Labels, rows: Sequence[str], width: float, height: float, **options: object) -> tuple:
    """A figure with one column for each topic and the given row titles, and its axes by (row, topic)."""
    topics = list(labels["topics"])
    figure = Figure(figsize=(max(7.5, width * len(topics)), height * len(rows) + 0.9), layout="constrained")
    grid = figure.subplots(len(rows), len(topics), squeeze=False, **options)
    axes = {(row, topic): grid[i][j] for i, row in enumerate(rows) for j, topic in enumerate(topics)}
    for (row, topic), axis in axes.items():
        axis.set_title(f"{labels['topics'][topic]}: {row}" if len(topics) > 1 else row, loc="left")
    return figure, axes


def range_bars(ranges: pd.DataFrame, measure: str, name: str, labels: Labels) -> Figure:
    """Figure 2 (`r_delta`) or 3 (`r_rag`): bars of LLM x retriever over the categories, a panel for topic and task."""
    values = ranges[ranges["measure"] == measure].set_index(CELL)["value"].to_dict()
    llms, retrievers, categories = (list(labels[kind]) for kind in ("llms", "retrievers", "categories"))
    colours = pair_colours(llms, retrievers)
    tasks = {label: task for task, label in labels["tasks"].items()}
    figure, axes = panels(labels, list(tasks), 5, 2.5, sharey="row")
    for (row, topic), axis in axes.items():
        for i, pair in enumerate(colours):
            heights = [values.get((topic, tasks[row], pair[0], cat, pair[1]), np.nan) for cat in categories]
            _bars(axis, heights, i, len(colours), colours[pair])
        _category_ticks(axis, labels)
        axis.set_ylabel(name)
    handles = [Patch(color=colours[m, r], label=f"{labels['llms'][m]}, {labels['retrievers'][r]}") for m, r in colours]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(llms))
    return figure


def correlation_bars(correlations: pd.DataFrame, outcome: str, name: str, labels: Labels) -> Figure:
    """Figure 4 (`ac_rag`) or 5 (`delta`): Spearman's ρ with U, E and A, averaged over the retrievers.

    A panel for topic, task and LLM. An undefined ρ is marked by a cross at zero; the number of retrievers that an
    average is over stands at the bar where it is not all of them.
    """
    kept = correlations[(correlations["outcome"] == outcome) & (correlations["retriever"] == "mean")]
    values = kept.set_index(["topic", "task", "llm", "category", "factor"])
    pairs = {f"{labels['tasks'][t]}, {labels['llms'][m]}": (t, m) for t in labels["tasks"] for m in labels["llms"]}
    figure, axes = panels(labels, list(pairs), 5, 1.9, sharey=True)
    for (row, topic), axis in axes.items():
        for i, factor in enumerate(FACTORS):
            cells = [values.loc[(topic, *pairs[row], category, factor)] for category in labels["categories"]]
            xs = _bars(axis, [cell["value"] for cell in cells], i, len(FACTORS), HUES[i])
            _mark(axis, xs, cells, len(labels["retrievers"]))
        _category_ticks(axis, labels)
        axis.set_ylim(-1.18, 1.18)
        axis.set_yticks([-1, -0.5, 0, 0.5, 1])
        axis.axhline(0, color=GREY, linewidth=0.8)
        axis.set_ylabel(name)
    handles = [Patch(color=HUES[i], label=label) for i, label in enumerate(FACTORS.values())]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _bars(axis: Axes, heights: Sequence[float], i: int, of: int, colour: object) -> np.ndarray:
    width = 0.8 / of
    xs = np.arange(len(heights)) + (i - (of - 1) / 2) * width
    axis.bar(xs, heights, width * 0.94, color=colour)
    return xs


def _mark(axis: Axes, xs: np.ndarray, cells: Sequence[pd.Series], retrievers: int) -> None:
    for x, cell in zip(xs, cells, strict=True):
        if np.isnan(cell["value"]):
            axis.plot(x, 0, marker="x", color=GREY, markersize=5)
        elif cell["n_retrievers"] < retrievers:
            above = cell["value"] >= 0
            place = {"xy": (x, cell["value"]), "xytext": (0, 2 if above else -2), "textcoords": "offset points"}
            axis.annotate(str(cell["n_retrievers"]), **place, ha="center", va="bottom" if above else "top", fontsize=7)


def _category_ticks(axis: Axes, labels: Labels) -> None:
    categories = labels["categories"].values()
    axis.set_xticks(range(len(categories)), [category["label"] for category in categories])
    axis.tick_params(axis="x", length=0)


def group_means(measures: pd.DataFrame, labels: Labels) -> Figure:
    """Mean ROUGE-L of each group, LLM alone and with each retriever, joined by a line; n is the number of queries.

    A panel for topic, task and LLM.
    """
    kept = measures[measures["measure"].isin(["ac_llm", "ac_rag"])].set_index([*CELL, "group"])
    pairs = {f"{labels['tasks'][t]}, {labels['llms'][m]}": (t, m) for t in labels["tasks"] for m in labels["llms"]}
    figure, axes = panels(labels, list(pairs), 8.5, 2.5, sharey="row")
    for (row, topic), axis in axes.items():
        _group_panel(axis, kept, (topic, *pairs[row]), labels)
    names = ["LLM alone", *labels["retrievers"].values()]
    figure.legend(handles=[Patch(color=c, label=n) for c, n in zip((GREY, *HUES), names, strict=False)],
                  loc="outside lower center", ncols=len(names))  # fmt: skip
    return figure


def _group_panel(axis: Axes, kept: pd.DataFrame, cell: tuple[str, str, str], labels: Labels) -> None:
    x, ticks, names = 0.0, [], []
    for category, item in labels["categories"].items():
        axis.annotate(item["label"], (x, 1.0), (-4, 2), xycoords=("data", "axes fraction"),
                      textcoords="offset points", fontsize=8, color=GREY)  # fmt: skip
        for group in item["groups"]:
            alone = kept.loc[(*cell, category, "none", group)]
            with_rag = [
                kept.loc[(*cell, category, retriever, group)]["value"] * 100 for retriever in labels["retrievers"]
            ]
            places = x + (np.arange(len(with_rag)) - (len(with_rag) - 1) / 2) * 0.16
            for i, (place, value) in enumerate(zip(places, with_rag, strict=True)):
                axis.plot([x - 0.36, place], [alone["value"] * 100, value], color="#c8c8c8", linewidth=0.8, zorder=1)
                axis.plot(place, value, "o", color=HUES[i % len(HUES)], markersize=5)
            axis.plot(x - 0.36, alone["value"] * 100, "o", color=GREY, markersize=5)
            ticks, names = [*ticks, x], [*names, f"{shown_group(group)}\nn={alone['n']}"]
            x += 1
        x += 0.7
    axis.set_xticks(ticks, names, fontsize=7, rotation=45, ha="right", rotation_mode="anchor")
    axis.set_ylabel("ROUGE-L × 100")
    axis.set_title(axis.get_title("left"), loc="left", pad=16)


def drawn_figures(
    measures: pd.DataFrame, ranges: pd.DataFrame, correlations: pd.DataFrame, labels: Labels
) -> dict[str, Figure]:
    """All figures by name."""
    with style():
        return {
            "group_accuracy": group_means(measures, labels),
            "figure2": range_bars(ranges, "r_delta", "$R^{Δ}$ (points)", labels),
            "figure3": range_bars(ranges, "r_rag", "$R^{rag}$ (points)", labels),
            "figure4": correlation_bars(correlations, "ac_rag", "ρ with $AC^{rag}$", labels),
            "figure5": correlation_bars(correlations, "delta", "ρ with $Δ$", labels),
        }


def write_figures(figures: Mapping[str, Figure], folder: str | Path) -> None:
    """Write each figure as SVG, PDF and PNG; the files hold no date, so that two runs make the same bytes."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with style():
        for name, figure in figures.items():
            figure.savefig(Path(folder) / f"{name}.svg", metadata={"Date": None})
            figure.savefig(Path(folder) / f"{name}.pdf", metadata={"CreationDate": None})
            figure.savefig(Path(folder) / f"{name}.png", dpi=200, metadata={"Software": None})
