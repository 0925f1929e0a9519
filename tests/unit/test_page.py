import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import studies
import synthetic
from markupsafe import escape

from whobenefits.report.figure_parts import figure_parts, inline_svg
from whobenefits.report.finding import finding
from whobenefits.report.inputs import Results
from whobenefits.report.lists import asset_row, setting_rows
from whobenefits.report.packed import MOST_ROWS, packed, page_tables, script
from whobenefits.report.page import page, write_page

GRID = studies.grid()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study, and what its page is made from."""
    folder = tmp_path_factory.mktemp("page")
    topics, results = studies.made(GRID)
    return results, studies.parts(topics, folder)


class Outline(HTMLParser):
    """Tags that are open, ids, headings and references of a page."""

    VOID = ("meta", "br", "link", "img", "use", "path", "input")

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def part(text, name):
    """The data of one of the page's script elements."""
    return json.loads(re.search(f'id="{name}">(.*?)</script>', text, re.S)[1])


def test_the_page_is_well_formed_and_refers_to_nothing_outside_itself(made):
    text = page(*made, GRID, synthetic.ABOUT)
    outline = Outline()
    outline.feed(text)
    assert outline.open == [] and text.lstrip().startswith("<!doctype html>")
    assert len(outline.ids) == len(set(outline.ids))
    assert all(link.startswith("#") and link[1:] in outline.ids for link in outline.links)
    assert "default-src 'none'" in text and not re.search(r"url\((?!#)|@import", text)
    assert outline.tags.count("script") == 5


def test_the_numbers_on_the_page_are_those_of_the_tables_in_full(made):
    results, _ = made
    tables = part(page(*made, GRID, synthetic.ABOUT), "tables")
    groups = tables["groups"]
    keys = ["topic", "task", "llm", "retriever", "category", "group"]
    known = results.measures.set_index([*keys, "measure"])["value"]
    for i in range(groups["length"]):
        place = [groups["names"][key][groups["columns"][key][i]] for key in keys]
        for column, measure in (("rag", "ac_rag"), ("delta", "delta"), ("llm_value", "ac_llm")):
            at = [*place[:3], "none", *place[4:]] if measure == "ac_llm" else place
            value = known[(*at, measure)]
            shown = groups["columns"][column][i]
            assert shown is None if np.isnan(value) else shown == value * 100
    assert groups["length"] == (results.measures.measure == "ac_rag").sum()


def test_the_undefined_is_packed_as_nothing_and_its_reason_is_kept():
    measures, ranges, correlations = synthetic.results(GRID)
    hit = (measures.measure == "ac_rag") & (measures.group == "Unknown")
    measures.loc[hit, ["value", "reason"]] = [np.nan, "no query"]
    groups = page_tables(Results(measures, ranges, correlations))[0]["groups"]
    at = groups["names"]["group"].index("Unknown")
    first = groups["columns"]["group"].index(at)
    assert groups["columns"]["rag"][first] is None
    assert groups["names"]["reason"][groups["columns"]["reason"][first]] == "no query"


def test_a_table_that_is_too_long_is_cut_and_the_page_says_so():
    results = Results(*synthetic.results(GRID))
    tables, cut = page_tables(results, most=5)
    assert tables["groups"]["length"] == 5 and len(cut) == 4 and "the first 5 of" in cut[0]
    assert page_tables(results)[1] == [] and MOST_ROWS > 1000


def test_text_from_settings_labels_and_documents_is_escaped(made):
    hostile = "<script>alert(1)</script>&\"'\u202e"
    labels = GRID | {"llms": GRID["llms"] | {"llm0": hostile}}
    text = page(*made, labels, synthetic.ABOUT | {"name": hostile})
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "\u202e" not in text
    assert text.count("</script>") == 5 and "<img src=x" not in text and "<i>answer" not in text
    # The documents' own text is there all the same, inside the data.
    assert any(studies.HOSTILE["title"] == item["title"] for item in part(text, "query-list"))


def test_the_queries_that_the_page_carries_are_whole(made):
    text = page(*made, GRID, synthetic.ABOUT)
    records, rows = part(text, "queries"), part(text, "query-list")
    assert [record["query"] for record in records] == [row["query"] for row in rows] and len(rows) == 8
    assert set(records[0]["tasks"]) == {"article", "title"}


