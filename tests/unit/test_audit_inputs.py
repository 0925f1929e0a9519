"""Reading results made elsewhere: what is accepted, and the one error for what is not."""

import audited
import pytest

from whobenefits.audit.audit import audit
from whobenefits.audit.files import audited_files, known_fields
from whobenefits.audit.inputs import read_inputs
from whobenefits.audit.recomputed import overall_means, ranges, valued_without_query
from whobenefits.audit.summary import finding
from whobenefits.errors import DataError

FIELDS = known_fields()


def edited(rows, at, **values):
    return [row | values if i == at else row for i, row in enumerate(rows)]


def without(rows, column):
    return [{name: value for name, value in row.items() if name != column} for row in rows]


ACCURACY, FACTORS, SIZES = audited.accuracy_rows(), audited.factor_rows(), audited.size_rows()
OVERALL = [audited.CELL | {"retriever": "r1", "avg_baseline": 0.3, "avg_rag": 0.33}]
STORED = [
    audited.CELL
    | {"field": "years_category", "factor": "utility", "authors_file_rho_acrag": 0.4, "authors_file_rho_delta": 0.2}
]
TABLE = [
    {"topic": "lakes", "task": "title", "category": "Alp", "llm": "m", "position": 1, "column": "none", "value": 30},
    {"topic": "lakes", "task": "title", "category": "Alp", "llm": "m", "position": 2, "column": "r1", "value": 30},
]

