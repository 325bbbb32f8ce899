"""Knowledge gaps that name a tool."""

from pathlib import Path

from coreloop.answer.repair.store import open_repair_store
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.learn.propose import ToolGaps, read_tool_gaps
from researching import MOMENT


def project(folder: Path) -> Workspace:
    (folder / "coreloop.yaml").write_text("tools: {rate_of: {}}\n")
    return open_workspace(folder)


def test_a_project_without_answers_has_no_gaps_and_gets_no_database(tmp_path: Path):
    assert read_tool_gaps(project(tmp_path), {}) == []
    assert not (tmp_path / "data").exists()


def test_open_gaps_are_counted_by_tool(tmp_path: Path):
    workspace = project(tmp_path)
    with open_repair_store(workspace, environ={}) as tables:
        for topic, symbol in (
            ("a?", "Rates.rate_of"),
            ("a?", "Rates.rate_of"),
            ("b?", "rate_of"),
            ("c?", "other"),
        ):
            tables.open_gap(topic=topic, file="", symbol=symbol, reason="insufficient_evidence", now=MOMENT)
        tables.open_gap(topic="d?", file="", symbol="rate_of", reason="search_miss", now=MOMENT)
        tables.close_gaps("d?", by="repair", now=MOMENT)
    assert read_tool_gaps(workspace, {}) == [ToolGaps("rate_of", "insufficient_evidence", 2, 3)]
