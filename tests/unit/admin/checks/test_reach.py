"""``doctor`` reads the tools' descriptions as ``reach:`` says, instead of believing it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.admin.checks.diagnosis import Diagnosis
from coreloop.admin.checks.registry import check_setup

TOOLS = '{"name": "refund", "description": "Pays back."}, {"name": "search", "description": "Finds."}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "support.py").write_text("agent = []\n")
    return tmp_path


def reach(project: Path, setting: str) -> Diagnosis:
    (project / "coreloop.yaml").write_text(f"reach: {setting}\n", encoding="utf-8")
    results = check_setup(project, now=datetime(2026, 4, 25, tzinfo=UTC), environ={})
    return next(result for result in results if result.check == "reach")


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        ("support:agnt", "support has no agnt; change tools under reach: in coreloop.yaml"),
        ("suport:agent", "there is no module suport; change tools under reach: in coreloop.yaml"),
    ],
)
def test_a_misspelt_name_of_the_tools_is_a_fault(project: Path, tools: str, says: str):
    diagnosis = reach(project, f'{{framework: fastmcp, tools: "{tools}"}}')
    assert (diagnosis.level, diagnosis.message) == ("fault", f"reach: {says}")
    assert "reach:" in diagnosis.todo


@pytest.mark.parametrize(
    ("printed", "level", "says"),
    [
        (f"[{TOOLS}]", "ok", "measured: from the schema command, 2 tools"),
        ("[]", "fault", "has no tool with a name and a description"),
        ("not JSON", "fault", "did not print JSON"),
    ],
)
def test_what_the_schema_command_prints_decides(project: Path, printed: str, level: str, says: str):
    (project / "schema.py").write_text(f"import support\nprint({printed!r})\n")
    before = sorted(path.name for path in project.iterdir())
    diagnosis = reach(project, "{command: [python, -m, schema]}")
    assert diagnosis.level == level
    assert says in diagnosis.message
    assert sorted(path.name for path in project.iterdir()) == sorted([*before, "coreloop.yaml"])


def test_a_schema_command_that_fails_is_a_fault(project: Path):
    diagnosis = reach(project, "{command: [python, -c, 'import nothing_here']}")
    assert diagnosis.level == "fault"
    assert "nothing_here" in diagnosis.message