# Row 1 is the header, so the row at index 2 stands in row 4.
FAULTS = {
    "a missing column": ("group_accuracy", without(ACCURACY, "group"), ["row 1", "group", "add"]),
    "an unknown field": ("group_accuracy", edited(ACCURACY, 2, field="year_category"), ["row 4", "'years_category'"]),
    "an unknown group": ("group_accuracy", edited(ACCURACY, 2, group="m-r"), ["row 4", "'m-r'", "l-r"]),
    "an unknown setting": ("group_accuracy", edited(ACCURACY, 2, setting="RAG"), ["row 4", "setting", "'RAG'"]),
    "a group twice": ("group_accuracy", [*ACCURACY, ACCURACY[1]], ["row 26", "row 3", "remove one"]),
    "a missing group": ("group_accuracy", ACCURACY[1:], ["'a-d'", "add one"]),
    "percentages": (
        "group_accuracy",
        edited(ACCURACY, 2, value=28.4),
        ["row 4", "'28.4'", "divide percentages by 100"],
    ),
    "no number": ("group_accuracy", edited(ACCURACY, 2, value="high"), ["row 4", "'high'"]),
    "infinity": ("group_accuracy", edited(ACCURACY, 2, value="inf"), ["row 4", "'inf'"]),
    "a reserved name": ("group_accuracy", edited(ACCURACY, 6, retriever="mean"), ["retriever", "'mean'"]),
    "no results without documents": ("group_accuracy", ACCURACY[4:], ["first_letter_category", "setting llm"]),
    "two baselines": (
        "group_accuracy",
        [*ACCURACY, *(row | {"retriever": "r2", "value": 0.9} for row in ACCURACY[:4])],
        ["row 26", "keep one"],
    ),
    "a share above one": ("group_factors", edited(FACTORS, 2, prob_utility=1.2), ["row 4", "prob_utility", "[0, 1]"]),
    "factors of no accuracy": ("group_factors", edited(FACTORS, 2, retriever="r9"), ["row 4", "r9", "remove"]),
    "an accuracy without factors": ("group_factors", FACTORS[1:], ["a-d", "1 missing"]),
    "half a query": ("group_sizes", edited(SIZES, 2, n=1.5), ["row 4", "'1.5'", "whole number"]),
    "a size twice": ("group_sizes", [*SIZES, SIZES[0]], ["row 10", "row 2"]),
    "a mean of an unknown topic": ("overall_accuracy", edited(OVERALL, 0, topic="lake"), ["row 2", "'lakes'"]),
    "two means without documents": (
        "overall_accuracy",
        [*OVERALL, OVERALL[0] | {"retriever": "r2", "avg_baseline": 0.4}],
        ["row 3", "avg_baseline", "keep one"],
    ),
    "a correlation above one": ("spearman_aligned", edited(STORED, 0, authors_file_rho_acrag=1.4), ["row 2", "'1.4'"]),
    "an unknown factor": ("spearman_aligned", edited(STORED, 0, factor="use"), ["row 2", "'use'", "factor"]),
    "a correlation of no result": ("spearman_aligned", edited(STORED, 0, task="article"), ["row 2", "article"]),
    "an unknown column": ("printed_table4", edited(TABLE, 1, column="r3"), ["row 3", "'r3'", "none, r1, r2"]),
    "an unknown category": ("printed_table4", edited(TABLE, 1, category="AoA"), ["row 3", "'AoA'"]),
    "a position that is none": ("printed_table4", edited(TABLE, 1, position=3), ["row 3", "'3'"]),
    "a printed number that is none": ("printed_table4", edited(TABLE, 1, value="6.o"), ["row 3", "'6.o'"]),
    "a position twice": ("printed_table4", edited(TABLE, 1, position=1), ["row 3", "row 2"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_error_with_file_row_and_remedy(tmp_path, name):
    file, rows, parts = FAULTS[name]
    folder = audited.write_folder(tmp_path, **{file: rows})
    with pytest.raises(DataError) as error:
        read_inputs(folder, FIELDS)
    message = str(error.value)
    assert message.startswith(str(tmp_path / f"{file}.csv")) and "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize("content", ["", "task,topic\n", "task\n\x00\xff", 'task,"\n'])
def test_a_file_that_is_no_table_is_an_error(tmp_path, content):
    folder = audited.write_folder(tmp_path)
    (folder / "group_accuracy.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=r"group_accuracy\.csv"):
        read_inputs(folder, FIELDS)


def test_a_folder_without_accuracies_is_an_error(tmp_path):
    with pytest.raises(DataError, match="is not there"):
        read_inputs(tmp_path, FIELDS)
    assert audited_files(tmp_path) == []


def test_two_categories_of_one_name_are_an_error(tmp_path):
    rows = [
        *ACCURACY,
        *(row | {"field": "alphabetical"} for row in ACCURACY if row["field"] == "first_letter_category"),
    ]
    with pytest.raises(DataError, match="both called Alp"):
        read_inputs(audited.write_folder(tmp_path, group_accuracy=rows), FIELDS)


def test_categories_of_the_settings_are_known_by_name_and_by_field():
    own = {"size": {"field": "size_of_page", "label": "Size", "short": "Siz", "groups": ["small", "large"], "note": ""}}
    fields = known_fields(own)
    assert fields["size"] == fields["size_of_page"] == {"label": "Size", "short": "Siz", "groups": ["small", "large"]}
    assert fields["years_category"]["short"] == "AoT"


def test_the_overall_mean_weights_groups_by_their_sizes(tmp_path):
    # First letter, r1: (1·0.5 + 2·0.2 + 3·0.4 + 4·0.3) / 10 = 3.3 / 10.
    # Years, r1: (4·0.31 + 3·0.32 + 2·0.34 + 1·0.38) / 10 = 3.26 / 10.
    # The categories disagree by 0.004, as they must not in real results.
    table = overall_means(read_inputs(audited.write_folder(tmp_path, overall_accuracy=OVERALL), FIELDS))
    row = table[table["retriever"] == "r1"].iloc[0]
    assert row["mean"] == pytest.approx(0.33)
    assert row["spread"] == pytest.approx(0.004)
    assert row["difference"] == pytest.approx(0, abs=1e-12)


def test_sizes_are_counted_in_a_topic_s_list_of_queries(tmp_path):
    folder = audited.write_folder(tmp_path, group_sizes=None)
    queries = [{"docno": i, "first_letter_category": "a-d", "years_category": "Unknown"} for i in range(3)]
    audited.write_csv(folder / "query_ids_lakes.csv", [*queries, queries[0] | {"first_letter_category": "s-"}])
    sizes = read_inputs(folder, FIELDS).sizes
    assert [sizes["lakes", "first_letter_category", group] for group in audited.LETTERS] == [3, 0, 0, 1]


def test_a_group_without_a_query_is_left_out_of_ranges(tmp_path):
    # R_rag of r1 over first letters without a-d (0.5): 0.4 - 0.2.
    rows = [row | {"value": ""} if row["group"] == "a-d" else row for row in ACCURACY]
    inputs = read_inputs(audited.write_folder(tmp_path, group_accuracy=rows, group_sizes=None), FIELDS)
    table = ranges(inputs).query("category == 'first_letter_category' and retriever == 'r1' and measure == 'r_rag'")
    assert table["value"].item() == pytest.approx(20) and table["n_empty"].item() == 1
    assert overall_means(inputs)["mean"].isna().all()


def test_a_value_of_a_group_without_a_query_counts_in_ranges_and_is_reported(tmp_path):
    # Whoever scores an empty group (here a-d: 0.5) has ranges with it: 0.5 - 0.2. The overall mean is without it.
    folder = audited.write_folder(tmp_path, group_sizes=edited(SIZES, 0, n=0))
    inputs = read_inputs(folder, FIELDS)
    table = ranges(inputs).query("category == 'first_letter_category' and retriever == 'r1' and measure == 'r_rag'")
    assert table["value"].item() == pytest.approx(30)
    assert valued_without_query(inputs) == 3  # the LLM alone and two retrievers
    # (2·0.2 + 3·0.4 + 4·0.3) / 9
    row = overall_means(inputs).query("retriever == 'r1'").iloc[0]
    assert row["mean"] == pytest.approx(2.8 / 9)
    assert "3 accuracies are given for groups without a query" in " ".join(finding(audit(folder, FIELDS)))
