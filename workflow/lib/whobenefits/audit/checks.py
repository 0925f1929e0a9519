"""Kinds of statement about results that can be checked, each as what a claims file gives for it.

They are evaluated on facts: a table with the columns of COORDINATES and `value`, in points for accuracies and ranges.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from whobenefits.audit.inputs import LLM_ONLY

COORDINATES = ("measure", "task", "topic", "llm", "category", "retriever", "factor", "outcome")
Coordinate = Literal[*COORDINATES]
Place = dict[Coordinate, str | list[str]]
ZERO = 1e-9


class Verdict(NamedTuple):
    """Whether a statement holds (None: it cannot be checked) and what was found in its place."""

    holds: bool | None
    found: str


NOTHING = Verdict(None, "no such results")


def selected(facts: pd.DataFrame, place: Mapping[str, Any]) -> pd.DataFrame:
    """The facts whose coordinates are those of the place, each one name or a list of names."""
    for column, wanted in place.items():
        facts = facts[facts[column].isin([wanted] if isinstance(wanted, str) else wanted)]
    return facts


def lies_in(row: Mapping[str, Any], place: Mapping[str, Any]) -> bool:
    """Whether a row's coordinates are those of the place."""
    return all(row[name] in ([wanted] if isinstance(wanted, str) else wanted) for name, wanted in place.items())


def shown_place(row: Mapping[str, Any]) -> str:
    """The coordinates of a row as people read them; what is not given is left out."""
    return ", ".join(str(row[name]) for name in COORDINATES[1:] if row.get(name))


def prints_as(value: float, printed: float) -> bool:
    """Whether a number rounds to a printed one, which has one decimal."""
    return abs(value - printed) <= 0.05 + ZERO


def enough(count: int, total: int, share: str) -> bool:
    """Whether a count is the share of a total: "some" at least one, "most" more than half, "all" each."""
    return {"some": count > 0, "most": 2 * count > total, "all": count == total}[share]


