import re
from html.parser import HTMLParser

import numpy as np
import pytest
import synthetic
from markupsafe import escape

from whobenefits.report.figures import drawn_figures, write_figures
from whobenefits.report.page import Results, correlation_rows, group_rows, inline_svg, page, setting_rows, write_page

GRID = synthetic.labels(retrievers=2, llms=1, categories=2)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    tables = synthetic.results(GRID)
    write_figures(drawn_figures(*tables, GRID), folder)
    figures = {name: folder / f"{name}.svg" for name in ("group_accuracy", "figure2", "figure3", "figure4", "figure5")}
    return tables, [synthetic.summary(folder / "dataset.csv", "topic0")], figures


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


def rendered(parts, labels=GRID, about=synthetic.ABOUT):
    tables, summaries, figures = parts
    return page(Results(*tables, summaries, figures), labels, about)


def test_the_page_is_well_formed_and_refers_to_nothing_outside_itself(parts):
    text = rendered(parts)
    outline = Outline()
    outline.feed(text)
    assert outline.open == [] and text.lstrip().startswith("<!doctype html>")
    assert len(outline.ids) == len(set(outline.ids))
    assert all(link.startswith("#") and link[1:] in outline.ids for link in outline.links)
    assert not re.search(r'(src|href)="(?!#)|url\((?!#)|@import|<script', text)


def test_every_number_of_the_group_table_is_that_of_the_measures(parts):
    (measures, _, _), _, _ = parts
    rows = group_rows(measures, GRID)
    assert len(rows) == 2 * 2 * (4 + 4)  # tasks x retrievers x groups
    values = measures.set_index(["task", "retriever", "category", "group", "measure"])["value"]
    row = rows[3]  # the first task; groups and retrievers take turns: second group, second retriever
    assert row[:7] == [
        "Topic 0",
        "Article generation",
        "Model 0",
        "Retriever 1",
        "Age of topic",
        "Pre–1900s".replace("–", "-"),
        "3",
    ]
    cell = ("article", "retriever1", "age-of-topic", "Pre-1900s")
    assert row[8:] == [
        f"{values[(*cell, m)] * 100:.1f}" for m in ("ac_rag", "delta", "utility", "exposure", "attribution")
    ]
    assert row[7] == f"{values['article', 'none', 'age-of-topic', 'Pre-1900s', 'ac_llm'] * 100:.1f}"


def test_the_undefined_is_shown_with_its_reason(parts):
    (measures, _, correlations), _, _ = parts
    measures, correlations = measures.copy(), correlations.copy()
    hit = (measures.measure == "utility") & (measures.group == "Unknown")
    measures.loc[hit, ["value", "reason"]] = [np.nan, "all zero"]
    correlations.loc[:, ["value", "reason"]] = [np.nan, "one side is constant"]
    assert group_rows(measures, GRID)[0][10] == "– (all zero)"
    assert {row[7] for row in correlation_rows(correlations, GRID)} == {"– (one side is constant)"}


def test_text_from_settings_and_labels_is_escaped(parts):
    hostile = "<script>alert(1)</script>&\"'"
    labels = GRID | {"llms": {"llm0": hostile}}
    text = rendered(parts, labels, synthetic.ABOUT | {"name": hostile})
    assert "<script>" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_the_attributor_the_licences_and_each_setting_stand_on_the_page(parts):
    text = rendered(parts)
    for word in ("overlap", "Apache-2.0", "pypi:a==1", "retrieval.context_size", "attribution.threshold", "0.6"):
        assert word in text


def test_figures_have_alternative_texts_and_tables_have_captions_and_headings(parts):
    text = rendered(parts)
    assert text.count('role="img" aria-label="') == 5 == text.count("<figcaption>")
    assert text.count("<caption>") == text.count("<table") and text.count('scope="col"') > 20


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


def test_a_dash_in_a_table_of_the_page_has_its_reasons_in_the_caption(parts):
    (measures, ranges, correlations), summaries, figures = parts
    ranges = ranges.copy()
    ranges.loc[ranges.measure == "r_llm", ["value", "reason"]] = [np.nan, "fewer than two groups <have> queries"]
    text = rendered(((measures, ranges, correlations), summaries, figures))
    assert "–: undefined (fewer than two groups &lt;have&gt; queries).</span></caption>" in text


def test_settings_are_flat_rows_without_the_assets():
    about = {"a": {"b": [1, 2], "c": {"d": True}}, "e": None, "assets": {"x": 1}}
    assert setting_rows(about) == [("a.b", "1, 2"), ("a.c.d", "true"), ("e", "null")]


def test_the_finding_on_the_page_is_the_one_in_the_text_file(parts, tmp_path):
    tables, summaries, figures = parts
    write_page(Results(*tables, summaries, figures), GRID, synthetic.ABOUT, tmp_path / "p.html", tmp_path / "f.txt")
    sentences = (tmp_path / "f.txt").read_text().splitlines()
    assert len(sentences) == 6 and all(
        f"<li>{escape(line)}</li>" in (tmp_path / "p.html").read_text() for line in sentences
    )
