"""Figures of dots with intervals: the groups' means without and with documents, and ranges against their chance level."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whobenefits.categories import shown_group
from whobenefits.report.inputs import Labels
from whobenefits.report.palette import GREY, HUES

LEVEL = 0.05
RANGES = {"r_delta": "$R^{Δ}$ (points)", "r_rag": "$R^{rag}$ (points)"}


def panels(labels: Labels) -> dict[tuple[str, str, str], str]:
    """A title for each topic, task and LLM, in the grid's order."""
    topic_in_title = len(labels["topics"]) > 1
    return {
        (topic, task, llm): (f"{shown}: " if topic_in_title else "") + f"{labels['tasks'][task]}, {labels['llms'][llm]}"
        for topic, shown in labels["topics"].items()
        for task in labels["tasks"]
        for llm in labels["llms"]
    }


def group_means(points: pd.DataFrame, labels: Labels) -> Figure:
    """Mean ROUGE-L of each group with its 95 % interval, LLM alone and with each retriever, joined by a line.

    `points` as group_points gives them; n is the number of queries. A panel for topic, task and LLM, one below the
    other: side by side the groups' names are too small to read.
    """
    kept = points.set_index(["topic", "task", "llm", "category", "group", "retriever"]).sort_index()
    titles = panels(labels)
    figure = Figure(figsize=(8.5, 2.6 * len(titles) + 0.9), layout="constrained")
    for axis, (cell, title) in zip(figure.subplots(len(titles), squeeze=False).flat, titles.items(), strict=True):
        _group_panel(axis, kept.loc[cell], labels)
        axis.set_title(title, loc="left", pad=16)
    names = ["LLM alone", *labels["retrievers"].values()]
    _legend(figure, zip((GREY, *HUES), names, strict=False))
    return figure


def _group_panel(axis: Axes, kept: pd.DataFrame, labels: Labels) -> None:
    x, ticks, names = 0.0, [], []
    for category, item in labels["categories"].items():
        axis.annotate(item["label"], (x, 1.0), (-4, 2), xycoords=("data", "axes fraction"),
                      textcoords="offset points", fontsize=8, color=GREY)  # fmt: skip
        for group in item["groups"]:
            rows = kept.loc[(category, group)]
            _group_dots(axis, x, [rows.loc[retriever] for retriever in labels["retrievers"]])
            ticks, names = [*ticks, x], [*names, f"{shown_group(group)}\nn={rows['n'].iloc[0]}"]
            x += 1
        x += 0.7
    axis.set_xticks(ticks, names, fontsize=7, rotation=45, ha="right", rotation_mode="anchor")
    axis.set_ylabel("ROUGE-L × 100")


def _group_dots(axis: Axes, x: float, rows: list[pd.Series]) -> None:
    """One group at the place x: the LLM alone on the left, each retriever right of it."""
    step = min(0.16, 0.5 / max(1, len(rows) - 1))
    alone = rows[0]
    for i, row in enumerate(rows):
        place = x + (i - (len(rows) - 1) / 2) * step
        axis.plot([x - 0.36, place], [alone["llm_value"], row["rag"]], color="#c8c8c8", linewidth=0.8, zorder=1)
        _dot(axis, place, (row["rag"], row["rag_low"], row["rag_high"]), HUES[i % len(HUES)])
    _dot(axis, x - 0.36, (alone["llm_value"], alone["llm_low"], alone["llm_high"]), GREY)


def _dot(axis: Axes, place: float, ends: tuple[float, float, float], colour: str, **options: object) -> None:
    value, low, high = ends
    axis.vlines(place, low, high, color=colour, linewidth=1.2, alpha=0.6, zorder=2)
    axis.plot(place, value, "o", color=colour, markersize=5, zorder=3, **options)


def _legend(figure: Figure, items: object) -> None:
    handles = [Line2D([], [], marker="o", linestyle="", color=colour, label=name) for colour, name in items]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)))


def range_dots(ranges: pd.DataFrame, labels: Labels) -> Figure:
    """Ranges of gains and of accuracy with RAG with their 95 % intervals, beside what chance alone gives.

    A row of panels for each topic, task and LLM; a dot for each category and retriever, filled where the range is more
    than chance at 5 %, corrected for the number of tests; the upright line is the mean range of shuffled labels.
    """
    keys = ["topic", "task", "llm", "measure", "category", "retriever"]
    kept = ranges.set_index(keys)[["value", "low", "high", "expected", "p_holm"]].to_dict("index")
    titles = panels(labels)
    lines = len(labels["categories"]) * (len(labels["retrievers"]) + 1)
    figure = Figure(figsize=(8.5, (0.16 * lines + 0.75) * len(titles) + 0.9), layout="constrained")
    axes = figure.subplots(len(titles), len(RANGES), squeeze=False, sharex="col", sharey=True)
    for line, (cell, title) in zip(axes, titles.items(), strict=True):
        for axis, (measure, name) in zip(line, RANGES.items(), strict=True):
            _range_panel(axis, {key[4:]: row for key, row in kept.items() if key[:4] == (*cell, measure)}, labels)
            axis.set_xlabel(name, fontsize=8)
        line[0].set_title(title, loc="left")
    for axis in axes.flat:
        axis.set_xlim(left=0)
    _legend(figure, zip(HUES, labels["retrievers"].values(), strict=False))
    return figure


def _range_panel(axis: Axes, rows: dict[tuple[str, str], dict], labels: Labels) -> None:
    y, ticks = 0.0, []
    for category in labels["categories"]:
        ticks.append(y + (len(labels["retrievers"]) - 1) / 2)
        for i, retriever in enumerate(labels["retrievers"]):
            row = rows.get((category, retriever))
            if row is not None and not np.isnan(row["value"]):
                _range_dot(axis, y, row, HUES[i % len(HUES)])
            else:
                axis.plot(0, y, marker="x", color=GREY, markersize=4, clip_on=False)
            y += 1
        y += 1
    axis.set_yticks(ticks, [item["label"] for item in labels["categories"].values()], fontsize=8)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=True, axis="x")
    axis.grid(visible=False, axis="y")
    axis.set_ylim(y - 1.5, -0.7)


def _range_dot(axis: Axes, y: float, row: dict, colour: str) -> None:
    axis.hlines(y, row["low"], row["high"], color=colour, linewidth=1.2, alpha=0.6, zorder=2)
    axis.vlines(row["expected"], y - 0.4, y + 0.4, color="#222222", linewidth=1.2, zorder=3)
    filled = colour if row["p_holm"] < LEVEL else "white"
    axis.plot(row["value"], y, "o", color=colour, markerfacecolor=filled, markersize=4.5, zorder=4)
