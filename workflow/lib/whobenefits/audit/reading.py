"""CSV files of results made elsewhere, checked row by row. A fault is one error: file, row, value, remedy."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from whobenefits.errors import DataError


@dataclass(frozen=True)
class Sheet:
    """A CSV file as text; row 1 of the file is the header, so its first row of data is row 2."""

    path: Path
    rows: pd.DataFrame

    def fault(self, at: int, column: str, remedy: str) -> DataError:
        """The error for one row's value in a column."""
        return DataError(f"{self.path}: row {at + 2}: {column} is {self.rows[column].iloc[at]!r}: {remedy}")

    def known(self, column: str, names: Collection[str], what: str) -> None:
        """Raise DataError for the first value of the column that is none of the names."""
        for at, value in enumerate(self.rows[column]):
            if value not in names:
                near = get_close_matches(value, names, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(names))}"
                raise self.fault(at, column, f"no {what}, {hint}")

    def once(self, keys: Sequence[str]) -> None:
        """Raise DataError for the first row whose keys stand in an earlier one."""
        twice = self.rows.duplicated(list(keys)).to_numpy()
        if twice.any():
            at = int(twice.argmax())
            place = ", ".join(self.rows[list(keys)].iloc[at])
            first = int((self.rows[list(keys)] == self.rows[list(keys)].iloc[at]).all(axis=1).to_numpy().argmax())
            raise DataError(f"{self.path}: row {at + 2}: {place} stands already in row {first + 2}: remove one")

    def numbers(self, column: str, low: float, high: float, remedy: str, empty: bool = False) -> pd.Series:
        """The column as numbers in [low, high]; an empty cell or `nan` is NaN where `empty` allows it.

        Raises DataError, with the remedy, for the first value that is none of these.
        """
        values = pd.to_numeric(self.rows[column].replace({"": "nan"}), errors="coerce")
        missing = self.rows[column].str.strip().str.lower().isin(["", "nan"])
        for at, (value, blank) in enumerate(zip(values, missing, strict=True)):
            if not (blank and empty) and not low <= value <= high:
                raise self.fault(at, column, remedy)
        return values


def read_sheet(path: str | Path, columns: Sequence[str]) -> Sheet:
    """The file's rows as text, each value stripped.

    Raises DataError where the file cannot be read as CSV, has no row, or lacks one of the columns; others are kept.
    """
    path = Path(path)
    try:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig", skipinitialspace=True)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: is not a CSV file in UTF-8 ({str(error).strip()}): write it anew") from error
    except FileNotFoundError as error:
        raise DataError(f"{path}: is not there: an audit needs it, its columns are {', '.join(columns)}") from error
    missing = [name for name in columns if name not in rows.columns]
    if missing:
        has = ", ".join(rows.columns)
        raise DataError(f"{path}: row 1: the columns {', '.join(missing)} are missing (it has {has}): add them")
    if rows.empty:
        raise DataError(f"{path}: has no row below its header: add the results or remove the file")
    return Sheet(path, rows.fillna("").apply(lambda column: column.str.strip()))


def check_groups(sheet: Sheet, fields: Mapping[str, Mapping]) -> None:
    """Raise DataError for a field that is not known and for a group that its field does not have."""
    sheet.known("field", list(fields), "known field")
    for at, (field, group) in enumerate(zip(sheet.rows["field"], sheet.rows["group"], strict=True)):
        if group not in fields[field]["groups"]:
            raise sheet.fault(at, "group", f"no group of {field}, which has {', '.join(fields[field]['groups'])}")


def check_whole(sheet: Sheet, keys: Sequence[str], fields: Mapping[str, Mapping]) -> None:
    """Raise DataError for a point (keys, the field among them) that lacks a group of its field."""
    for place, part in sheet.rows.groupby(list(keys), sort=False):
        named = dict(zip(keys, place, strict=True))
        for group in fields[named["field"]]["groups"]:
            if group not in set(part["group"]):
                where, row = ", ".join(place), int(part.index[0]) + 2
                raise DataError(
                    f"{sheet.path}: row {row}: {where} has no row for the group {group!r}: add one, "
                    "with an empty value if the group has no query"
                )
