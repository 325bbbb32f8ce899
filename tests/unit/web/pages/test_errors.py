"""Tools shows the newest table of refine, escaped; a shared report has none of it."""

from pathlib import Path

import pytest

from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.web.pages.page_data import open_source
from coreloop.web.pages.report import write_report
from coreloop.web.pages.tools import TOOLS
from promoting import write_counterexamples
from showing import page, table

ROW = {
    "tool": "find_city",
    "error": "no <n> of <value>",
    "error_class": "not_found",
    "n_calls": 1200,
    **dict.fromkeys(("n_cases", "n_requests"), 7),
    "n_lost": 3,
    "n_recovered": 4,
    "mender": "user",
    "merged": ["city: never empty, merged on 2026-04-20: 2 calls against it, 0 of them since"],
    **dict.fromkeys(("task", "suggestion"), "Let the error say what the agent should ask the user for."),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = open_workspace(tmp_path)
    for day, rows in (("24", []), ("25", [ROW])):
        path = workspace.counterexamples_dir / f"2026-04-{day}-counterexamples.json"
        write_counterexamples(path, errors=rows)
    (workspace.counterexamples_dir / "2026-04-26-counterexamples.json").write_text("{")
    return workspace


def _page(workspace: Workspace) -> str:
    with open_source(workspace, {}) as source:
        return page(source, TOOLS, root="")


def test_the_newest_readable_table_is_shown(workspace: Workspace):
    shown = _page(workspace)
    ((tool, text, *figures),) = table(shown, "Errors")
    assert (tool, figures) == ("find_city", ["1,200", "3", "4/7", "user"])
    assert "no <n> of <value>" in text
    assert "city: never empty, merged on 2026-04-20" in text
    assert text.count("Let the error say what the agent should ask the user for.") == 2
    assert "<n>" not in shown


def test_a_shared_report_has_no_error(workspace: Workspace, tmp_path: Path):
    with open_source(workspace, {}) as source:
        pages = write_report(source, tmp_path / "report")
    texts = [path.read_text(encoding="utf-8") for path in pages]
    assert any("The table of errors is in no shared report." in text for text in texts)
    assert not any("of &lt;value&gt;" in text for text in texts)
