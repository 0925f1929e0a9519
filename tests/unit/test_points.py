import numpy as np
import pandas as pd

from whobenefits.report.inputs import Results
from whobenefits.report.points import unevenness_points

CELL = {"topic": "seas", "task": "title", "llm": "m", "retriever": "bm25", "category": "size", "measure": "ac_rag"}
NOTHING = [pd.DataFrame(columns=["value"])] * 3


def test_the_statistics_of_unevenness_stand_side_by_side_with_what_chance_makes_of_them():
    rows = [
        CELL | {"statistic": "overall", "value": 31.0, "expected": np.nan, "p": np.nan, "p_holm": np.nan},
        CELL | {"statistic": "sd_between_groups", "value": 4.5, "expected": 3.0, "p": 0.2, "p_holm": 0.8},
        CELL | {"statistic": "ratio_to_overall", "value": 0.7, "expected": 0.75, "p": 0.3, "p_holm": 0.9},
    ]
    table = pd.DataFrame(rows).assign(group=None, reason="")
    (got,) = unevenness_points(Results(*NOTHING, unevenness=table)).to_dict("records")
    assert got | CELL == got
    assert (got["overall"], got["sd_between_groups"], got["sd_between_groups_expected"]) == (31.0, 4.5, 3.0)
    assert (got["sd_between_groups_p"], got["sd_between_groups_p_holm"]) == (0.2, 0.8)
    assert (got["ratio_to_overall"], got["ratio_to_overall_p"]) == (0.7, 0.3)
    assert np.isnan(got["difference_between_groups"]) and np.isnan(got["difference_between_groups_p"])


def test_a_run_without_unevenness_has_no_row_but_all_columns():
    got = unevenness_points(Results(*NOTHING))
    assert got.empty and {"overall", "sd_between_groups_p_holm", "note"} <= set(got.columns)
