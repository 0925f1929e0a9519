"""What an audit reads: per-group results, and what was stored and printed of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from whobenefits.audit import files
from whobenefits.audit.reading import Sheet, check_groups, check_whole, read_sheet
from whobenefits.errors import DataError
from whobenefits.measures.factors import FACTORS
from whobenefits.statistics import MEAN

POINT = ["task", "topic", "llm", "field"]
LLM_ONLY = "none"
RESERVED = (LLM_ONLY, MEAN, "")
# How the files name the shares of the three factors; "consumption" is attribution.
SHARES = {"prob_utility": "utility", "prob_exposure": "exposure", "prob_consumption": "attribution"}
STORED = {"authors_file_rho_acrag": "ac_rag", "authors_file_rho_delta": "delta"}
Fields = Mapping[str, Mapping]


@dataclass(frozen=True)
class Inputs:
    """The checked contents of a folder; what is absent is None, except `sizes`, which is then empty.

    `accuracy`: task, topic, llm, field, group, retriever ("none" for the LLM alone), value in [0, 1] or NaN.
    `factors`: task, topic, llm, field, group, retriever, utility, exposure, attribution (shares in [0, 1] or NaN).
    `sizes`: number of queries by (topic, field, group). `overall`: task, topic, llm, retriever, value.
    `stored`: task, topic, llm, field, factor, outcome, value: correlations averaged over the retrievers.
    `table3`, `table4`: topic, task, llm, position (from 1), column (a retriever or "none"), value, and category.
    """

    fields: Fields
    accuracy: pd.DataFrame
    factors: pd.DataFrame | None
    sizes: Mapping[tuple[str, str, str], int]
    overall: pd.DataFrame | None
    stored: pd.DataFrame | None
    table3: pd.DataFrame | None
    table4: pd.DataFrame | None


def read_inputs(folder: str | Path, fields: Fields) -> Inputs:
    """The results in the folder, in the form of tests/reference; raises DataError with file, row and remedy.

    `fields` are the known fields with their groups (files.known_fields); kept are those that the results name.
    """
    folder = Path(folder)
    accuracy = read_accuracy(folder / files.ACCURACY, fields)
    named = set(accuracy["field"])
    used = {name: item for name, item in fields.items() if name in named}
    _check_shorts(folder / files.ACCURACY, used)

    def read(name: str, reader, *more) -> pd.DataFrame | None:
        return reader(folder / name, accuracy, used, *more) if (folder / name).is_file() else None

    return Inputs(
        fields=used,
        accuracy=accuracy,
        factors=read(files.FACTORS, read_factors),
        sizes=read_sizes(folder, set(accuracy["topic"]), used),
        overall=read(files.OVERALL, read_overall),
        stored=read(files.STORED, read_stored),
        table3=read(files.TABLE3, read_printed, False),
        table4=read(files.TABLE4, read_printed, True),
    )


def _check_shorts(path: Path, fields: Fields) -> None:
    """Printed tables name categories by their short names, so two fields cannot share one."""
    owners: dict[str, str] = {}
    for name, item in fields.items():
        other = owners.setdefault(item["short"], name)
        if other != name:
            raise DataError(f"{path}: the fields {other} and {name} are both called {item['short']}: keep one of them")


def read_accuracy(path: Path, fields: Fields) -> pd.DataFrame:
    """Mean accuracies of the groups. Rows of the LLM alone may stand under any retriever and hold for all."""
    sheet = read_sheet(path, ["task", "topic", "retriever", "llm", "setting", "field", "group", "value"])
    sheet.known("setting", ["llm", "rag"], "setting")
    alone = sheet.rows["setting"] == "llm"
    for at in sheet.rows.index[~alone & sheet.rows["retriever"].isin(RESERVED)]:
        raise sheet.fault(at, "retriever", "this name is not free, call the retriever something else")
    check_groups(sheet, fields)
    keys = [*POINT, "group", "setting", "retriever"]
    sheet.once(keys)
    values = sheet.numbers("value", 0, 1, "a mean accuracy lies in [0, 1]; divide percentages by 100", empty=True)
    check_whole(sheet, [*POINT, "setting", "retriever"], fields)
    rows = sheet.rows.assign(retriever=sheet.rows["retriever"].mask(alone, LLM_ONLY), value=values)
    _check_one_baseline(sheet, rows[alone], [*POINT, "group"])
    rows = rows.drop_duplicates([*POINT, "group", "retriever"])[[*POINT, "group", "retriever", "value"]]
    _check_baselines(sheet, rows)
    return rows.reset_index(drop=True)


def _check_one_baseline(sheet: Sheet, alone: pd.DataFrame, keys: list[str]) -> None:
    """The LLM alone has no retriever: what stands for it under several must be the same number."""
    first = alone.groupby(keys)["value"].transform("first")
    differs = ((alone["value"] - first).abs() > 1e-12).to_numpy()
    if differs.any():
        at = int(alone.index[differs.argmax()])
        raise sheet.fault(at, "value", "another row of the LLM alone has another value for this group: keep one")


def _check_baselines(sheet: Sheet, rows: pd.DataFrame) -> None:
    known = set(zip(*(rows.loc[rows["retriever"] == LLM_ONLY, name] for name in POINT), strict=True))
    for at, place in zip(rows.index, rows[POINT].itertuples(index=False, name=None), strict=True):
        if place not in known:
            raise DataError(
                f"{sheet.path}: row {at + 2}: {', '.join(place)} has no rows of the setting llm: "
                "add the accuracy without documents"
            )


def read_factors(path: Path, accuracy: pd.DataFrame, fields: Fields) -> pd.DataFrame:
    """The groups' shares of utility, exposure and attribution, for the very cells that have an accuracy with RAG."""
    sheet = read_sheet(path, [*POINT, "retriever", "group", *SHARES])
    check_groups(sheet, fields)
    keys = [*POINT, "group", "retriever"]
    sheet.once(keys)
    values = {
        share: sheet.numbers(name, 0, 1, "a share lies in [0, 1]", empty=True).to_numpy()
        for name, share in SHARES.items()
    }
    rag = accuracy[accuracy["retriever"] != LLM_ONLY]
    _check_same(sheet, keys, set(rag[keys].itertuples(index=False, name=None)))
    return sheet.rows[keys].assign(**values)


