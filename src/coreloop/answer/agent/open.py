"""A question opens a run for an agent, or finds the unfinished runs that ask the same or something near."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from coreloop.answer.agent.agent_state import BEGAN
from coreloop.answer.research.earlier_researches import Like, like_sessions
from coreloop.base.errors import GitError
from coreloop.base.git.repository import Repository
from coreloop.base.project.workspace import Workspace
from coreloop.runs.agent.agent_runs import KIND
from coreloop.runs.limits import Limits, Mode
from coreloop.runs.manage import begin_run
from coreloop.runs.stores.store import Store


def like_runs(store: Store, question: str) -> tuple[Like, ...]:
    """Find the unfinished runs of agents that are like a question: one that is the same, or up to three."""
    likes = like_sessions(question, store, kind=KIND)
    return likes[:1] if likes and likes[0].likeness == "exact" else likes


def open_run(
    workspace: Workspace, store: Store, question: str, *, mode: Mode, limits: Limits, now: datetime
) -> str:
    """Open a new run that an agent drives; returns its id."""
    return begin_run(
        workspace,
        store,
        question,
        kind=KIND,
        mode=mode,
        limits=limits,
        drives_itself=True,
        first=opening_events(workspace.root),
        now=now,
    )


def opening_events(root: Path) -> list[tuple[str, Any]]:
    """Return what a new run keeps of its project: the commit whose files are older than the run."""
    head = ""
    with suppress(GitError), Repository(root) as repository:
        head = repository.resolve("HEAD") or ""
    return [(BEGAN, {"head": head})]