def test_the_attributor_the_licences_and_each_setting_stand_on_the_page(made):
    text = page(*made, GRID, synthetic.ABOUT)
    for word in ("overlap", "Apache-2.0", "pypi:a==1", "retrieval.context_size", "attribution.threshold", "0.6"):
        assert word in text


def test_figures_have_alternative_texts_and_tables_have_captions_and_headings(made):
    text = page(*made, GRID, synthetic.ABOUT)
    body = text[: text.index('<script type="application/json"')]
    assert body.count('role="img" aria-label="') == 7 == body.count("<figcaption>")
    assert body.count("<caption>") == body.count("<table") and body.count('scope="col"') > 20


def test_ids_of_two_inline_figures_do_not_meet():
    svg = (
        '<?xml version="1.0"?><svg><defs><clipPath id="a"/></defs><g clip-path="url(#a)"/><use xlink:href="#a"/></svg>'
    )
    assert inline_svg(svg, "one") == (
        '<svg><defs><clipPath id="one-a"/></defs><g clip-path="url(#one-a)"/><use xlink:href="#one-a"/></svg>'
    )


def test_a_figure_shrinks_to_four_fifths_of_its_width_and_no_further():
    # 720pt are 960 pixels, of which four fifths are 768; a figure of 300pt may grow to 928
    assert inline_svg('<svg a="b" width="720pt" height="1pt">', "x").startswith(
        '<svg style="min-width: 768px; max-width: 960px" a="b" width="720pt"'
    )
    assert 'style="min-width: 320px; max-width: 928px"' in inline_svg('<svg width="300pt">', "x")


def test_figures_that_do_not_fit_are_named_instead(tmp_path):
    for name, size in (("a", 100), ("b", 900), ("c", 100)):
        (tmp_path / f"{name}.svg").write_text(f"<svg>{'x' * size}</svg>")
    parts = figure_parts({name: tmp_path / f"{name}.svg" for name in "abc"}, room=300)
    assert [parts[name]["svg"] is None for name in "abc"] == [False, True, False]
    assert parts["b"]["path"] == "figures/b.svg"


def test_a_dash_in_a_table_of_the_page_has_its_reasons_in_the_caption(made):
    results, parts = made
    ranges = results.ranges.copy()
    ranges.loc[ranges.measure == "r_llm", ["value", "reason"]] = [np.nan, "fewer than two groups <have> queries"]
    text = page(Results(results.measures, ranges, results.correlations), parts, GRID, synthetic.ABOUT)
    assert "–: undefined (fewer than two groups &lt;have&gt; queries).</span></caption>" in text


def test_settings_are_flat_rows_without_the_assets():
    about = {"a": {"b": [1, 2], "c": {"d": True}}, "e": None, "assets": {"x": 1}}
    assert setting_rows(about) == [("a.b", "1, 2"), ("a.c.d", "true"), ("e", "null")]


def test_an_asset_has_its_packages_once_and_its_identity():
    item = {"address": None, "licence": "L", "files": {f: {"address": [f"pypi:a==1#{f}"]} for f in ("x", "y")}}
    assert asset_row("n", item, {"identity": "0f"}) == ["n", "L", "pypi:a==1", "0f"]
    assert asset_row("n", item, {})[3] == "not on record"


def test_the_finding_on_the_page_is_the_one_in_the_text_file(made, tmp_path):
    write_page(*made, GRID, synthetic.ABOUT, tmp_path / "p.html", tmp_path / "f.txt")
    sentences = (tmp_path / "f.txt").read_text().splitlines()
    assert sentences == finding(made[0], GRID, synthetic.ABOUT) and len(sentences) == 6
    assert all(f"<li>{escape(line)}</li>" in (tmp_path / "p.html").read_text() for line in sentences)


def test_the_script_sets_no_html_and_asks_no_host():
    text = script()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "fetch(",
        "XMLHttp",
        "http:",
        "https:",
    ):
        assert word not in text.replace("http://www.w3.org/2000/svg", "")
    assert "</" not in text


def test_packed_names_are_made_visible():
    frame = synthetic.results(GRID)[0].head(2).assign(group=["a\u202eb", "c"])
    assert packed(frame)["names"]["group"] == ["a⟨U+202E⟩b", "c"]
