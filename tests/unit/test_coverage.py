"""Simulated studies with known truth: do 95 of 100 intervals hold it?

Each retriever of one made-up cell is a study of its own, so that one resample of the queries serves many studies.
"""

import numpy as np
import pytest
from uncertain import arrays

from whobenefits.uncertainty.bootstrap import resamples
from whobenefits.uncertainty.intervals import factor_rows, group_mean_rows
from whobenefits.uncertainty.ranges import range_intervals

STUDIES, DRAWS = 200, 2000


def article(source, means):
    """Scores as of articles: from 0 to 1 about their mean, skewed."""
    return source.beta(30 * means, 30 * (1 - means))


def title(source, means):
    """Scores as of titles: every second one is 0."""
    return (source.random(means.shape) < 0.5) * source.beta(8 * means, 4 * (1 - 2 * means))


def covers(rows, true, unit=1):
    """The share of the intervals of ac_rag (the first half of the rows of each measure) that hold the true value."""
    return np.mean(
        [row["low"] - 1e-9 <= value * unit <= row["high"] + 1e-9 for row, value in zip(rows, true, strict=True)]
    )


def simulated(sizes, means, draw, batches, seed):
    """The shares of studies that cover the range and the group means."""
    source, label = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    means, found = np.asarray(means), []
    for _ in range(batches):
        scores = draw(source, np.tile(means[label], (STUDIES, 1)))
        cell = arrays(np.zeros(len(label)), label, rag=scores)
        drawn = resamples(cell, DRAWS, source)
        ranges = [row for row in range_intervals(cell, drawn) if row["measure"] == "r_rag"]
        rows = [row for row in group_mean_rows(cell, drawn) if row["measure"] == "ac_rag"]
        of_range = covers(ranges, [np.ptp(means)] * STUDIES, 100)
        found.append((of_range, covers(rows, np.tile(means, STUDIES))))
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    ("sizes", "means", "draw", "most"),
    [
        ([40, 40, 40, 39], [0.2] * 4, article, 0.97),
        ([20, 60, 30, 49], [0.2] * 4, title, 0.97),
        ([6, 6, 6, 6], [0.2] * 4, article, 0.97),
        ([30, 40], [0.15, 0.3], article, 0.97),
        # Between no difference and clear ones, neither kind of miss reaches its share of the 5 %.
        ([20, 60, 30, 49], [0.15, 0.2, 0.25, 0.3], article, 0.99),
    ],
)
def test_about_95_of_100_studies_have_the_true_range_and_means_in_their_intervals(sizes, means, draw, most):
    of_range, of_means = simulated(sizes, means, draw, batches=4, seed=1)
    assert 0.93 <= of_range <= most
    assert 0.93 <= of_means <= 0.97


def factor_coverage(source, n):
    """The shares of studies of n queries that cover the means and the shares of gamma sums, shown for 7 of 10 queries."""
    true, shape = np.array([1, 2, 5]), (STUDIES, 3, n, 3)
    factors = source.gamma(true, 1, size=shape) * (source.random((*shape[:3], 1)) < 0.7)
    cell = arrays(np.zeros(n), np.arange(n) % 3, rag=source.random((STUDIES, n)), factors=factors)
    rows = factor_rows(cell, resamples(cell, DRAWS, source))
    means, shares = ([row for row in rows if row["measure"].endswith("_mean") == mean] for mean in (True, False))
    return covers(means, np.tile(true * 0.7, STUDIES * 3)), covers(shares, np.tile(true / 8, STUDIES * 3))


def test_about_95_of_100_studies_have_the_true_factor_means_and_shares_in_their_intervals():
    source = np.random.default_rng(1)
    found = np.mean([factor_coverage(source, 80) for _ in range(4)], axis=0)
    assert (found >= 0.93).all() and (found <= 0.97).all()
