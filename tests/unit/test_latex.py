import re

import numpy as np
import pandas as pd
import pytest
import synthetic

from whobenefits.report.inputs import Results
from whobenefits.report.latex import latex_tables
from whobenefits.report.tables import dataset_table

GRID = synthetic.labels(topics=2, retrievers=2, llms=1, categories=2)
DATASET = pd.DataFrame([{"topic": "t", "label": "R&D_1", "queries": 12, "documents": 1109, "mean_body_words": 85.48}])


@pytest.fixture
def results():
    return synthetic.study(GRID)


def rows(text):
    """The cells of each line of a table."""
    body = text[text.index("\\toprule") : text.index("\\bottomrule")]
    return [line[: -len(r" \\")].split(" & ") for line in body.splitlines() if line.endswith(r" \\")]


def columns(text):
    return len(re.search(r"\\begin\{tabular\}\{(\w+)\}", text)[1])


def width(row):
    return sum(int(span[1]) if (span := re.match(r"\\multicolumn\{(\d+)\}", cell)) else 1 for cell in row)


def test_every_line_of_every_table_has_as_many_cells_as_columns_and_braces_close(results):
    for text in latex_tables(results, DATASET, GRID).values():
        assert {width(row) for row in rows(text)} == {columns(text)}
        assert text.count("{") == text.count("}") and text.count("\\begin") == text.count("\\end") == 2


def test_a_cell_has_its_value_above_its_interval(results):
    hit = (results.ranges.measure == "r_rag") & (results.ranges.topic == "topic1")
    hit &= (
        (results.ranges.task == "article")
        & (results.ranges.category == "popularity")
        & (results.ranges.retriever == "retriever1")
    )
    results.ranges.loc[hit, ["value", "low", "high", "p_holm"]] = [12.34, 0.06, 20.0, 0.01]
    table = rows(latex_tables(results, DATASET, GRID)["table4"])
    # two lines of heads; then the article task with its two categories; task, category, LLM, 3 columns for each topic
    assert table[3][1:3] == ["Pop", "Model 0"]
    assert table[3][8] == r"\shortstack[r]{12.3$^{*}$\\{\tiny [0.1, 20.0]}}"


def test_the_undefined_is_a_dash_and_a_value_without_interval_stands_alone():
    measures, ranges, correlations = synthetic.results(GRID)
    overall = (measures.category == "all") & (measures.topic == "topic0") & (measures.task == "article")
    measures.loc[overall & (measures.measure == "ac_llm"), "value"] = np.nan
    measures.loc[overall & (measures.retriever == "retriever0") & (measures.measure == "ac_rag"), "value"] = 0.3
    text = latex_tables(Results(measures, ranges, correlations), DATASET, GRID)["table3"]
    assert rows(text)[2][2:4] == ["--", "30.0"]
    assert "--: undefined." in text and "intervals" not in text and "chance" not in text


def test_labels_are_escaped_and_a_minus_is_one(results):
    found = latex_tables(results, DATASET, GRID)
    assert rows(found["table2"])[1][0] == r"R\&D\_1" and rows(found["table2"])[1][2] == "1,109"
    results.correlations.loc[results.correlations.retriever == "mean", "value"] = -0.5
    assert "$-0.50$" in latex_tables(results, DATASET, GRID)["table6"]


def test_a_task_is_named_once(results):
    names = [row[0] for row in rows(latex_tables(results, DATASET, GRID)["table4"])[2:]]
    assert names == ["Article generation", "", "Title generation", ""]


def test_table_2_of_real_columns_leaves_what_was_dropped_to_the_csv(tmp_path, results):
    text = latex_tables(results, dataset_table([synthetic.summary(tmp_path / "d.csv", "topic0")]), GRID)["table2"]
    assert rows(text)[0] == ["Topic", "Queries", "Documents"]
