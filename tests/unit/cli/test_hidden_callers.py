"""Callers that cannot be told: no `/proc`, or a shell of Claude Code."""

from pathlib import Path

import pytest

from coreloop.runs import person_or_agent
from driving import begin, go_on


def test_without_proc_the_ancestors_are_read_by_ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert person_or_agent.require_person("act", {}) == "person"
    monkeypatch.setattr(person_or_agent, "_PROC", tmp_path)
    assert person_or_agent.require_person("act", {}) == "person"
    monkeypatch.setattr(person_or_agent, "_PS", ("false",))
    assert person_or_agent.require_person("act", {}) == "unknown"


@pytest.mark.slow
def test_a_driven_run_is_completed_by_nobody_who_cannot_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry_point
):
    go_on(tmp_path, begin(tmp_path, "false", max_iterations=1, max_failures=1))
    monkeypatch.setenv("CLAUDECODE", "1")
    _, _, errors = entry_point(tmp_path, "runs", "resume")
    assert "run it in a terminal of your own" in errors
