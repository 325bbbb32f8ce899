"""Code, files, tests and pages stay within the budgets of the page on architecture, which only go down."""

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


def test_budgets_are_only_lowered():
    table = "| learn | 1,200 | 900 |\n| short files | 3 | – |\n"
    sizes = {"learn": 1_150, "short files": 4}
    assert code_lines.lowered(table, sizes) == "| learn | 1,150 | 900 |\n| short files | 3 | – |\n"


def test_comments_docstrings_and_blank_lines_are_no_code(tmp_path: Path):
    file = tmp_path / "room.py"
    file.write_text(
        '"""A room.\n\nIts text.\n"""\n\n# why\nDOORS = (\n    1,  # front\n\n    2,\n)\n', encoding="utf-8"
    )
    assert code_lines.code_lines(file) == 4
