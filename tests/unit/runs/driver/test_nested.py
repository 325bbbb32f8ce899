"""Runs that a driven command starts and leaves: none stays at work without a process."""

import sys
from pathlib import Path

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.stores.store import open_store
from driving import begin, go_on
from rows import slow_after

BEGUN = """
from datetime import UTC, datetime
from pathlib import Path
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.manage import begin_run
from coreloop.runs.active_run import work_on
from coreloop.runs.stores.store import open_store
import os
workspace = open_workspace(Path.cwd())
with open_store(workspace) as store:
    run_id = begin_run(
        workspace, store, "why?", kind="{kind}", now=datetime.now(UTC)
    )
    with work_on(store, run_id):
        os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize(
    ("kind", "status"), slow_after(1, [("research", "failed"), ("ask", "failed"), ("agent", "running")])
)
def test_a_nested_run_whose_process_was_killed_has_failed(kind: str, status: str, tmp_path: Path):
    (tmp_path / "nested.py").write_text(BEGUN.format(kind=kind))
    script = f"echo x > work; {sys.executable} nested.py; true"
    run_id = begin(tmp_path, script, max_iterations=1)
    assert go_on(tmp_path, run_id).stop_reason == "max_iterations"
    with open_store(open_workspace(tmp_path)) as store:
        assert [row.status for row in store.runs(kind=kind)] == [status]
