"""Two runs beside each other: every number that both have, how far it moved, and whether that is beyond its uncertainty."""

import pandas as pd

from whobenefits.report.inputs import Results

PLACE = ["topic", "task", "llm", "retriever", "category", "group", "what"]
ENDS = ["value", "low", "high"]
ACCURACIES = ("ac_llm", "ac_rag", "delta")
SHARES = ("utility", "exposure", "attribution")
BEYOND, WITHIN, ONE_SIDED = "beyond both intervals", "within an interval", "beyond the one interval"
NO_INTERVAL, UNDEFINED = "no interval", "undefined"
KINDS = ("accuracy", "share", "range", "correlation")


def numbers(results: Results) -> pd.DataFrame:
    """All numbers of a run in one form: `kind`, the place (`PLACE`), value, low, high.

    Accuracies and ranges in points, shares in percent, correlations as they are. `what` is the measure, or for a
    correlation "FACTOR with OUTCOME"; `group` is "" for what is over groups.
    """
    measures = results.measures
    parts = [
        _part(measures[measures["measure"].isin(ACCURACIES)], "accuracy", 100, measures["measure"]),
        _part(measures[measures["measure"].isin(SHARES)], "share", 100, measures["measure"]),
        _part(results.ranges.assign(group=""), "range", 1, results.ranges["measure"]),
    ]
    rho = results.correlations
    parts.append(_part(rho.assign(group=""), "correlation", 1, rho["factor"] + " with " + rho["outcome"]))
    return pd.concat(parts, ignore_index=True)


def _part(rows: pd.DataFrame, kind: str, factor: float, what: pd.Series) -> pd.DataFrame:
    scaled = {name: rows[name].astype(float) * factor for name in ENDS}
    return rows.assign(kind=kind, what=what.reindex(rows.index), **scaled)[["kind", *PLACE, *ENDS]]


def comparison(a: Results, b: Results) -> tuple[pd.DataFrame, dict[str, int]]:
    """Every number that both runs have, and how many only one of them has (`only_a`, `only_b`).

    Columns: kind and place; `a`, `a_low`, `a_high` and the same of b; `change`, b - a; and `standing`: "beyond both
    intervals" where each value lies outside the other's 95 % interval, "beyond the one interval" where only one side
    has an interval and the other's value lies outside it, "within an interval" else; or what is missing for that.
    Runs over the same queries share their luck in drawing them, so that "within" says less than it seems.
    """
    both = numbers(a).merge(numbers(b), on=["kind", *PLACE], how="outer", suffixes=("_a", "_b"), indicator=True)
    only = {"only_a": int((both["_merge"] == "left_only").sum()), "only_b": int((both["_merge"] == "right_only").sum())}
    kept = both[both["_merge"] == "both"].drop(columns="_merge").reset_index(drop=True)
    names = {f"{end}_{side}": side if end == "value" else f"{side}_{end}" for end in ENDS for side in "ab"}
    kept = kept.rename(columns=names)
    kept = kept.assign(change=kept["b"] - kept["a"])
    return kept.assign(standing=standings(kept)), only


def standings(rows: pd.DataFrame) -> pd.Series:
    """For each row the word that says whether its change is beyond the uncertainty."""
    a_out, b_out = _outside(rows, "a", "b"), _outside(rows, "b", "a")
    known = [_known(rows, side) for side in "ab"]
    words = pd.Series(NO_INTERVAL, rows.index)
    words[known[0] | known[1]] = WITHIN
    words[(known[0] & ~known[1] & b_out) | (known[1] & ~known[0] & a_out)] = ONE_SIDED
    words[known[0] & known[1] & a_out & b_out] = BEYOND
    words[rows["change"].isna()] = UNDEFINED
    return words


def _known(rows: pd.DataFrame, side: str) -> pd.Series:
    return rows[f"{side}_low"].notna() & rows[f"{side}_high"].notna()


def _outside(rows: pd.DataFrame, value: str, interval: str) -> pd.Series:
    return (rows[value] < rows[f"{interval}_low"]) | (rows[value] > rows[f"{interval}_high"])


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Per kind and `what`: how many numbers, defined in both, median and largest |change|, and how many are beyond."""
    made = []
    for (kind, what), part in rows.groupby(["kind", "what"], sort=False):
        changes = part["change"].abs().dropna()
        made.append({
            "kind": kind,
            "what": what,
            "numbers": len(part),
            "defined": len(changes),
            "median": changes.median() if len(changes) else float("nan"),
            "largest": changes.max() if len(changes) else float("nan"),
            "beyond": int(part["standing"].isin([BEYOND, ONE_SIDED]).sum()),
            "with_interval": int(part["standing"].isin([BEYOND, ONE_SIDED, WITHIN]).sum()),
        })  # fmt: skip
    return pd.DataFrame(made)


def sentences(rows: pd.DataFrame, only: dict[str, int]) -> list[str]:
    """What moved, in sentences."""
    told = []
    for kind, unit in (("accuracy", " points"), ("range", " points"), ("correlation", "")):
        part = rows[rows["kind"] == kind].dropna(subset="change")
        if part.empty:
            continue
        with_interval = part[part["standing"].isin([BEYOND, ONE_SIDED, WITHIN])]
        beyond = int(with_interval["standing"].isin([BEYOND, ONE_SIDED]).sum())
        digits = 2 if kind == "correlation" else 1
        told.append(
            f"{kind.capitalize()}: of {len(part)} numbers that both have, the median moved by "
            f"{part['change'].abs().median():.{digits}f}{unit}, the largest by {part['change'].abs().max():.{digits}f}; "
            + (
                f"{beyond} of {len(with_interval)} moved beyond the intervals."
                if len(with_interval)
                else "there are no intervals."
            )
        )
    told.append(f"{only['only_a']} numbers are in the first run only, {only['only_b']} in the second only.")
    return told
