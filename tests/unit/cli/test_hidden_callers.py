"""Callers that cannot be told: no `/proc`, or a shell of Claude Code."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coreloop.runs import person_or_agent

RUNS = f"{sys.executable} -m coreloop runs"


def plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "CORELOOP_"))}


def runs(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*RUNS.split(), *words]
    return subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False, timeout=120, env=plain()
    )


def start(project: Path, script: str, *options: str) -> dict[str, Any]:
    done = runs(project, "start", "--json", "--max-iterations", "1", *options, "--", "sh", "-c", script)
    assert done.stdout, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def test_without_proc_the_ancestors_are_read_by_ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert person_or_agent.require_person("act", {}) == "person"
    monkeypatch.setattr(person_or_agent, "_PROC", tmp_path)
    assert person_or_agent.require_person("act", {}) == "person"
    monkeypatch.setattr(person_or_agent, "_PS", ("false",))
    assert person_or_agent.require_person("act", {}) == "unknown"


@pytest.mark.slow
def test_a_driven_run_is_completed_by_nobody_who_cannot_be_told(tmp_path: Path):
    start(tmp_path, "false", "--max-failures", "1")
    done = subprocess.run(
        [*RUNS.split(), "resume"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=plain() | {"CLAUDECODE": "1"},
    )
    assert "run it in a terminal of your own" in done.stderr
