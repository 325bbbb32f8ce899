"""What waits for a verdict, and one item with all that speaks for and against it: a proposal or a request."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path

from coreloop.base.errors import WorkspaceError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.learn.proposals.proposal_files import read_every_night
from coreloop.learn.proposals.proposed_change import DocstringChange, change_of
from coreloop.learn.verdicts.judge import damaged_files, find_request, key_of
from coreloop.learn.verdicts.proposal_state import (
    UNDECIDED,
    ProposalState,
    Standpoint,
    kept_states,
    pending,
    project_states,
    states_by_key,
)
from coreloop.observe.judgments import HumanVerdict, HumanVerdicts, read_verdicts


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
    """List the proposals of a project that nobody has judged or promoted, the oldest first.

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
    days = (today - proposal.since).days
    return f"proposed {number_of(days, 'day')} ago" if days > 0 else "proposed today"


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call of a request: whether it succeeded, if that is known, and its error."""

    tool: str
    ok: bool | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """A proposal or a request.

    Attributes
    ----------
    text : str
        A proposal's line or steps, or a request's question.
    state, since : ProposalState or None, date or None
        Of a proposal.
    evidence : sequence of str
        The figures of a proposal, in words.
    questions : sequence of str
        Examples from the records of a proposal.
    change : DocstringChange or None
        The docstring before and after; None without an entry in a file of proposals.
    path : Path or None
        The newest file with the proposal.
    calls, error : sequence of JudgedCall, str
        Of a request.
    verdicts : tuple of HumanVerdict
        All of them, the oldest first.
    """

    id: str
    text: str
    key: str | None = None
    state: ProposalState | None = None
    since: date | None = None
    evidence: Sequence[str] = ()
    questions: Sequence[str] = ()
    change: DocstringChange | None = None
    path: Path | None = None
    calls: Sequence[JudgedCall] = ()
    error: str = ""
    verdicts: Sequence[HumanVerdict] = ()

    @property
    def can_be_promoted(self) -> bool:
        """Whether it waits and has a text."""
        return self.state in UNDECIDED and self.change is not None and not self.change.problem


def read_item(workspace: Workspace, item_id: str) -> JudgedItem:
    """Read a proposal or a request by its id.

    Raises
    ------
    UsageError
        The id is unknown.
    WorkspaceError
        A file cannot be read.
    GitError
        The clone is shallow, so what was promoted is not known.
    """
    key = key_of(item_id, workspace)
    return _request(workspace, item_id) if key is None else _proposal(workspace, item_id, key)


def _request(workspace: Workspace, item_id: str) -> JudgedItem:
    record = find_request(item_id, workspace)
    if record is None:  # its file was removed after the id was checked
        raise WorkspaceError("cannot be read", path=workspace.records_dir)
    calls = tuple(JudgedCall(call.name, call.ok, str(call.error or "")) for call in record.calls)
    given = read_verdicts(workspace.judgments_dir).given
    return JudgedItem(
        id=item_id,
        text=record.fields.question or "",
        calls=calls,
        error=str(record.fields.error or ""),
        verdicts=tuple(verdict for verdict in given if verdict.subject == item_id),
    )


def _proposal(workspace: Workspace, item_id: str, key: str) -> JudgedItem:
    judgments = read_verdicts(workspace.judgments_dir)
    states = states_by_key(kept_states(workspace, judgments))
    standpoint = states.get(key, Standpoint(key, ProposalState.FOUND))
    item = JudgedItem(
        id=item_id,
        text=standpoint.text,
        key=key,
        state=standpoint.state,
        since=standpoint.since,
        verdicts=tuple(verdict for verdict in judgments.given if verdict.subject == key),
    )
    files = read_every_night(workspace).files
    for path, document in sorted(files.items(), key=lambda file: file[1].generated_at, reverse=True):
        for entry in document.entries:
            if entry.key == key:
                return replace(
                    item,
                    text=entry.text,
                    evidence=(*entry.evidence, *entry.said),
                    questions=tuple(dict.fromkeys(filter(None, entry.questions))),
                    change=change_of(workspace, entry.suggested_append, entry.refused),
                    path=path,
                )
    return item
