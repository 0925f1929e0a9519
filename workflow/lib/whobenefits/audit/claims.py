"""Claims of a text about its results, as data, and which of them hold under which reading of the results."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from whobenefits.audit.checks import COORDINATES, Check, Coordinate, Verdict, both, selected
from whobenefits.audit.inputs import LLM_ONLY
from whobenefits.errors import DataError

VERDICTS = {True: "holds", False: "fails", None: "not checked"}
COLUMNS = ("id", "beside", "location", "says", "checked_as", "reading", "verdict", "found")
RANGES = ("r_llm", "r_rag", "r_delta")


class Claim(BaseModel):
    """One claim: where it stands, what it says, and the checks that must all hold.

    `beside`: the id of a claim of the text that this one, not itself in the text, is asked beside.
    `panel`: the claim speaks of one panel of a figure and does not say which; it holds if all its checks hold for one
    combination of these coordinates.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: str = Field(min_length=1)
    location: str = Field(min_length=1)
    says: str = Field(min_length=1)
    checks: list[Check] = Field(min_length=1)
    panel: list[Coordinate] = []
    beside: str = ""

    def rule(self) -> str:
        """What is checked, in words."""
        parts = [f"{_among(check)}{check.rule()}" for check in self.checks]
        start = f"in one panel of {' × '.join(self.panel)}: " if self.panel else ""
        return start + "; and ".join(parts)

    def verdict(self, facts: pd.DataFrame) -> Verdict:
        """Whether all checks hold on the facts, and what was found."""
        if not self.panel:
            return both([check.verdict(facts) for check in self.checks])
        names = self._panels(facts)
        verdicts = {
            name: both(
                [check.verdict(selected(facts, dict(zip(self.panel, name, strict=True)))) for check in self.checks]
            )
            for name in names
        }
        right = [", ".join(name) for name, verdict in verdicts.items() if verdict.holds]
        if not right and all(verdict.holds is None for verdict in verdicts.values()):
            return Verdict(None, "no such results")
        return Verdict(bool(right), f"in {'; '.join(right) or 'no panel'} of {len(names)}")

    def _panels(self, facts: pd.DataFrame) -> list[tuple[str, ...]]:
        known = facts[(facts[self.panel] != "").all(axis=1)]
        return list(known[self.panel].drop_duplicates().itertuples(index=False, name=None))


def _among(check: Check) -> str:
    names = [value if isinstance(value, str) else " or ".join(value) for value in check.among.values()]
    return f"{', '.join(names)}: " if names else ""


@dataclass(frozen=True)
class Reading:
    """How results are named when a claim is checked: the field of each category name, and which ρ are taken.

    `rho`: "stored", as somebody wrote them down, or "aligned", joined on the group's label.
    """

    name: str
    fields: Mapping[str, str]
    rho: str


def read_claims(path: str | Path) -> list[Claim]:
    """The claims in a JSON file; a DataError names the file, the claim and its fault."""
    try:
        raw = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: is not JSON ({error}): correct it") from error
    try:
        claims = TypeAdapter(list[Claim]).validate_python(raw)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "the whole file"
        raise DataError(f"{path}: {_name(raw, fault['loc'])}{place}: {fault['msg']}: correct it") from None
    names = [claim.id for claim in claims]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: the id {name!r} stands twice: give each claim an id of its own")
    return claims


def _name(raw: object, place: Sequence[object]) -> str:
    """Which claim a fault lies in, where it has an id."""
    item = raw[place[0]] if place and isinstance(raw, list) and isinstance(place[0], int) else None
    return f"claim {item['id']!r}: " if isinstance(item, dict) and "id" in item else ""


def facts_of(
    reading: Reading,
    accuracy: Mapping[tuple, float],
    ranges: pd.DataFrame,
    averages: pd.DataFrame | None,
    queries: Mapping[str, int],
) -> pd.DataFrame:
    """The results that claims speak of, named as a reading has it.

    Measures: ac_llm (under the retriever "none") and ac_rag, over all queries, and r_llm, r_rag and r_delta, in points;
    `rho`, averaged over the retrievers; `queries`, the number of a topic's queries. Coordinates that a measure does not
    have are "". `accuracy` is by (topic, task, llm, "", retriever), `averages` has a column for each kind of ρ, and
    `queries` is by topic.
    """
    names = {field: name for name, field in reading.fields.items()}
    rows = [_accuracy(*place[:3], place[4], value) for place, value in accuracy.items()]
    rows += [{"measure": "queries", "topic": topic, "value": n} for topic, n in queries.items()]
    parts = [pd.DataFrame(rows), ranges[ranges["measure"].isin(RANGES)].rename(columns={"category": "field"})]
    if averages is not None and reading.rho in averages:
        parts.append(averages.rename(columns={reading.rho: "value"}).assign(measure="rho"))
    facts = pd.concat([part.reindex(columns=[*COORDINATES, "field", "value"]) for part in parts], ignore_index=True)
    named = facts["field"].map(lambda field: names.get(field, ""), na_action="ignore")
    facts = facts.assign(category=named)[[*COORDINATES, "value"]]
    return facts.fillna(dict.fromkeys(COORDINATES, ""))


def _accuracy(topic: str, task: str, llm: str, retriever: str, value: float) -> dict:
    measure = "ac_llm" if retriever == LLM_ONLY else "ac_rag"
    return {"measure": measure, "topic": topic, "task": task, "llm": llm, "retriever": retriever, "value": value}


def checked_claims(claims: Sequence[Claim], facts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A row for each claim and reading (by its name): `verdict` is "holds", "fails" or "not checked", with `found`."""
    return pd.DataFrame(_rows(claims, facts), columns=list(COLUMNS))


def _rows(claims: Sequence[Claim], facts: Mapping[str, pd.DataFrame]) -> Iterator[dict]:
    for claim in claims:
        for name, table in facts.items():
            verdict = claim.verdict(table)
            yield {
                "id": claim.id,
                "beside": claim.beside,
                "location": claim.location,
                "says": claim.says,
                "checked_as": claim.rule(),
                "reading": name,
                "verdict": VERDICTS[verdict.holds],
                "found": verdict.found,
            }
