"""Code, files, tests and pages stay within the budgets of the page on architecture."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts"))

import code_lines  # noqa: E402 - needs the path above


def test_nothing_is_above_its_budget():
    sizes = code_lines.measure()
    budgets = code_lines.read_budgets(code_lines.PAGE.read_text(encoding="utf-8"))
    assert sizes.keys() == budgets.keys()
    assert {name: size - budgets[name] for name, size in sizes.items() if size > budgets[name]} == {}
