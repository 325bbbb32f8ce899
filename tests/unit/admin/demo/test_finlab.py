"""The Korean demo's tool package: its figures, its errors, and that its companies are invented."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from coreloop.admin.demo.run import copy_project, load_tools
from coreloop.admin.demo.scenario import FINLAB
from rows import each_row
from scripted import rows_of, tools_of

TOOLS = tools_of(FINLAB)
NOT_ON_FILE = FINLAB.recipes.any["not_on_file"]
KRX = Path(__file__).parents[5] / "shared" / "data" / "krx_companies.tsv"


@each_row(
    ("name", "args", "error", "words"),
    [
        pytest.param(
            "analysis", {"company": "없는회사", "axis": "배당"}, LookupError, "없는회사", id="company"
        ),
        pytest.param("analysis", {"company": "나린반도체", "axis": "주가"}, ValueError, "수익성", id="axis"),
        pytest.param("analysis", {"company": "나린반도체"}, TypeError, "axis", id="axis forgotten"),
        pytest.param(
            "analysis",
            {"company": "나린반도체", "axis": "배당", "overrides": {"wacc": 0.1}},
            ValueError,
            "exclude_one_off",
            id="override unknown",
        ),
        pytest.param(
            "analysis",
            {"company": "나린반도체", "axis": "배당", "overrides": {"base_year": 1999}},
            ValueError,
            "2020 to 2024",
            id="base year before the first",
        ),
        pytest.param(
            "analysis",
            {"company": "여울수소", "axis": "성장성", "overrides": {"base_year": 2023}},
            ValueError,
            "too few years",
            id="growth from one year",
        ),
        pytest.param("show", {"company": "나린반도체"}, TypeError, "topic", id="topic forgotten"),
        pytest.param("show", {"company": "나린반도체", "topic": "주가"}, ValueError, "손익", id="topic"),
        pytest.param("scan", {"target": "시가총액"}, ValueError, "부채비율", id="target"),
        pytest.param("scan", {"target": "배당", "sector": "항공"}, LookupError, "에너지", id="sector"),
        pytest.param("scan", {"target": "배당", "limit": 0}, ValueError, "1 or more", id="limit"),
        pytest.param(
            "compare",
            {"companies": "나린반도체", "metric": "roe"},
            TypeError,
            "list",
            id="one string is no list",
        ),
        pytest.param(
            "compare",
            {"companies": ["나린반도체"] * 2, "metric": "roe"},
            ValueError,
            "not 1",
            id="the same twice",
        ),
        pytest.param(
            "compare",
            {"companies": ["나린반도체", "들찬푸드"], "metric": "per"},
            ValueError,
            "roe",
            id="metric",
        ),
        pytest.param(
            "trend",
            {"company": "두레칩스", "metric": "sales", "years": 5},
            ValueError,
            "3 on file",
            id="years",
        ),
        pytest.param(
            "trend",
            {"company": "두레칩스", "metric": "sales", "years": 1},
            ValueError,
            "2 or more",
            id="one year",
        ),
    ],
)
def test_bad_input_is_refused_by_name(name, args, error, words):
    with pytest.raises(error, match=words) as caught:
        TOOLS[name](**args)
    assert type(caught.value) is error


def test_an_override_takes_the_one_off_loss_out_and_clears_the_flag():
    filed = TOOLS["analysis"]("들찬푸드", "배당")
    normal = TOOLS["analysis"]("들찬푸드", "배당", overrides={"exclude_one_off": True})
    assert filed["flags"] == ["payout_ratio>1"]
    assert normal["flags"] == []
    row = next(row for row in _rows() if row["name"] == "들찬푸드" and row["year"] == "2024")
    expected = int(row["dividends"]) / (int(row["net_income"]) - int(row["one_off"]))
    assert normal["figures"]["payout_ratio"] == round(expected, 4)


def test_base_year_forgets_later_years():
    earlier = TOOLS["analysis"]("들찬푸드", "배당", overrides={"base_year": 2022})
    assert (earlier["year"], earlier["flags"], earlier["overrides"]) == (2022, [], ["base_year"])


def test_extreme_debt_is_flagged():
    assert TOOLS["analysis"]("여울수소", "안정성")["flags"] == ["debt_ratio>5"]


@each_row("axis", ["수익성", "성장성", "안정성", "현금흐름", "배당"])
def test_every_axis_answers_for_every_company_in_plain_json(axis):
    for company in rows_of(FINLAB):
        result = TOOLS["analysis"](company["name"], axis)
        assert json.loads(json.dumps(result)) == result
        assert result == TOOLS["analysis"](company["code"], axis)


def test_a_trend_is_called_by_its_slope():
    directions = defaultdict(list)
    for company in rows_of(FINLAB):
        line = TOOLS["trend"](company["name"], "debt_ratio", 2)
        directions[line["direction"]].append(line["slope"])
    assert directions.keys() == {"rising", "falling", "flat"}
    assert min(directions["rising"]) > 0 > max(directions["falling"])


def test_low_debt_ranks_first_and_high_margin_ranks_first():
    debts = [row["value"] for row in TOOLS["scan"]("부채비율", limit=30)["rows"]]
    margins = [row["value"] for row in TOOLS["scan"]("영업이익률", limit=30)["rows"]]
    assert debts == sorted(debts)
    assert margins == sorted(margins, reverse=True)
    assert len(debts) == 30


def test_a_short_history_is_compared_over_its_own_years():
    rows = TOOLS["compare"](["여울수소", "도담그리드"], "roe")["rows"]
    assert [list(row["values"]) for row in rows] == [
        ["2023", "2024"],
        ["2020", "2021", "2022", "2023", "2024"],
    ]


def test_balance_sheets_balance():
    assert all(int(row["assets"]) == int(row["liabilities"]) + int(row["equity"]) for row in _rows())


@each_row(
    ("suits", "does_suit"),
    [
        ("anyone", lambda years, _: True),
        ("established", lambda years, _: years == 5),
        ("young but growing", lambda years, _: 3 <= years < 5),
        ("covered", lambda years, row: years == 5 and not _overpays(row)),
        ("strained", lambda _, row: _pays_from_reserves(row) and not _overpays(row)),
        ("overpaying", lambda _, row: _overpays(row)),
    ],
)
def test_the_names_that_suit_a_recipe_are_those_of_the_table(suits, does_suit):
    years = Counter(row["name"] for row in _rows())
    suiting = [row["name"] for row in rows_of(FINLAB) if does_suit(years[row["name"]], row)]
    assert _suiting(suits, list(years)) == suiting


def _suiting(suits, names):
    listed = FINLAB.subjects.only.get(suits)
    return list(listed) if listed else [name for name in names if name not in FINLAB.subjects.all_but[suits]]


def _pays_from_reserves(row):
    return int(row["dividends"]) > int(row["net_income"])


def _overpays(row):
    return _pays_from_reserves(row) and int(row["dividends"]) > int(row["net_income"]) - int(row["one_off"])


def test_a_copied_project_has_the_same_figures_and_no_script(tmp_path):
    copy_project(FINLAB.project, tmp_path)
    analysis = load_tools(tmp_path, "finlab")["analysis"]
    assert analysis("나린반도체", "수익성") == TOOLS["analysis"]("나린반도체", "수익성")
    assert {path.name for path in tmp_path.iterdir()} == {"finlab", "coreloop.yaml"}


def test_no_company_is_a_listed_one():
    if not KRX.exists():
        pytest.skip("the list of listed companies is not here: ../shared/data/krx_companies.tsv")
    with KRX.open(encoding="utf-8", newline="") as table:
        rows = list(csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    listed_codes = {row[0] for row in rows}
    listed = {_folded(name) for row in rows for cell in row[1:] for name in cell.split("|")} - {""}
    invented = {_folded(company["name"]) for company in rows_of(FINLAB)} | {
        _folded(name) for name in NOT_ON_FILE
    }
    assert len(listed) > 2000
    assert not invented & listed
    assert not {company["code"] for company in rows_of(FINLAB)} & listed_codes


def _rows():
    with (FINLAB.project / "finlab" / "companies.csv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def _folded(name):
    return name.casefold().replace(" ", "")
