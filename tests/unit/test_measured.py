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
    del results["groups"][0]["figures"][0][field]
    assert [problem for problem in measured.find_problems(results) if f"lacks {field}" in problem]


def test_a_command_whose_script_is_gone_is_refused() -> None:
    results = copy.deepcopy(RESULTS)
    results["groups"][0]["figures"][0]["command"] = "uv run python benchmarks/gone.py"
    assert [problem for problem in measured.find_problems(results) if "benchmarks/gone.py" in problem]


def test_a_missed_goal_stands_in_the_first_table_and_only_there() -> None:
    first, rest = measured.page(RESULTS).split("\n## ", 2)[1:]
    missed = [row["what"] for row in measured.figures(RESULTS) if row.get("met") is False]
    assert missed
    assert all(f"| {what} |" in first and f"| {what} |" not in rest for what in missed)
