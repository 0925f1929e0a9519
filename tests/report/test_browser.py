"""The page in a real browser: what it shows, what it asks for, and what becomes of a hostile document."""

import json

import browser
import pytest
import studies
import synthetic

from whobenefits.report.page import write_page

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium is installed (Debian: chromium)")
GRID = studies.grid()
READY = "document.documentElement.classList.contains('ready')"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The report's folder of a made-up study, and its result tables; one query lies beside the page, not in it."""
    folder = tmp_path_factory.mktemp("report")
    topics, results = studies.made(GRID)
    write_page(results, studies.parts(topics, folder), GRID, synthetic.ABOUT, folder / "index.html", folder / "f.txt")
    change_records(folder / "index.html", folder / "index.html", lambda records: records.pop())
    return folder, results


def change_records(page, to, change):
    """Write a page again with other records of its queries in it; `change` alters their list in place."""
    text = page.read_text()
    start = text.index('id="queries">') + len('id="queries">')
    end = text.index("</script>", start)
    records = json.loads(text[start:end])
    change(records)
    to.write_text(text[:start] + json.dumps(records).replace("<", "\\u003c") + text[end:])


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with browser.browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def page(made, running):
    running.problems.clear(), running.requests.clear()
    running.open(made[0] / "index.html")
    running.until(READY)
    yield running
    assert running.problems == []
    assert all(address.startswith(("file:", "blob:")) for address in running.requests)


def choose(page, kind, name):
    page.run(
        f"(() => {{ const e = document.getElementById('{kind}'); e.value = {name!r}; e.dispatchEvent(new Event('change')); }})()"
    )


def cells(page, view, column):
    return page.run(f"[...document.querySelectorAll('#{view} tbody tr')].map((r) => r.cells[{column}].textContent)")


def points(text):
    return float(text.split(" ")[0].replace("\u2212", "-"))


def test_nothing_is_asked_for_but_the_page(page):
    assert len(page.requests) == 1


def test_the_numbers_of_the_table_of_groups_are_those_of_the_measures(page, made):
    (
        choose(page, "filter-task", "title"),
        choose(page, "filter-llm", "llm1"),
        choose(page, "filter-retriever", "retriever1"),
    )
    measures = made[1].measures
    kept = measures[
        (measures.task == "title") & (measures.llm == "llm1") & measures.retriever.isin(["retriever1", "none"])
    ]
    known = kept.set_index(["category", "group", "measure"])["value"]
    expected = [
        (
            f"{item['label']}: {group}".replace("a-d", "a–d"),
            *(known[name, group, m] * 100 for m in ("ac_llm", "ac_rag", "delta")),
        )
        for name, item in GRID["categories"].items()
        for group in item["groups"]
    ]
    names = page.text("#view-groups tbody th b")
    shown = [cells(page, "view-groups", column) for column in (3, 4, 5)]
    assert names == [row[0] for row in expected] and len(names) == 8
    for i, row in enumerate(expected):
        for j in range(3):
            known_to_be_undefined = row[j + 1] != row[j + 1]
            text = shown[j][i]
            assert text == "–" if known_to_be_undefined else abs(points(text) - row[j + 1]) <= 0.05 + 1e-9


def test_each_filter_keeps_its_rows_in_every_figure(page):
    before = len(cells(page, "view-gaps", 0))
    # tasks, LLMs, retrievers and categories: 2 x 2 x 2 x 2
    assert before == 16
    for count, (kind, name) in zip(
        (8, 4, 2, 1),
        (("task", "title"), ("llm", "llm0"), ("retriever", "retriever0"), ("category", "popularity")),
        strict=True,
    ):
        choose(page, f"filter-{kind}", name)
        assert [len(cells(page, view, 0)) for view in ("view-gaps", "view-delta", "view-rag")] == [count] * 3
    assert page.text("#shown") == ["Shown: Title generation, Model 0, Retriever 0, Popularity"]
    page.run("document.getElementById('reset').click()")
    assert len(cells(page, "view-gaps", 0)) == before


def test_a_table_is_sorted_up_and_down_with_the_undefined_last(page):
    click = "document.querySelector('#view-delta [data-key=value]').click()"
    for order, first in (("descending", max), ("ascending", min)):
        page.run(click)
        values = [points(text) for text in cells(page, "view-delta", 2) if not text.startswith("–")]
        assert values == sorted(values, reverse=order == "descending") and values[0] == first(values)
        assert (
            page.run("document.querySelector('#view-delta [data-key=value]').parentElement.getAttribute('aria-sort')")
            == order
        )
    texts = cells(page, "view-delta", 2)
    assert all(text.startswith("–") for text in texts[len(values) :])


