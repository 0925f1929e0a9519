"""A mean with what stands beside it: how much it is a mean of, and why it is undefined."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

NO_QUERY = "no query in this group"
UNDEFINED = "a score is undefined"
ALL_ZERO = "all zero"


@dataclass(frozen=True)
class Value:
    """One number of the table of measures; `reason` is empty unless the value is NaN."""

    value: float
    n: int
    reason: str = ""


def mean(values: Iterable[float]) -> Value:
    """The mean of one value for each query: NaN without a query, and where any value is NaN."""
    values = list(values)
    if not values:
        return Value(math.nan, 0, NO_QUERY)
    return defined(exact_sum(values) / len(values), len(values))


def defined(value: float, n: int) -> Value:
    """The value with its n; NaN is said to come from an undefined score."""
    return Value(value, n, UNDEFINED if math.isnan(value) else "")


def exact_sum(values: Iterable[float]) -> float:
    """The sum, rounded once, so that the order of the rows does not show in the last digit."""
    return math.fsum(values)
