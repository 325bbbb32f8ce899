"""A question opens a run for an agent, or finds the unfinished runs that ask the same or something near."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from coreloop.answer.agent.read import opening_events
from coreloop.answer.research.same_question import Like, like_sessions
from coreloop.base.project.workspace import Workspace
from coreloop.runs.agent.agent_runs import KIND
from coreloop.runs.limits import Limits, Mode
from coreloop.runs.manage import begin_run
from coreloop.runs.state import TERMINAL
from coreloop.runs.stores.store import Store

Match = Literal["exact", "similar", "none"]
_LATEST = 1_000  # chosen: older ones are not looked for, so that a question takes as long in any store


@dataclass(frozen=True, slots=True)
class LikeRuns:
    """Unfinished runs of agents that are like a question: one that is the same, or up to three."""

    match: Match
    runs: tuple[Like, ...]


def like_runs(store: Store, question: str) -> LikeRuns:
    """Find the unfinished runs of agents that are like a question, by its words alone."""
    rows = [row for row in store.runs(kind=KIND, limit=_LATEST) if row.status not in TERMINAL]
    likes = like_sessions(question, rows)
    exact = tuple(like for like in likes if like.likeness == "exact")
    if exact:
        return LikeRuns("exact", exact[:1])
    return LikeRuns("similar" if likes else "none", likes)


def open_run(
    workspace: Workspace,
    store: Store,
    question: str,
    *,
    mode: Mode,
    limits: Limits,
    now: datetime,
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
