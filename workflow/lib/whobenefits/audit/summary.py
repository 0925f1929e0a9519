"""The counts of an audit, and its finding in sentences."""

from collections.abc import Iterator
from math import factorial

import pandas as pd

from whobenefits.audit.audit import Audit, PrintedTable, shown_names
from whobenefits.audit.claims import VERDICTS
from whobenefits.audit.printed import ALL, AS_PRINTED
from whobenefits.audit.recomputed import outcome_counts, valued_without_query
from whobenefits.audit.stored import ALIGNED, PERMUTED, UNCHECKED, UNEXPLAINED
from whobenefits.statistics import MEAN

# A stored mean that differs by more is another number, not the same one in another order of adding.
SAME = 1e-9


def summary(found: Audit) -> pd.DataFrame:
    """Counts, one a row: `what`, `count`, `of` how many, and a `note`."""
    return pd.DataFrame(_rows(found), columns=["what", "count", "of", "note"])


def _rows(found: Audit) -> Iterator[tuple[str, int, int, str]]:
    overall = found.overall.dropna(subset="difference")
    if len(overall):
        same = int((overall["difference"].abs() <= SAME).sum())
        yield "stored overall means that are recomputed", same, len(overall), _largest(overall["difference"])
    if valued := valued_without_query(found.inputs):
        yield "accuracies of groups without a query", valued, len(found.inputs.accuracy), "they widen ranges"
    for table in found.tables.values():
        plain, best = table.plain(), table.best()
        yield f"{table.name}: cells that fit as printed", int(plain["n_fit"]), int(plain["n"]), ""
        yield f"{table.name}: cells that fit best", int(best["n_fit"]), int(best["n"]), shown_reading(table, best)
    yield from ((what, count, of, "") for what, count, of in outcome_counts(found.ranges, found.correlations))
    if found.averages is not None:
        yield from _stored_rows(found)
    if found.claims is not None:
        own = found.claims[found.claims["beside"] == ""]
        for reading, part in own.groupby("reading", sort=False):
            for verdict in VERDICTS.values():
                yield f"claims: {verdict}", int((part["verdict"] == verdict).sum()), len(part), str(reading)


def _largest(differences: pd.Series) -> str:
    return f"largest difference {differences.abs().max():.2g}"


def _stored_rows(found: Audit) -> Iterator[tuple[str, int, int, str]]:
    for status in (ALIGNED, PERMUTED, UNEXPLAINED, UNCHECKED):
        yield f"stored correlation sets: {status}", int((found.sets["status"] == status).sum()), len(found.sets), ""
    known = found.averages.dropna(subset="difference")
    yield (
        "stored averages whose sign changes",
        int(known["sign_changes"].sum()),
        len(known),
        _largest(known["difference"]),
    )


def shown_reading(table: PrintedTable, reading: pd.Series) -> str:
    """A reading in words."""
    columns = reading["columns"]
    order = "columns as printed" if columns == AS_PRINTED else f"columns {', '.join(columns)}"
    names = shown_names(table.names, reading["labels"])
    return f"{order}; {names or 'names as printed'}" if any(table.names) else order


def finding(found: Audit) -> list[str]:
    """What the audit found, in sentences; of what was not given, nothing is said."""
    sentences = [_overall_sentence(found)]
    sentences += [_table_sentence(table) for table in found.tables.values()]
    sentences += [
        _range_sentence(found),
        _empty_sentence(found),
        _stored_sentence(found),
        _perfect_sentence(found),
        _claims_sentence(found),
    ]
    return [sentence for sentence in sentences if sentence]


def _overall_sentence(found: Audit) -> str:
    both, alone = found.overall.dropna(subset="difference"), found.overall.dropna(subset="mean")
    if len(both):
        same = int((both["difference"].abs() <= SAME).sum())
        return (
            f"Overall means: {same} of {len(both)} stored means are those of the groups weighted by their sizes "
            f"({_largest(both['difference'])})."
        )
    if len(alone):
        return f"Overall means: {len(alone)} follow from the groups; none are stored."
    return "Overall means cannot be recomputed: the groups' sizes are not given."