def _check_same(sheet: Sheet, keys: list[str], expected: set[tuple]) -> None:
    """Raise DataError where the file's keys are not the expected ones."""
    found = list(sheet.rows[keys].itertuples(index=False, name=None))
    for at, place in enumerate(found):
        if place not in expected:
            raise DataError(f"{sheet.path}: row {at + 2}: {', '.join(place)} has no accuracy with RAG: remove the row")
    missing = sorted(expected - set(found))
    if missing:
        raise DataError(
            f"{sheet.path}: has no row for {', '.join(missing[0])} ({len(missing)} missing): add it, or remove the "
            "file to leave correlations out"
        )


def read_sizes(folder: Path, topics: set[str], fields: Fields) -> dict[tuple[str, str, str], int]:
    """Number of queries by (topic, field, group), from group_sizes.csv or the lists query_ids_TOPIC.csv; {} without."""
    path = folder / files.SIZES
    if not path.is_file():
        lists = {topic: folder / f"query_ids_{topic}.csv" for topic in sorted(topics)}
        return counted_sizes({topic: path for topic, path in lists.items() if path.is_file()}, fields)
    sheet = read_sheet(path, ["topic", "field", "group", "n"])
    check_groups(sheet, fields)
    sheet.once(["topic", "field", "group"])
    check_whole(sheet, ["topic", "field"], fields)
    counts = sheet.numbers("n", 0, float("inf"), "a number of queries is a whole number from 0 on")
    for at, count in enumerate(counts):
        if count != int(count):
            raise sheet.fault(at, "n", "a number of queries is a whole number from 0 on")
    places = sheet.rows[["topic", "field", "group"]].itertuples(index=False, name=None)
    return dict(zip(places, counts.astype(int), strict=True))


