"""The main finding in plain sentences, made from the numbers."""

from collections.abc import Iterator, Mapping
from math import factorial

import pandas as pd

from whobenefits.categories import shown_group

Labels = Mapping[str, Mapping]
FACTORS = ("utility", "exposure", "attribution")
POINT = ["topic", "task", "llm", "category"]


def finding(
    measures: pd.DataFrame, ranges: pd.DataFrame, correlations: pd.DataFrame, labels: Labels, about: Mapping
) -> list[str]:
    """Sentences, the main one first. What is undefined everywhere is said to be so, never left out or counted as 0."""
    return [
        *accuracy_sentences(measures, labels),
        gap_sentence(ranges),
        gain_sentence(measures, labels),
        correlation_sentence(correlations),
        limits_sentence(measures, about),
    ]


def accuracy_sentences(measures: pd.DataFrame, labels: Labels) -> Iterator[str]:
    """One sentence for each task: mean accuracy of the LLM alone and with documents, over the cells that have both."""
    overall = measures[measures["category"] == "all"]
    for task, label in labels["tasks"].items():
        part = overall[overall["task"] == task]
        both = _paired(part, ("ac_llm", "ac_rag"), ["topic", "llm"]) * 100
        if both.empty:
            yield f"{label}: the mean accuracy is undefined."
            continue
        alone, rag = both["before"].mean().round(1), both["after"].mean().round(1)
        verb = "raised" if rag > alone else "lowered" if rag < alone else "left"
        yield (
            f"{label}: retrieved documents {verb} the mean ROUGE-L from {alone:.1f} to {rag:.1f} points"
            f"{' unchanged' if verb == 'left' else ''} (mean over LLMs, retrievers and topics)."
        )


def _paired(rows: pd.DataFrame, names: tuple[str, str], point: list[str]) -> pd.DataFrame:
    """`before`, a value of the LLM alone, beside `after`, the same with each retriever, where both are defined."""
    alone, rag = (rows[rows["measure"] == name].set_index([*point, "retriever"])["value"] for name in names)
    alone = alone.droplevel("retriever")
    before = pd.Series([alone.get(key[:-1]) for key in rag.index], rag.index, dtype=float)
    return pd.DataFrame({"before": before, "after": rag}).dropna()


def gap_sentence(ranges: pd.DataFrame) -> str:
    """In how many cells the gap between groups is wider with documents than without."""
    both = _paired(ranges, ("r_llm", "r_rag"), POINT)
    if both.empty:
        return "The gap between the groups is undefined in every cell."
    wider, narrower = (both["after"] > both["before"]).sum(), (both["after"] < both["before"]).sum()
    return (
        f"The gap between the best and the worst served group of a category was wider with RAG than without in {wider} "
        f"of {len(both)} cells and narrower in {narrower} (median {both['before'].median():.1f} points without, "
        f"{both['after'].median():.1f} with)."
    )


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


def limits_sentence(measures: pd.DataFrame, about: Mapping) -> str:
    """What the numbers cannot show."""
    overall = measures[(measures["category"] == "all") & (measures["measure"] == "ac_llm")]
    groups = measures[(measures["measure"] == "ac_llm") & (measures["category"] != "all")]
    sizes, totals = groups["n"], overall.groupby("topic")["n"].max()
    each = "" if len(totals) == 1 else " a topic"
    return (
        f"Read with care: {_span(totals)} queries{each}, {_span(sizes)} in a group. A range over so few can be this wide "
        f"by chance, and no interval or test is attached to it yet{_smallest_p(groups)}. "
        f"Which documents support an answer was decided by the attributor {about['attribution']['kind']}."
    )


def _smallest_p(groups: pd.DataFrame) -> str:
    """The smallest exact two-sided p of a ρ: two of the n! orders of n groups have |ρ| = 1."""
    n = max(groups[groups["n"] > 0].groupby(POINT)["group"].nunique(), default=0)
    return f"; a ρ over {n} groups cannot reach p < 1/{factorial(n) // 2}" if n > 2 else ""


def _span(values: pd.Series) -> str:
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"