def _table_sentence(table: PrintedTable) -> str:
    best, plain = table.best(), table.plain()
    if best["n"] == 0:
        return f"{table.name}: no printed number has a result to be compared with."
    text = f"{table.name}: {plain['n_fit']} of {plain['n']} printed numbers follow from the results as printed"
    if best["n_fit"] == plain["n_fit"]:
        return f"{text}, and no other reading fits better."
    others = table.readings[table.readings["scope"] == ALL]
    # a second reading of the same cells, as under headers that say the same, is no rival
    rival = others[others["n_fit"] < best["n_fit"]]["n_fit"].max()
    return (
        f"{text}; {best['n_fit']} do when read with {shown_reading(table, best)} (the next best of {len(others)} "
        f"readings fits {rival}). {_misfits(table)}"
    )


def _misfits(table: PrintedTable) -> str:
    wrong = table.cells[~table.cells["fits_best"] & table.cells["under_best"].notna()]
    if wrong.empty:
        return "Every cell then fits."
    shown = [
        f"{', '.join(name for name in (row.topic, row.task, row.category, row.llm, row.read_as_column) if name)} "
        f"(printed {row.printed:.{row.decimals}f}, result {row.under_best:.2f})"
        for row in wrong.head(5).itertuples()
    ]
    return f"Not explained: {'; '.join(shown)}{' and others' if len(wrong) > 5 else ''}."


def _range_sentence(found: Audit) -> str:
    (_, wider, of), *by_task = (row for row in outcome_counts(found.ranges, None))
    parts = ", ".join(f"{count} of {total} for {what.partition(', ')[2]}" for what, count, total in by_task)
    return f"The range over the groups is wider with RAG than without in {wider} of {of} cells ({parts})." if of else ""


def _empty_sentence(found: Audit) -> str:
    count = valued_without_query(found.inputs)
    return f"{count} accuracies are given for groups without a query; the ranges take them as given." if count else ""


def _stored_sentence(found: Audit) -> str:
    if found.averages is None:
        return ""
    counts = found.sets["status"].value_counts()
    known = found.averages.dropna(subset="difference")
    unchecked = f", {counts[UNCHECKED]} could not be checked" if UNCHECKED in counts else ""
    return (
        f"Stored correlations: {counts.get(ALIGNED, 0)} of {len(found.sets)} sets are those joined on the group's "
        f"label; {counts.get(PERMUTED, 0)} come out only when the accuracies with RAG are put into another order than "
        f"everything else; {counts.get(UNEXPLAINED, 0)} are not explained{unchecked}. Joined on the label, "
        f"{int(known['sign_changes'].sum())} of {len(known)} averages have the other sign "
        f"({_largest(known['difference'])})."
    )


def _perfect_sentence(found: Audit) -> str:
    """|ρ| = 1 beside what chance gives: 2 of the n! orders of n groups without ties have it."""
    if found.correlations is None:
        return ""
    _, count, of = outcome_counts(found.ranges, found.correlations)[-1]
    chance = f"{perfect_by_chance(found.correlations):.0f} would be in random orders"
    return f"{count} of {of} correlations of single retrievers are 1 or -1; {chance}." if of else ""


def perfect_by_chance(correlations: pd.DataFrame) -> float:
    """How many |ρ| of single retrievers would be 1 if each order of the groups were as likely: Σ 2 / n!."""
    single = correlations[(correlations["retriever"] != MEAN) & correlations["value"].notna()]
    return sum(2 / factorial(n) for n in single["n"])


def _claims_sentence(found: Audit) -> str:
    if found.claims is None:
        return ""
    own = found.claims[found.claims["beside"] == ""]
    parts = [f"{_verdicts(part['verdict'])} ({reading})" for reading, part in own.groupby("reading", sort=False)]
    return f"Of {own['id'].nunique()} claims of the text, so many hold: {'; '.join(parts)}."


def _verdicts(verdicts: pd.Series) -> str:
    unchecked = int((verdicts == VERDICTS[None]).sum())
    return f"{int((verdicts == VERDICTS[True]).sum())}{f', {unchecked} not checked' if unchecked else ''}"
