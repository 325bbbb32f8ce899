"""docs/measured.md and README's table are current; a figure says when, where and by which command."""

import copy
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts"))

import measured  # noqa: E402 - needs the path above

RESULTS = yaml.safe_load(measured.RESULTS.read_text(encoding="utf-8"))


def test_the_page_and_readme_say_what_the_results_say() -> None:
    assert measured.main(check=True) == 0


@pytest.mark.parametrize("field", ["date", "machine", "command"])
def test_a_figure_without_its_circumstances_is_refused(field: str) -> None:
    results = copy.deepcopy(RESULTS)
    del results["groups"][0]["usual"][field]
    results["groups"][0]["figures"] = [{"what": "a", "measured": "1"}]
    assert [problem for problem in measured.find_problems(results) if f"lacks {field}" in problem]


def test_a_command_whose_script_is_gone_is_refused() -> None:
    results = copy.deepcopy(RESULTS)
    results["groups"][0]["figures"][0]["command"] = "uv run python benchmarks/gone.py"
    assert [problem for problem in measured.find_problems(results) if "benchmarks/gone.py" in problem]


def test_what_is_usual_in_a_group_holds_for_a_figure_that_says_nothing_else() -> None:
    group = {"usual": {"date": "2026-11-29", "machine": "idle"}, "figures": [{"date": "2026-11-30"}]}
    assert measured.figures({"groups": [group]}) == [{"date": "2026-11-30", "machine": "idle"}]


@pytest.mark.parametrize("figure", [{"goal": "1", "missed": False}, {"missed": True}])
def test_a_goal_that_is_absent_or_reached_is_not_missed(figure: dict[str, object]) -> None:
    results = copy.deepcopy(RESULTS)
    results["groups"][0]["figures"] = [{"what": "a", "measured": "1"} | figure]
    assert list(measured.find_problems(results)) == ["a: missed is yes, beside a goal, or absent"]


def test_a_missed_goal_stands_in_the_first_table_and_only_there() -> None:
    first, rest = measured.page(RESULTS).split("\n## ", 2)[1:]
    missed = [row["what"] for row in measured.figures(RESULTS) if "missed" in row]
    assert missed
    assert all(f"| {what} |" in first and f"| {what} |" not in rest for what in missed)
