"""The finding in plain sentences, made from the numbers and their uncertainty."""

from collections.abc import Mapping

import pandas as pd

from whobenefits.categories import shown_group
from whobenefits.report.inputs import Labels, Results
from whobenefits.report.notes import correlation_sentence, gain_sentence, limits_sentence

POINT = ["topic", "task", "llm", "category"]
LEVEL = 0.05
# How many of the sentences are the finding itself; the others are notes to it.
MAIN = 3


def finding(results: Results, labels: Labels, about: Mapping) -> list[str]:
    """Sentences, the `MAIN` ones first: what RAG does on average, whether to all groups alike, and to the gap.

    What is undefined everywhere is said to be so, never left out or counted as 0.
    """
    return [
        accuracy_sentence(results.measures, labels),
        alike_sentence(results.ranges, results.measures, labels),
        gap_sentence(results.ranges),
        gain_sentence(results.measures, labels),
        correlation_sentence(results.correlations),
        limits_sentence(results, about),
    ]


def accuracy_sentence(measures: pd.DataFrame, labels: Labels) -> str:
    """Mean accuracy of the LLM alone and with documents, task by task, over the cells that have both."""
    overall = measures[measures["category"] == "all"]
    parts = []
    for task, label in labels["tasks"].items():
        rows = overall[overall["task"] == task]
        both = paired(rows, ("ac_llm", "ac_rag"), ["topic", "llm"]) * 100
        parts.append(f"{_change(both)} in {label.lower()}")
    over = "mean over topics, LLMs and retrievers"
    return f"With retrieved documents the mean ROUGE-L {' and '.join(parts)} ({over}{_above_zero(overall)})."


def _change(both: pd.DataFrame) -> str:
    if both.empty:
        return "is undefined"
    alone, rag = both["before"].mean().round(1), both["after"].mean().round(1)
    if alone == rag:
        return f"stayed at {alone:.1f} points"
    return f"{'rose' if rag > alone else 'fell'} from {alone:.1f} to {rag:.1f} points"


def _above_zero(overall: pd.DataFrame) -> str:
    """In how many cells the interval of the gain over all queries lies above 0, and below, where there are intervals."""
    gains = overall[overall["measure"] == "delta"].dropna(subset=["low", "high"])
    if gains.empty:
        return ""
    above, below = int((gains["low"] > 0).sum()), int((gains["high"] < 0).sum())
    text = f"; the 95 % interval of the gain lies above 0 in {above} of {len(gains)} cells"
    return text + (f" and below 0 in {below}" if below else "")


def paired(rows: pd.DataFrame, names: tuple[str, str], point: list[str]) -> pd.DataFrame:
    """`before`, a value of the LLM alone, beside `after`, the same with each retriever, where both are defined."""
    alone, rag = (rows[rows["measure"] == name].set_index([*point, "retriever"])["value"] for name in names)
    alone = alone.droplevel("retriever")
    before = pd.Series([alone.get(key[:-1]) for key in rag.index], rag.index, dtype=float)
    return pd.DataFrame({"before": before, "after": rag}).dropna()


def alike_sentence(ranges: pd.DataFrame, measures: pd.DataFrame, labels: Labels) -> str:
    """Whether the gains of the groups of a category differ by more than chance, or whether too few queries tell."""
    gains = ranges[(ranges["measure"] == "r_delta") & ranges["value"].notna()]
    tested = gains.dropna(subset="p_holm")
    if gains.empty:
        return "Whether all groups gain alike cannot be told: no range of their gains is defined."
    if tested.empty:
        return (
            f"Between the groups of a category the gains differ by {gains['value'].median():.1f} points (median of "
            f"{len(gains)} cells); no test was made, so how much of that is chance is not known."
        )
    found = tested[tested["p_holm"] < LEVEL].sort_values("value", ascending=False, kind="stable")
    return _found(found, len(tested), labels) if len(found) else _nothing_found(tested, measures)


