"""Driven runs for tests: real commands, and a pace that does not wait for long."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.driver.console import Console, CtrlC, DriverPace
from coreloop.runs.driver.driven_run import begin_driven
from coreloop.runs.driver.driver import drive_run
from coreloop.runs.manage import read_run
from coreloop.runs.state import State
from coreloop.runs.stores.store import open_store

QUICK = DriverPace(
    failure_s=0.01, most_failure_s=0.02, rate_limit_s=0.05, most_rate_limit_s=0.1, least_s=0.01
)


def begin(project: Path, script: str, **wishes: Any) -> str:
    """A run of a shell script."""
    workspace = open_workspace(project)
    with open_store(workspace) as store:
        wishes = {"folder": project, **wishes}
        return begin_driven(workspace, store, ("sh", "-c", script), now=datetime.now(UTC), **wishes).run_id


def go_on(
    project: Path, run_id: str, lines: list[str] | None = None, *, ctrl_c: CtrlC | None = None
) -> State:
    """Drive a run until it stops; its lines are added to a list."""
    workspace = open_workspace(project)
    said = [] if lines is None else lines
    with open_store(workspace) as store:
        return drive_run(workspace, store, run_id, Console(said.append, ctrl_c or CtrlC(), os.environ, QUICK))


def state_at(project: Path, run_id: str) -> State:
    with open_store(open_workspace(project)) as store:
        return read_run(store, run_id)


def is_alive(pid: str) -> bool:
    """Whether a process still runs, by /proc."""
    try:
        status = Path("/proc", pid, "stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