class _Check(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    among: Place = {}

    def verdict(self, facts: pd.DataFrame) -> Verdict:
        """Whether it holds for the facts, and what they are."""
        kept = selected(facts, self.among).dropna(subset="value")
        return NOTHING if kept.empty else self._verdict(kept)


class Extreme(_Check):
    """The largest or smallest value among some is `value` (if given) and lies `at` a place."""

    kind: Literal["extreme"]
    which: Literal["largest", "smallest"]
    value: float | None = None
    at: Place = {}

    def rule(self) -> str:
        """The check in words."""
        value = "" if self.value is None else f" is {self.value:g} and"
        return f"the {self.which} value{value} lies at {_listed(self.at)}"

    def _verdict(self, kept: pd.DataFrame) -> Verdict:
        position = kept["value"].argmax() if self.which == "largest" else kept["value"].argmin()
        row = kept.iloc[position].to_dict()
        right = self.value is None or prints_as(row["value"], self.value)
        return Verdict(right and lies_in(row, self.at), f"{row['value']:.1f} at {shown_place(row)}")


class Number(_Check):
    """Each value at a place prints as a number."""

    kind: Literal["number"]
    value: float

    def rule(self) -> str:
        """The check in words."""
        return f"the value prints as {self.value:g}"

    def _verdict(self, kept: pd.DataFrame) -> Verdict:
        shown = ", ".join(f"{value:.1f}" for value in kept["value"])
        return Verdict(all(prints_as(value, self.value) for value in kept["value"]), shown)


class Compare(_Check):
    """Of cells that differ in one coordinate alone, those at `more` have the larger value, in most or all pairs.

    `unless`: the pairs that are exceptions, exactly. A measure of the LLM alone is paired with each retriever.
    """

    kind: Literal["compare"]
    dimension: Coordinate
    more: str
    less: str
    share: Literal["most", "all"] = "all"
    unless: list[Place] | None = None

    def rule(self) -> str:
        """The check in words."""
        exceptions = f", except at {'; '.join(map(_listed, self.unless))} alone" if self.unless is not None else ""
        return f"{self.more} > {self.less} in {self.share} pairs{exceptions}"

    def _verdict(self, kept: pd.DataFrame) -> Verdict:
        pairs = _paired(kept, self.dimension, self.more, self.less)
        if pairs.empty:
            return NOTHING
        wins = pairs["value"] > pairs["value_less"]
        lost = pairs[~wins].to_dict("records")
        found = f"{int(wins.sum())} of {len(pairs)}"
        if self.unless is None:
            return Verdict(enough(int(wins.sum()), len(pairs), self.share), found)
        known = all(any(lies_in(row, place) for place in self.unless) for row in lost)
        # each named exception is one in every pair that it covers
        whole = all(not lies_in(row, place) for row in pairs[wins].to_dict("records") for place in self.unless)
        return Verdict(
            known and whole, f"{found}; not at {_some([shown_place({**row, self.dimension: ''}) for row in lost])}"
        )


def _paired(kept: pd.DataFrame, dimension: str, more: str, less: str) -> pd.DataFrame:
    sides = [kept[kept[dimension] == name] for name in (more, less)]
    keys = [name for name in COORDINATES if name != dimension]
    if dimension == "measure" and any((side["retriever"] == LLM_ONLY).all() for side in sides):
        keys.remove("retriever")
    left, right = sides
    return left.merge(right[[*keys, "value"]], on=keys, suffixes=("", "_less"))


class Leads(_Check):
    """Which part has the largest or smallest mean (or maximum, or minimum) of its values: one of `at`.

    The parts are the values of the coordinates `parts`; it is asked anew for each combination of the coordinates
    `each`, and must be so in most or all of these. Without `at`: not the same part leads everywhere.
    """

    kind: Literal["leads"]
    parts: list[Coordinate]
    at: list[Place] | None
    which: Literal["largest", "smallest"]
    statistic: Literal["mean", "max", "min"] = "mean"
    each: list[Coordinate] = []
    share: Literal["most", "all"] = "all"

    def rule(self) -> str:
        """The check in words."""
        who = "not always the same has" if self.at is None else f"{' or '.join(map(_listed, self.at))} has"
        where = f" in {self.share} cases, one for each {' and '.join(self.each)}" if self.each else ""
        return f"of all by {' and '.join(self.parts)}, {who} the {self.which} {self.statistic}{where}"

    def _verdict(self, kept: pd.DataFrame) -> Verdict:
        groups = kept.groupby(self.each, sort=False) if self.each else [((), kept)]
        leaders = {place: self._leader(part) for place, part in groups}
        if self.at is None:
            return Verdict(len(set(map(shown_place, leaders.values()))) > 1, _some(_named(leaders)))
        right = [place for place, row in leaders.items() if any(lies_in(row, at) for at in self.at)]
        others = {place: row for place, row in leaders.items() if place not in right}
        found = f"{len(right)} of {len(leaders)}" if self.each else shown_place(leaders[()])
        rest = f"; else {_some(_named(others))}" if others and self.each else ""
        return Verdict(enough(len(right), len(leaders), self.share), found + rest)

    def _leader(self, part: pd.DataFrame) -> dict[str, str]:
        values = part.groupby(self.parts, sort=False)["value"].agg(self.statistic)
        best = values.idxmax() if self.which == "largest" else values.idxmin()
        return dict(zip(self.parts, best if isinstance(best, tuple) else (best,), strict=True))


def _named(leaders: Mapping[tuple, Mapping[str, str]]) -> list[str]:
    return [f"{', '.join(place)}: {shown_place(row)}".lstrip(": ") for place, row in leaders.items()]


class Bound(_Check):
    """Some, most or all values lie above or below a bound."""

    kind: Literal["bound"]
    share: Literal["some", "most", "all"]
    above: float | None = None
    below: float | None = None

    def rule(self) -> str:
        """The check in words."""
        bounds = [
            f"{name} {value:g}" for name, value in (("above", self.above), ("below", self.below)) if value is not None
        ]
        return f"{self.share} values lie {' and '.join(bounds)}"

    def _verdict(self, kept: pd.DataFrame) -> Verdict:
        values = kept["value"]
        inside = values.notna()
        if self.above is not None:
            inside &= values > self.above
        if self.below is not None:
            inside &= values < self.below
        found = f"{int(inside.sum())} of {len(values)}; values from {values.min():.2f} to {values.max():.2f}"
        return Verdict(enough(int(inside.sum()), len(values), self.share), found)


class Signs(_Check):
    """The correlations of one outcome with all factors are all positive, all negative, or alike in sign.

    In some, most or all cells; `unless`: the cells that are exceptions, exactly.
    """

    kind: Literal["signs"]
    sign: Literal["positive", "negative", "alike"]
    share: Literal["some", "most", "all"] = "all"
    unless: list[Place] | None = None

    def rule(self) -> str:
        """The check in words."""
        exceptions = f", except at {'; '.join(map(_listed, self.unless))} alone" if self.unless is not None else ""
        words = "have the same sign" if self.sign == "alike" else f"are {self.sign}"
        return f"ρ with all factors {words} in {self.share} cells{exceptions}"

    def _verdict(self, kept: pd.DataFrame) -> Verdict:
        keys = [name for name in COORDINATES if name != "factor"]
        found = [
            (dict(zip(keys, place, strict=True)), self._fits(part)) for place, part in kept.groupby(keys, sort=False)
        ]
        count = sum(fits for _, fits in found)
        others = [row for row, fits in found if not fits]
        text = f"{count} of {len(found)}" + (f"; not {_some([shown_place(row) for row in others])}" if others else "")
        if self.unless is None:
            return Verdict(enough(count, len(found), self.share), text)
        known = all(any(lies_in(row, place) for place in self.unless) for row in others)
        whole = all(any(lies_in(row, place) for row in others) for place in self.unless)
        return Verdict(known and whole, text)

    def _fits(self, part: pd.DataFrame) -> bool:
        values = part["value"]
        positive, negative = bool((values > ZERO).all()), bool((values < -ZERO).all())
        return {"positive": positive, "negative": negative, "alike": positive or negative}[self.sign]


Check = Annotated[Extreme | Number | Compare | Leads | Bound | Signs, Field(discriminator="kind")]


def _listed(place: Mapping[str, Any]) -> str:
    names = [value if isinstance(value, str) else " or ".join(value) for value in place.values()]
    return ", ".join(names) or "any place"


def _some(names: list[str], most: int = 4) -> str:
    shown = "; ".join(names[:most]) or "any"
    return f"{shown}; and {len(names) - most} more" if len(names) > most else shown


def both(verdicts: list[Verdict]) -> Verdict:
    """All of several verdicts together: one that fails decides, then one that cannot be checked."""
    found = " | ".join(verdict.found for verdict in verdicts)
    states = [verdict.holds for verdict in verdicts]
    return Verdict(False if False in states else None if None in states else True, found)