def test_a_dot_tells_its_value_interval_and_n(page):
    page.run(
        "document.querySelector('#view-hero circle').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))"
    )
    (text,) = page.text("#tip")
    assert "(n = " in text and "95 % interval" in text and not page.run("document.getElementById('tip').hidden")


def test_a_hostile_document_is_shown_as_text_and_does_nothing(page):
    page.run("document.querySelector('#query-list-shown button').click()")
    (title,) = page.text("#query-detail h3")
    assert title == studies.HOSTILE["title"]
    reference = page.text("#query-detail dd")[1]
    assert (
        "<img src=x" in reference
        and "$x^2$" in reference
        and "⟨U+202E⟩gnirts" in reference
        and "\u202e" not in reference
    )
    assert '<script>document.title="broken"</script>' in "".join(page.text("#query-detail td"))
    assert page.run("document.title") == "Who benefits from retrieval? test"
    assert page.run("document.querySelectorAll('#query-detail img, #query-detail script, #query-detail i').length") == 0


def test_a_query_shows_its_documents_by_rank_its_answers_and_its_prompts(page):
    page.run("document.querySelectorAll('#query-list-shown button')[1].click()")
    assert cells(page, "query-detail .documents", 0) == ["1", "2", "3"]
    prompts = page.text("#query-detail pre")
    # the LLM alone, all documents of the retriever, and each of them alone
    assert len(prompts) == 5 and prompts[1].count("Article:") == 4 and prompts[0].count("Article:") == 1
    titles = page.text("#query-detail .documents summary")
    assert all(title in prompts[1] for title in titles) and titles[0] in prompts[2]


def test_a_query_without_documents_says_so_instead_of_an_empty_table(made, running, tmp_path):
    def without_documents(records):
        for task in records[0]["tasks"].values():
            task["factors"] = {}

    change_records(made[0] / "index.html", tmp_path / "index.html", without_documents)
    running.open(tmp_path / "index.html")
    running.until(READY)
    running.run("document.querySelectorAll('#query-list-shown button')[0].click()")
    running.until("document.querySelector('#query-detail h3')")
    assert running.text("#query-detail .none")[0].endswith("found no document: the LLM answered alone.")
    assert running.text("#query-detail .documents") == []
    # the prompt of the LLM alone, and none that would claim documents
    assert len(running.text("#query-detail pre")) == 1


def test_a_query_that_the_page_does_not_carry_is_read_from_the_file_beside_it(page, made):
    last = page.run("document.querySelectorAll('#query-list-shown button').length - 1")
    page.run(f"document.querySelectorAll('#query-list-shown button')[{last}].click()")
    page.until("document.querySelector('#query-detail h3')")
    assert [address.rpartition("/queries/")[2] for address in page.requests[1:]] == [f"topic0/{last + 1}.js"]


def test_a_page_that_was_mailed_alone_says_which_file_it_lacks(made, running, tmp_path):
    (tmp_path / "index.html").write_bytes((made[0] / "index.html").read_bytes())
    running.open(tmp_path / "index.html")
    running.until(READY)
    running.run("[...document.querySelectorAll('#query-list-shown button')].pop().click()")
    running.until("document.querySelector('#query-detail .none')")
    assert "carries 7 of 8 queries" in running.text("#query-detail .none")[0]


def test_an_address_opens_its_query(made, running):
    running.open(made[0] / "index.html", fragment="#query=topic0/topic0-d2")
    running.until(READY)
    assert "query_id topic0-d2" in "".join(running.text("#query-detail small"))
    # and not below the filters, which stay at the top of the window
    edges = "document.getElementById('{}').getBoundingClientRect().{}".format
    assert running.run(f"{edges('lookup', 'top')} >= {edges('filters', 'bottom')}")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_sticks_out_of_the_window(made, running, width, dark):
    running.open(made[0] / "index.html", width, 844, dark)
    running.until(READY)
    assert running.run("document.documentElement.scrollWidth") == width


def test_rows_saved_as_csv_hold_the_full_numbers_and_no_formula(page):
    page.run("""(() => { window.saved = []; URL.createObjectURL = (blob) => { window.saved.push(blob); return 'blob:none'; };
      HTMLAnchorElement.prototype.click = () => {}; document.querySelector('#view-delta .save').click(); })()""")
    head, first, *rows = page.run("window.saved[0].text()").splitlines()
    assert head.startswith("topic,task,llm,category,retriever,measure,value") and len(rows) == 15
    assert len(first.split(",")[6]) > 10


def test_the_page_can_be_printed(page, tmp_path):
    page.paper(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
