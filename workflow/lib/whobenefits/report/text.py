"""Text from a corpus, a model or the settings, made safe to show: on a page, in a CSV file, in LaTeX."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

# Marks that turn or join the text around them, and control characters: shown by name, since they would hide what is there.
_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
# What makes a spreadsheet take a cell for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "Δ": r"$\Delta$",
    "ρ": r"$\rho$",
    "×": r"$\times$",
} | {mark: f"\\{mark}" for mark in "&%$#_{}"}


def visible(text: str) -> str:
    """The text with each mark that turns its direction or cannot be seen replaced by its name, such as ⟨U+202E⟩."""
    return _HIDDEN.sub(lambda mark: f"⟨U+{ord(mark[0]):04X}⟩", text)


def visible_data(data: Any) -> Any:
    """Lists and mappings with every text in them made visible, keys included."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, dict):
        return {visible(key): visible_data(value) for key, value in data.items()}
    return [visible_data(item) for item in data] if isinstance(data, list | tuple) else data


def json_text(data: Any) -> str:
    """JSON that can stand inside a script element or a script file: no character in it can end or open a tag.

    Raises ValueError for NaN, which is no JSON: undefined numbers are None.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda mark: f"\\u{ord(mark[0]):04x}", text)


def cell_text(value: Any) -> Any:
    """A value for a CSV file: a text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def write_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write the frame as CSV, in full precision, undefined numbers as NaN, no cell of it a formula."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    safe = frame.rename(columns=cell_text)
    texts = [name for name in safe.columns if safe[name].dtype.kind not in "biuf"]
    safe = safe.assign(**{name: safe[name].map(cell_text) for name in texts})
    safe.to_csv(path, index=False, na_rep="NaN", lineterminator="\n")


def latex(text: str) -> str:
    """The text for LaTeX, with every character that would be a command as itself."""
    return "".join(_LATEX.get(mark, mark) for mark in visible(text))
