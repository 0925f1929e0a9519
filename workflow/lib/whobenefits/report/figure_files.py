"""All figures of the report, and their files: SVG, PDF and PNG, and the data that each was drawn from as CSV."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from whobenefits.report.dots import group_means, range_dots
from whobenefits.report.figures import correlation_bars, range_bars
from whobenefits.report.heat_map import correlation_map
from whobenefits.report.inputs import Labels, Results
from whobenefits.report.palette import style
from whobenefits.report.points import correlation_points, group_points, range_points
from whobenefits.report.text import write_csv


def drawn_figures(results: Results, labels: Labels) -> dict[str, Figure]:
    """All figures by name."""
    ranges, correlations = results.ranges, results.correlations
    with style():
        return {
            "group_accuracy": group_means(group_points(results), labels),
            "figure2": range_bars(ranges, "r_delta", "$R^{Δ}$ (points)", labels),
            "figure3": range_bars(ranges, "r_rag", "$R^{rag}$ (points)", labels),
            "ranges": range_dots(ranges, labels),
            "figure4": correlation_bars(correlations, "ac_rag", "ρ with $AC^{rag}$", labels),
            "figure5": correlation_bars(correlations, "delta", "ρ with $Δ$", labels),
            "correlation_map": correlation_map(correlations, labels),
        }


def figure_data(results: Results) -> dict[str, pd.DataFrame]:
    """What each figure shows, by its name: the rows that it was drawn from, and no others."""
    ranges, means = range_points(results), correlation_points(results)
    groups, means = group_points(results), means[means["retriever"] == "mean"]
    return {
        "group_accuracy": groups[groups["category"] != "all"],
        "figure2": ranges[ranges["measure"] == "r_delta"],
        "figure3": ranges[ranges["measure"] == "r_rag"],
        "ranges": ranges[ranges["measure"].isin(["r_delta", "r_rag"])],
        "figure4": means[means["outcome"] == "ac_rag"],
        "figure5": means[means["outcome"] == "delta"],
        "correlation_map": means,
    }


def write_figures(figures: Mapping[str, Figure], data: Mapping[str, pd.DataFrame], folder: str | Path) -> None:
    """Write each figure as SVG, PDF and PNG and its data as CSV; no file holds a date, so two runs make the same bytes."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with style():
        for name, figure in figures.items():
            # The layout is the same in each format: computed once, then kept.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})
            figure.savefig(folder / f"{name}.png", dpi=200, metadata={"Software": None})
            write_csv(data[name], folder / f"{name}.csv")
