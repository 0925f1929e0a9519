import numpy as np
import pandas as pd
import synthetic

from whobenefits.report.inputs import Results
from whobenefits.report.table_files import write_report_tables
from whobenefits.report.tables import (
    accuracy_table,
    markdown,
    range_table,
    shown_dataset,
    shown_number,
    undefined_note,
)

GRID = synthetic.labels(topics=2, retrievers=2, categories=2)


def test_table_3_has_the_overall_accuracies_times_100_in_the_order_of_the_grid():
    measures, _, _ = synthetic.results(GRID)
    table = accuracy_table(measures, GRID)
    assert table.columns.tolist() == [(f"Topic {i}", c) for i in (0, 1) for c in ("N", "Retriever 0", "Retriever 1")]
    assert table.index.tolist()[1] == ("Article generation", "Model 1")
    row = measures[(measures.category == "all") & (measures.measure == "ac_rag") & (measures.topic == "topic1")]
    row = row[(row.task == "title") & (row.llm == "llm0") & (row.retriever == "retriever1")]
    assert table.loc[("Title generation", "Model 0"), ("Topic 1", "Retriever 1")] == row["value"].item() * 100


def test_table_4_has_the_range_of_the_llm_alone_under_n_and_those_with_rag_beside_it():
    measures, ranges, _ = synthetic.results(GRID)
    table = range_table(ranges, GRID)
    # by hand: largest minus smallest group accuracy of the cell, times 100
    cell = measures[(measures.topic == "topic0") & (measures.task == "article") & (measures.llm == "llm1")]
    ages = cell[cell.category == "age-of-topic"]
    for column, measure, retriever in (("N", "ac_llm", "none"), ("Retriever 1", "ac_rag", "retriever1")):
        values = ages[(ages.measure == measure) & (ages.retriever == retriever)]["value"]
        shown = table.loc[("Article generation", "AoT", "Model 1"), ("Topic 0", column)]
        assert np.isclose(shown, (values.max() - values.min()) * 100)


def test_the_order_of_the_rows_changes_nothing():
    measures, ranges, _ = synthetic.results(GRID)
    shuffled = measures.sample(frac=1, random_state=2), ranges.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(accuracy_table(measures, GRID), accuracy_table(shuffled[0], GRID))
    pd.testing.assert_frame_equal(range_table(ranges, GRID), range_table(shuffled[1], GRID))


def test_the_best_of_each_task_and_topic_is_bold_and_the_undefined_is_a_dash():
    columns = pd.MultiIndex.from_tuples([("Cities", "N"), ("Cities", "BM25"), ("Seas", "N"), ("Seas", "BM25")])
    index = pd.MultiIndex.from_tuples([("Article", "A"), ("Article", "B"), ("Title", "A")], names=["Task", "LLM"])
    table = pd.DataFrame([[1, 2, 3, 4], [5, 1, 2, 4], [np.nan, 7, 8, 6.04]], index, columns)
    lines = markdown(table, best=True).splitlines()
    assert lines[0] == "| Task | LLM | Cities N | Cities BM25 | Seas N | Seas BM25 |"
    assert lines[2:] == [
        "| Article | A | 1.0 | 2.0 | 3.0 | **4.0** |",
        "| Article | B | **5.0** | 1.0 | 2.0 | **4.0** |",
        "| Title | A | – | **7.0** | **8.0** | 6.0 |",
    ]


def test_a_number_has_one_digit_and_nothing_is_shown_for_the_undefined():
    assert [shown_number(v) for v in (12.345, -0.04, float("nan"), None)] == ["12.3", "-0.0", "–", "–"]


def test_the_files_have_full_precision_in_csv_and_say_what_a_dash_is(tmp_path):
    measures, ranges, correlations = synthetic.results(GRID)
    ranges.loc[ranges.measure == "r_llm", ["value", "reason"]] = [np.nan, "fewer than two groups have queries"]
    summaries = [synthetic.summary(tmp_path / f"{t}.csv", t) for t in ("topic0", "topic1")]
    write_report_tables(Results(measures, ranges, correlations), summaries, GRID, tmp_path / "tables")
    latex = [f"table{n}.tex" for n in (2, 3, 4, 5, 6)]
    assert sorted(p.name for p in (tmp_path / "tables").iterdir()) == sorted(
        [f"table{n}.{suffix}" for n in (2, 3, 4) for suffix in ("csv", "md")] + latex
    )
    third = pd.read_csv(tmp_path / "tables/table3.csv")
    assert np.allclose(third.iloc[:, 2:], accuracy_table(measures, GRID).to_numpy(), rtol=1e-15)
    assert "–: undefined (fewer than two groups have queries)." in (tmp_path / "tables/table4.md").read_text()
    assert "–" not in (tmp_path / "tables/table3.md").read_text()
    assert pd.read_csv(tmp_path / "tables/table2.csv")["queries"].tolist() == [12, 12]


def test_an_llm_named_like_a_task_keeps_its_own_label():
    grid = GRID | {"llms": {"title": "Odd model", "llm1": "Model 1"}}
    measures, _, _ = synthetic.results(grid)
    assert accuracy_table(measures, grid).index.tolist() == [
        (task, llm) for task in ("Article generation", "Title generation") for llm in ("Odd model", "Model 1")
    ]


def test_table_2_is_readable_means_to_one_decimal_and_counts_as_they_are():
    frame = pd.DataFrame(
        [{"topic": "cities", "label": "Cities", "queries": 159, "documents": 117362, "mean_body_words": 95.44}]
    ).assign(dropped_too_long=0)
    assert shown_dataset(frame) == (
        ["Topic", "Queries", "Documents", "Mean body words", "Dropped too long"],
        [["Cities", "159", "117,362", "95.4", "0"]],
    )


def test_each_reason_of_a_dash_is_said_once_and_a_missing_cell_is_called_so():
    table = pd.DataFrame([[np.nan, 1.0]])
    rows = pd.DataFrame({"value": [np.nan, np.nan, np.nan, 1.0], "reason": ["b", "a", "b", ""]})
    assert undefined_note(table, rows) == "–: undefined (a; b)."
    assert undefined_note(table, rows[3:]) == "–: undefined (not among the results)."
    assert undefined_note(table.dropna(axis=1), rows) == ""
