"""The correlations as a map: every ρ as a coloured cell with its number of groups, undefined ones hatched."""

import math

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from whobenefits.report.dots import panels
from whobenefits.report.inputs import Labels

# From blue over white to orange: told apart by everyone, and light in the middle.
COLOURS = colormaps["PuOr_r"]
FACTORS = {"utility": "U", "exposure": "E", "attribution": "A"}
OUTCOMES = {"delta": "ρ with $Δ$", "ac_rag": "ρ with $AC^{rag}$"}
LEVEL = 0.05


def correlation_map(correlations: pd.DataFrame, labels: Labels) -> Figure:
    """ρ averaged over the retrievers: rows are topic, task and LLM, columns categories and factors, a map an outcome.

    In a cell stand ρ, a star where its p is below 5 % after correction, and the number of groups; hatched is undefined.
    """
    keys = ["outcome", "topic", "task", "llm", "category", "factor"]
    rows = correlations[correlations["retriever"] == "mean"].set_index(keys).to_dict("index")
    titles = panels(labels)
    columns = [(category, factor) for category in labels["categories"] for factor in FACTORS]
    size = 0.62 * len(columns) + 2.6, (0.42 * len(titles) + 0.75) * len(OUTCOMES) + 0.2
    figure = Figure(figsize=size, layout="constrained")
    for axis, (outcome, name) in zip(figure.subplots(len(OUTCOMES), squeeze=False).flat, OUTCOMES.items(), strict=True):
        for y, cell in enumerate(titles):
            for x, column in enumerate(columns):
                _cell(axis, x, y, rows.get((outcome, *cell, *column)))
        _frame(axis, labels, list(titles.values()), name)
    return figure


def _cell(axis: Axes, x: int, y: int, row: dict | None) -> None:
    if row is None or math.isnan(row["value"]):
        axis.add_patch(Rectangle((x, y), 1, 1, facecolor="white", edgecolor="#b0b0b0", hatch="////", linewidth=0.4))
        return
    colour = COLOURS((row["value"] + 1) / 2)
    axis.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.8))
    ink = "white" if abs(row["value"]) > 0.75 else "black"
    star = "*" if row["p_holm"] < LEVEL else ""
    # the sum makes a rounded -0.0 a 0.0
    axis.text(
        x + 0.5, y + 0.42, f"{round(row['value'], 2) + 0.0:.2f}{star}", ha="center", va="center", fontsize=7, color=ink
    )
    axis.text(x + 0.5, y + 0.78, f"n={row['n']}", ha="center", va="center", fontsize=5, color=ink)


def _frame(axis: Axes, labels: Labels, names: list[str], title: str) -> None:
    factors = list(FACTORS.values())
    count = len(factors) * len(labels["categories"])
    axis.set(xlim=(0, count), ylim=(len(names), 0))
    axis.set_xticks([i + 0.5 for i in range(count)], factors * len(labels["categories"]), fontsize=7)
    axis.set_yticks([i + 0.5 for i in range(len(names))], names, fontsize=7)
    axis.tick_params(length=0)
    axis.grid(visible=False)
    for i, category in enumerate(labels["categories"].values()):
        axis.annotate(category["label"], ((i + 0.5) * len(factors), 0), (0, 3), textcoords="offset points",
                      ha="center", va="bottom", fontsize=8)  # fmt: skip
    axis.set_title(title, loc="left", pad=16)
    for spine in axis.spines.values():
        spine.set_visible(False)
