import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.report.text import cell_text, json_text, latex, visible, visible_data, write_csv


def test_marks_that_turn_or_hide_text_are_named_and_all_else_is_kept():
    assert visible("a\u202eb\u2066c\u200bd\u0007") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+0007⟩"
    plain = "<b>\n\t Ω שלום é \U0001f600 –"
    assert visible(plain) == plain
    assert visible_data({"a\u200e": ["\u202e", 1, None, {"x": ("\u200f",)}]}) == {
        "a⟨U+200E⟩": ["⟨U+202E⟩", 1, None, {"x": ["⟨U+200F⟩"]}]
    }


@given(st.text())
def test_nothing_in_json_can_end_or_open_a_tag_and_it_reads_back_the_same(text):
    found = json_text({"a": text})
    assert not set("<>&\u2028\u2029") & set(found) and json.loads(found) == {"a": text}


def test_what_is_no_number_is_refused_in_json():
    with pytest.raises(ValueError, match="JSON"):
        json_text([float("nan")])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1"])
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert cell_text(text) == f"'{text}"


def test_csv_keeps_numbers_in_full_and_texts_harmless(tmp_path):
    frame = pd.DataFrame({"=name": ["=HYPERLINK(1)", "plain", None], "value": [-0.1 / 3, np.nan, 2.0], "n": [1, 2, 3]})
    write_csv(frame, tmp_path / "deep/t.csv")
    lines = (tmp_path / "deep/t.csv").read_text().splitlines()
    assert lines == ["'=name,value,n", f"'=HYPERLINK(1),{-0.1 / 3!r},1", "plain,NaN,2", "NaN,2.0,3"]


def test_latex_shows_every_special_character_as_itself():
    assert latex(r"50% & $x_1^2$ #{a}~\b") == (
        r"50\% \& \$x\_1\textasciicircum{}2\$ \#\{a\}\textasciitilde{}\textbackslash{}b"
    )
    assert latex("a\u202eb") == "a⟨U+202E⟩b"