def _found(found: pd.DataFrame, tests: int, labels: Labels) -> str:
    widest = found.iloc[0]
    names = [labels["topics"][widest["topic"]], labels["tasks"][widest["task"]].lower()]
    names += [labels["llms"][widest["llm"]], labels["retrievers"][widest["retriever"]]]
    best, worst = shown_group(widest["highest"]), shown_group(widest["lowest"])
    return (
        f"Not all groups gain alike: in {len(found)} of {tests} tests the gains differ by more than chance (5 %, "
        f"corrected for the number of tests), most of all for {labels['categories'][widest['category']]['label']} "
        f"({', '.join(names)}), where {best} gained {widest['value']:.1f} points more than {worst}{_ends(widest)}."
    )


def _ends(row: pd.Series) -> str:
    known = [] if pd.isna(row["low"]) else [f"95 % interval {row['low']:.1f} to {row['high']:.1f}"]
    known += [] if pd.isna(row["expected"]) else [f"{row['expected']:.1f} would be there by chance"]
    return f" ({'; '.join(known)})" if known else ""


def _nothing_found(tested: pd.DataFrame, measures: pd.DataFrame) -> str:
    blind, of = blind_cells(tested, measures)
    nothing = f"in none of {len(tested)} tests do the gains of the groups differ by more than chance"
    corrected = "(5 %, corrected for the number of tests)"
    known = tested["detectable"].dropna()
    if known.empty:
        return f"Nothing was found: {nothing} {corrected}; how small a difference could be found is not known."
    smallest = (
        f"the smallest difference between groups that four of five such studies would find is "
        f"{known.median():.1f} points (median; {known.min():.1f} to {known.max():.1f})"
    )
    if 2 * blind > of:
        return (
            f"Too few queries to tell: {nothing} {corrected}, but {smallest}, which is more than the whole mean gain in "
            f"{blind} of {of} cells."
        )
    return f"Nothing was found: {nothing} {corrected}; {smallest}, so smaller ones are not ruled out."


def blind_cells(tested: pd.DataFrame, measures: pd.DataFrame) -> tuple[int, int]:
    """In how many cells the smallest detectable range of gains exceeds the mean gain over all queries, and of how many."""
    place = ["topic", "task", "llm", "retriever"]
    overall = measures[(measures["category"] == "all") & (measures["measure"] == "delta")].set_index(place)["value"]
    gains = overall.abs().reindex(pd.MultiIndex.from_frame(tested[place])).to_numpy() * 100
    both = pd.DataFrame({"detectable": tested["detectable"].to_numpy(), "gain": gains}).dropna()
    return int((both["detectable"] > both["gain"]).sum()), len(both)


def gap_sentence(ranges: pd.DataFrame) -> str:
    """In how many cells the gap between groups is wider with documents than without, and how sure that is."""
    both = paired(ranges, ("r_llm", "r_rag"), POINT)
    if both.empty:
        return "The gap between the groups is undefined in every cell."
    wider, narrower = (both["after"] > both["before"]).sum(), (both["after"] < both["before"]).sum()
    return (
        f"The gap between the best and the worst served group of a category was wider with RAG than without in {wider} "
        f"of {len(both)} cells and narrower in {narrower} (median {both['before'].median():.1f} points without, "
        f"{both['after'].median():.1f} with){_more_than_chance(ranges)}."
    )


def _more_than_chance(ranges: pd.DataFrame) -> str:
    return _changes_beyond(ranges) + _own_tests(ranges)


def _changes_beyond(ranges: pd.DataFrame) -> str:
    """In how many cells the interval of R^rag - R^llm of the same queries leaves 0 out, where there are intervals.

    By the interval and not the paired test, which also finds answers that differ in other ways than their ranges.
    """
    rows = ranges[ranges["measure"] == "r_rag"].dropna(subset=["change_low", "change_high"])
    if rows.empty:
        return ""
    wider, narrower = int((rows["change_low"] > 0).sum()), int((rows["change_high"] < 0).sum())
    return f"; the 95 % interval of the change lies above 0 in {wider} of {len(rows)} cells and below 0 in {narrower}"


def _own_tests(ranges: pd.DataFrame) -> str:
    tested = {name: ranges[ranges["measure"] == name]["p_holm"].dropna() for name in ("r_rag", "r_llm")}
    if not len(tested["r_rag"]):
        return ""
    rag, alone = (f"{int((p < LEVEL).sum())} of {len(p)}" for p in tested.values())
    return f"; the gap itself is more than chance in {rag} tests with RAG and in {alone} without (5 %, corrected)"
