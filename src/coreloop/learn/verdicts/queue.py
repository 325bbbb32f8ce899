"""The queue of proposals that wait for a verdict, the oldest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.learn.verdicts.judge import damaged_files
from coreloop.learn.verdicts.proposal_state import Standpoint, pending, project_states
from coreloop.observe.judgments import HumanVerdicts, read_verdicts


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposal to judge; ``text`` is its line or its steps."""

    id: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Queue:
    """The proposals to judge, the verdicts so far, and the files that were skipped."""

    waiting: Sequence[Waiting]
    judgments: HumanVerdicts
    damaged: tuple[str, ...] = ()


def read_queue(workspace: Workspace, *, now: datetime) -> Queue:
    """List the proposals of a project that nobody has judged or promoted.

    Raises
    ------
    WorkspaceError
        Records or verdicts are unreadable.
    GitError
        The clone is shallow, so its promotions cannot be read.
    """
    judgments = read_verdicts(workspace.judgments_dir)
    states = pending(project_states(workspace, judgments, now=now))
    waiting = [Waiting(one.id, f"{_age(one, now.date())}, never judged", one.text) for one in states]
    return Queue(waiting, judgments, damaged_files(workspace))


def _age(proposal: Standpoint, today: date) -> str:
    if proposal.has_returned:
        return "merged, and helped until the failure came back"
    days = (today - proposal.since).days
    return f"proposed {number_of(days, 'day')} ago" if days > 0 else "proposed today"
