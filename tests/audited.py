"""A small folder of per-group results for tests of the audit, in the form of tests/reference/query_group_fairness."""

import csv
from pathlib import Path

REFERENCE = Path(__file__).parent / "reference/query_group_fairness"
CELL = {"task": "title", "topic": "lakes", "llm": "m"}
LETTERS = ("a-d", "e-k", "l-r", "s-")
AGES = ("Unknown", "Pre-1900s", "20th century", "21st century")
GROUPS = {"first_letter_category": LETTERS, "years_category": AGES}
SIZES = {"first_letter_category": (1, 2, 3, 4), "years_category": (4, 3, 2, 1)}
# Accuracies by (field, retriever); "" is the LLM alone.
VALUES = {
    ("first_letter_category", ""): (0.1, 0.2, 0.3, 0.4),
    ("first_letter_category", "r1"): (0.5, 0.2, 0.4, 0.3),
    ("first_letter_category", "r2"): (0.1, 0.6, 0.2, 0.3),
    ("years_category", ""): (0.3, 0.3, 0.3, 0.3),
    ("years_category", "r1"): (0.31, 0.32, 0.34, 0.38),
    ("years_category", "r2"): (0.2, 0.4, 0.3, 0.25),
}
SHARES = {
    "prob_utility": (0.1, 0.2, 0.3, 0.4),
    "prob_exposure": (0.4, 0.3, 0.2, 0.1),
    "prob_consumption": (0.3, 0.3, 0.2, 0.2),
}


def accuracy_rows():
    """One row for each field, retriever and group."""
    rows = []
    for (field, retriever), values in VALUES.items():
        place = CELL | {"retriever": retriever or "r1", "setting": "rag" if retriever else "llm", "field": field}
        rows += [place | {"group": group, "value": value} for group, value in zip(GROUPS[field], values, strict=True)]
    return rows


def factor_rows():
    """The same shares for each field and retriever."""
    return [
        CELL
        | {"retriever": retriever, "field": field, "group": group}
        | {name: shares[i] for name, shares in SHARES.items()}
        for field, groups in GROUPS.items()
        for retriever in ("r1", "r2")
        for i, group in enumerate(groups)
    ]


def size_rows():
    """Ten queries in each field."""
    return [
        {"topic": "lakes", "field": field, "group": group, "n": n}
        for field, groups in GROUPS.items()
        for group, n in zip(groups, SIZES[field], strict=True)
    ]


def write_csv(path, rows):
    """Write rows with the keys of the first one as columns."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_folder(folder, **changed):
    """Write the files into the folder; a keyword such as `group_accuracy` gives other rows, None leaves it out."""
    files = {"group_accuracy": accuracy_rows(), "group_factors": factor_rows(), "group_sizes": size_rows()} | changed
    for name, rows in files.items():
        if rows is not None:
            write_csv(Path(folder) / f"{name}.csv", rows)
    return Path(folder)
