"""``doctor`` about calls of tools outside any request."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coreloop.admin.checks.registry import check_setup
from coreloop.base.project.workspace import open_workspace

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)


@pytest.mark.parametrize(("age", "n"), [(timedelta(hours=1), 1), (timedelta(days=3), 0)])
def test_recent_calls_outside_a_request_are_a_warning_with_the_remedy(
    age: timedelta, n: int, tmp_path: Path, quiet_git: None
):
    (tmp_path / "coreloop.yaml").write_text("{}\n")
    path = open_workspace(tmp_path).dropped_file
    path.parent.mkdir(parents=True)
    line = {"ts": (NOW - age).isoformat(), "reason": "outside_request", "n": 7}
    path.write_text(json.dumps(line) + "\n")
    diagnoses = [entry for entry in check_setup(tmp_path, now=NOW, environ={}) if entry.check == "outside"]
    assert len(diagnoses) == n
    assert all("7 calls outside a request" in entry.message for entry in diagnoses)
    assert all("contextvars.copy_context().run" in entry.todo for entry in diagnoses)
