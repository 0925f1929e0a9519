"""Tables 2 to 5 for a paper, in its form and with intervals: LaTeX that needs the package booktabs."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from whobenefits.report.inputs import Labels, Results
from whobenefits.report.points import CELL
from whobenefits.report.tables import shown_dataset
from whobenefits.report.text import latex

Places = Mapping[tuple[str, ...], Mapping[str, float]]
LEVEL = 0.05
DASH = "--"


def latex_tables(results: Results, dataset: pd.DataFrame, labels: Labels) -> dict[str, str]:
    """The tables by file name (without .tex): 2, the data; 3, accuracy; 4, ranges; 5, ranges of the gains; 6, ρ.

    A value has its 95 % interval in brackets below it; an undefined one is a dash. A star: more than chance at 5 %,
    corrected for the number of tests.
    """
    overall = results.measures[results.measures["category"] == "all"]
    accuracy = overall[overall["measure"].isin(["ac_llm", "ac_rag"])]
    accuracy = accuracy.assign(**{name: accuracy[name] * 100 for name in ("value", "low", "high")})
    ranges = results.ranges[results.ranges["measure"].isin(["r_llm", "r_rag"])]
    gains = results.ranges[results.ranges["measure"] == "r_delta"]
    return {
        "table2": _dataset(dataset),
        "table3": _wide(accuracy, ("tasks", "llms"), labels, True, "Mean ROUGE-L $\\times$ 100 over all queries; N: the LLM alone."),
        "table4": _wide(ranges, ("tasks", "categories", "llms"), labels, True, "Ranges over the groups in ROUGE-L points: $R^{llm}$ under N, $R^{rag}$ under the retrievers."),
        "table5": _wide(gains, ("tasks", "categories", "llms"), labels, False, "Ranges of the groups' gains, $R^{\\Delta}$, in ROUGE-L points."),
        "table6": _correlations(results.correlations, labels),
    }  # fmt: skip


def _dataset(dataset: pd.DataFrame) -> str:
    heads, rows = shown_dataset(dataset)
    kept = [i for i, head in enumerate(heads) if not head.startswith("Dropped")]
    lines = [[latex(row[i]) for i in kept] for row in rows]
    return _table([[latex(heads[i]) for i in kept]], lines, "l" + "r" * (len(kept) - 1), "The data.")


def _wide(rows: pd.DataFrame, kinds: Sequence[str], labels: Labels, with_llm: bool, caption: str) -> str:
    names = {"tasks": "task", "categories": "category", "llms": "llm"}
    places = _places(rows, [*(names[kind] for kind in kinds), "topic", "retriever"])
    retrievers = [*(["none"] if with_llm else []), *labels["retrievers"]]
    columns = [(topic, retriever) for topic in labels["topics"] for retriever in retrievers]
    lines, last = [], None
    for key in _keys([labels[kind] for kind in kinds]):
        if last not in (None, key[0]):
            lines.append([])
        names = _names(kinds, key, labels)
        names[0] = "" if last == key[0] else names[0]
        lines.append([*names, *(_cell(places.get((*key, *column))) for column in columns)])
        last = key[0]
    return _table(_heads(kinds, retrievers, labels), lines, "l" * len(kinds) + "r" * len(columns), caption)


def _heads(kinds: Sequence[str], retrievers: Sequence[str], labels: Labels) -> list[list[str]]:
    shown = ["N" if name == "none" else latex(labels["retrievers"][name]) for name in retrievers]
    spans = [f"\\multicolumn{{{len(retrievers)}}}{{c}}{{{latex(topic)}}}" for topic in labels["topics"].values()]
    titles = {"tasks": "Task", "categories": "Category", "llms": "LLM"}
    return [[*[""] * len(kinds), *spans], [*(titles[kind] for kind in kinds), *shown * len(labels["topics"])]]


def _keys(parts: Sequence[Mapping]) -> list[tuple[str, ...]]:
    keys: list[tuple[str, ...]] = [()]
    for part in parts:
        keys = [(*key, name) for key in keys for name in part]
    return keys


def _names(kinds: Sequence[str], key: tuple[str, ...], labels: Labels) -> list[str]:
    items = [labels[kind][name] for kind, name in zip(kinds, key, strict=True)]
    return [latex(item["short"] if isinstance(item, Mapping) else item) for item in items]


def _places(rows: pd.DataFrame, keys: Sequence[str]) -> Places:
    columns = [name for name in ("value", "low", "high", "p_holm") if name in rows]
    return rows.set_index(list(keys))[columns].to_dict("index")


def _cell(row: Mapping[str, float] | None, digits: int = 1) -> str:
    """A value above its interval; a dash where it is undefined."""
    if row is None or math.isnan(row["value"]):
        return DASH
    value = _number(row["value"], digits) + ("$^{*}$" if row.get("p_holm", math.nan) < LEVEL else "")
    if math.isnan(row["low"]):
        return value
    ends = f"[{_number(row['low'], digits)}, {_number(row['high'], digits)}]"
    return f"\\shortstack[r]{{{value}\\\\{{\\tiny {ends}}}}}"


def _number(value: float, digits: int) -> str:
    text = f"{round(value, digits) + 0.0:.{digits}f}"
    return f"${text}$" if text.startswith("-") else text


def _correlations(correlations: pd.DataFrame, labels: Labels) -> str:
    """Spearman's ρ averaged over the retrievers, with the number of groups."""
    rows = correlations[correlations["retriever"] == "mean"]
    places = rows.set_index([*CELL, "outcome", "factor"]).to_dict("index")
    columns = [
        (outcome, factor) for outcome in ("ac_rag", "delta") for factor in ("utility", "exposure", "attribution")
    ]
    lines = []
    for topic, task, llm, category in _keys([labels[kind] for kind in ("topics", "tasks", "llms", "categories")]):
        found = [places.get((topic, task, llm, category, *column)) for column in columns]
        n = max((row["n"] for row in found if row is not None), default=0)
        names = [
            labels["topics"][topic],
            labels["tasks"][task],
            labels["llms"][llm],
            labels["categories"][category]["short"],
        ]
        lines.append([*map(latex, names), str(n), *(_cell(row, 2) for row in found)])
    heads = [["", "", "", "", "", "\\multicolumn{3}{c}{with $AC^{rag}$}", "\\multicolumn{3}{c}{with $\\Delta$}"]]
    heads.append(["Topic", "Task", "LLM", "Category", "$n$", *["U", "E", "A"] * 2])
    return _table(heads, lines, "llllrrrrrrr", "Spearman's $\\rho$ over $n$ groups, averaged over the retrievers.")


def _table(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], form: str, caption: str) -> str:
    """A table environment; an empty row is a rule."""
    cells = {cell for row in rows for cell in row}
    note = [caption]
    note += ["In brackets: 95\\,\\% intervals."] if any("[" in cell for cell in cells) else []
    note += [f"{DASH}: undefined."] if DASH in cells else []
    note += ["$^{*}$: more than chance at 5\\,\\%, corrected."] if any("^{*}" in cell for cell in cells) else []
    lines = ["\\midrule" if not row else " & ".join(row) + r" \\" for row in rows]
    head = [" & ".join(row) + r" \\" for row in heads]
    return "\n".join(
        ["% Needs \\usepackage{booktabs}.", "\\begin{table*}", "\\centering\\small", f"\\caption{{{' '.join(note)}}}"]
        + [f"\\begin{{tabular}}{{{form}}}", "\\toprule", *head, "\\midrule", *lines, "\\bottomrule"]
        + ["\\end{tabular}", "\\end{table*}", ""]
    )  # fmt: skip
