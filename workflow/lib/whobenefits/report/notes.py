"""Notes to the finding: who gained most and least, what went along with it, and what the numbers cannot show."""

from collections.abc import Mapping
from math import factorial

import pandas as pd

from whobenefits.categories import shown_group
from whobenefits.report.inputs import Labels, Results

POINT = ["topic", "task", "llm", "category"]
FACTORS = ("utility", "exposure", "attribution")


def gain_sentence(measures: pd.DataFrame, labels: Labels) -> str:
    """The groups that gained most and least, averaged over all cells in which they have queries."""
    rows = measures[(measures["measure"] == "delta") & (measures["category"] != "all")]
    # the sum makes a rounded -0.0 a 0.0
    gains = (rows.groupby(["category", "group"])["value"].mean() * 100).dropna().round(1) + 0.0
    if gains.empty:
        return "No group's gain is defined."
    high, low = gains.max(), gains.min()
    if high == low:
        return f"All groups {'gained' if high > 0 else 'changed'} alike ({high:+.1f} points)."
    best, worst = (f"{_groups(gains[gains == value], labels)} ({value:+.1f} points)" for value in (high, low))
    if high <= 0:
        return f"Averaged over all cells, no group gained: least was lost by {best}, most by {worst}."
    if low < 0:
        return f"Averaged over all cells, most was gained by {best}, and most lost by {worst}."
    return f"Averaged over all cells, most was gained by {best}, least by {worst}."


def _groups(gains: pd.Series, labels: Labels) -> str:
    names = [f"{labels['categories'][cat]['label']}: {shown_group(group)}" for cat, group in gains.index]
    return " and ".join(names)


def correlation_sentence(correlations: pd.DataFrame) -> str:
    """How often the averaged correlations with the accuracy gain are positive, for each factor."""
    rows = correlations[(correlations["retriever"] == "mean") & (correlations["outcome"] == "delta")]
    rows = rows.dropna(subset="value")
    if rows.empty:
        return (
            "No correlation between the groups' gains and their documents' utility, exposure or attribution is defined."
        )
    signs = rows.assign(positive=rows["value"] > 0, negative=rows["value"] < 0).groupby("factor")
    counts = signs[["positive", "negative"]].sum().assign(all=signs.size())
    parts = [
        f"{name} in {counts.loc[name, 'positive']} of {counts.loc[name, 'all']}"
        for name in FACTORS
        if name in counts.index
    ]
    return (
        f"The groups' gains stand in {_direction(counts)} relation to what their documents got: the averaged ρ is "
        f"positive for {', '.join(parts)} cells where it is defined."
    )


def _direction(counts: pd.DataFrame) -> str:
    """A direction only where each factor has it in three of four cells; a ρ of 0 speaks for neither."""
    for sign in ("positive", "negative"):
        if (counts[sign] >= 0.75 * counts["all"]).all():
            return f"a mostly {sign}"
    return "no consistent"


def limits_sentence(results: Results, about: Mapping) -> str:
    """What the numbers cannot show."""
    measures = results.measures
    overall = measures[(measures["category"] == "all") & (measures["measure"] == "ac_llm")]
    groups = measures[(measures["measure"] == "ac_llm") & (measures["category"] != "all")]
    sizes, totals = groups["n"], overall.groupby("topic")["n"].max()
    each = "" if len(totals) == 1 else " a topic"
    return (
        f"Read with care: {span(totals)} queries{each}, {span(sizes)} in a group. A range over groups is above 0 by chance "
        f"alone{_smallest_p(groups)}. Which documents support an answer was decided by the attributor "
        f"{about['attribution']['kind']}."
    )


def _smallest_p(groups: pd.DataFrame) -> str:
    """The smallest exact two-sided p of a ρ: two of the n! orders of n groups have |ρ| = 1."""
    n = max(groups[groups["n"] > 0].groupby(POINT)["group"].nunique(), default=0)
    return f"; a ρ over {n} groups cannot reach p < 1/{factorial(n) // 2}" if n > 2 else ""


def span(values: pd.Series) -> str:
    """The smallest and the largest of whole numbers, such as "3 to 5"; one number where all are the same."""
    if not len(values):
        return "no"
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"