def counted_sizes(lists: Mapping[str, str | Path], fields: Fields) -> dict[tuple[str, str, str], int]:
    """Number of queries by (topic, field, group), counted in a list of each topic's queries with a column per field."""
    sizes = {}
    for topic, path in lists.items():
        sheet = read_sheet(path, list(fields))
        for field, item in fields.items():
            sheet.known(field, item["groups"], f"group of {field}")
            sizes |= {(topic, field, group): int((sheet.rows[field] == group).sum()) for group in item["groups"]}
    return sizes


def read_overall(path: Path, accuracy: pd.DataFrame, fields: Fields) -> pd.DataFrame:
    """Stored means over all queries: avg_baseline (the LLM alone, one for all retrievers) and avg_rag, in [0, 1]."""
    keys = ["task", "topic", "llm", "retriever"]
    sheet = read_sheet(path, [*keys, "avg_baseline", "avg_rag"])
    sheet.once(keys)
    for name in keys:
        sheet.known(name, set(accuracy[name]) - {LLM_ONLY}, f"{name} of {files.ACCURACY}")
    remedy = "a mean accuracy lies in [0, 1]; divide percentages by 100"
    rag, alone = (sheet.numbers(name, 0, 1, remedy, empty=True) for name in ("avg_rag", "avg_baseline"))
    baseline = sheet.rows.assign(retriever=LLM_ONLY, value=alone).dropna(subset="value")
    for at in baseline.index[baseline.groupby(keys)["value"].transform(lambda part: abs(part - part.iloc[0])) > 1e-12]:
        raise sheet.fault(at, "avg_baseline", "another retriever's row has another mean without documents: keep one")
    both = pd.concat([baseline.drop_duplicates(keys), sheet.rows.assign(value=rag)], ignore_index=True)
    return both[[*keys, "value"]]


def read_stored(path: Path, accuracy: pd.DataFrame, fields: Fields) -> pd.DataFrame:
    """Correlations averaged over the retrievers, as somebody stored them: one row for each factor and outcome."""
    keys = [*POINT, "factor"]
    sheet = read_sheet(path, [*keys, *STORED])
    sheet.known("field", list(fields), f"field of {files.ACCURACY}")
    sheet.known("factor", FACTORS, "factor")
    sheet.once(keys)
    known = set(accuracy[POINT].itertuples(index=False, name=None))
    for at, place in enumerate(sheet.rows[POINT].itertuples(index=False, name=None)):
        if place not in known:
            raise DataError(f"{path}: row {at + 2}: {', '.join(place)} is not in {files.ACCURACY}: remove the row")
    parts = [
        sheet.rows[keys].assign(
            outcome=outcome, value=sheet.numbers(name, -1.0000001, 1.0000001, "ρ lies in [-1, 1]", empty=True)
        )
        for name, outcome in STORED.items()
    ]
    return pd.concat(parts, ignore_index=True)


def read_printed(path: Path, accuracy: pd.DataFrame, fields: Fields, categories: bool) -> pd.DataFrame:
    """A printed table, a row for each cell: where it stands (`position`, from 1) and what heads it (`column`).

    `column` is a retriever or "none". Values are in points, x 100. `categories`: there is a column of short names.
    """
    row_keys = ["topic", "task", *(["category"] if categories else []), "llm"]
    sheet = read_sheet(path, [*row_keys, "position", "column", "value"])
    columns = list(dict.fromkeys(sheet.rows["column"]))
    for name in ("topic", "task", "llm"):
        sheet.known(name, set(accuracy[name]), f"{name} of {files.ACCURACY}")
    sheet.known("column", set(accuracy["retriever"]), f"retriever of {files.ACCURACY}, nor {LLM_ONLY!r}")
    if categories:
        sheet.known("category", {item["short"] for item in fields.values()}, "short name of a category")
    sheet.known("position", {str(i + 1) for i in range(len(columns))}, f"position of {len(columns)} columns")
    sheet.once([*row_keys, "position"])
    sheet.once([*row_keys, "column"])
    values = sheet.numbers("value", 0, 100, "a printed number lies in [0, 100] points")
    text = sheet.rows["value"].str.partition(".")[2].str.len()
    category = sheet.rows["category"] if categories else ""
    return sheet.rows[["topic", "task", "llm", "column"]].assign(
        category=category, position=sheet.rows["position"].astype(int), value=values, decimals=int(text.max())
    )
