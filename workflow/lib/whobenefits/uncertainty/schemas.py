"""The tables of uncertainty."""

from whobenefits.tables import Table

_POINT = {"topic": "str", "task": "str", "llm": "str"}
_CELL = {"topic": "str", "task": "str", "retriever": "str", "llm": "str"}
_ENDS = {"low": "float?", "high": "float?"}

INTERVALS = Table(
    "intervals",
    _CELL | {"category": "str", "group": "str", "measure": "str"} | _ENDS | {"interval_reason": "str"},
    (*_CELL, "category", "group", "measure"),
)
RANGE_TESTS = Table(
    "range_tests",
    _CELL
    | {"category": "str", "measure": "str"}
    | _ENDS
    | {"interval_reason": "str", "expected": "float?", "p": "float?", "p_reason": "str"}
    | {"detectable": "float?", "power_reason": "str"}
    | {
        "change": "float?",
        "change_low": "float?",
        "change_high": "float?",
        "change_p": "float?",
        "change_reason": "str",
    },
    (*_CELL, "category", "measure"),
)
CORRELATION_TESTS = Table(
    "correlation_tests",
    _CELL
    | {"category": "str", "factor": "str", "outcome": "str"}
    | _ENDS
    | {"defined": "float", "p": "float?", "smallest_p": "float?", "uncertainty_reason": "str"},
    (*_CELL, "category", "factor", "outcome"),
)
UNEVENNESS = Table(
    "unevenness",
    _CELL
    | {"category": "str", "measure": "str", "statistic": "str", "value": "float?", "group": "str?"}
    | {"n": "int", "reason": "str", "expected": "float?", "p": "float?", "p_reason": "str"},
    (*_CELL, "category", "measure", "statistic"),
)
QUERY_CORRELATIONS = Table(
    "query_correlations",
    _CELL
    | {"category": "str", "group": "str", "factor": "str", "outcome": "str", "value": "float?"}
    | _ENDS
    | {"p": "float?", "n": "int", "reason": "str"},
    (*_CELL, "category", "group", "factor", "outcome"),
)
QUERY_REGRESSIONS = Table(
    "query_regressions",
    _POINT
    | {"category": "str", "factor": "str", "outcome": "str", "model": "str", "value": "float?"}
    | _ENDS
    | {"p": "float?", "n": "int", "n_queries": "int", "reason": "str"},
    (*_POINT, "category", "factor", "outcome", "model"),
)


def with_adjusted_columns(table: Table, prefix: str = "") -> Table:
    """The table of the whole grid: with each p, in the column `{prefix}p`, adjusted for its family of tests."""
    adjusted = {f"{prefix}p_holm": "float?", f"{prefix}p_bh": "float?", f"{prefix}n_tests": "int"}
    return Table(table.name, table.columns | adjusted, table.key)
