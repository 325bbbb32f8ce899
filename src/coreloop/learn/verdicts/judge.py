"""Give verdicts on requests and proposals, and show what speaks for and against them.

A promotion that a person closed without merging is a no: a verdict, which `judge` can take back.
"""

import getpass
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from difflib import ndiff
from inspect import cleandoc
from pathlib import Path
from typing import Any, Final, NamedTuple

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.git.repository import user_name
from coreloop.base.git.trailers import promoted_keys
from coreloop.base.github.protocol import PullRequest
from coreloop.base.project.python_source import UnprovenError
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import encodable
from coreloop.base.text import printable
from coreloop.descriptions.own_lines import text_of
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.texts import put_lines
from coreloop.learn.proposals.allowed_lines import is_form
from coreloop.learn.proposals.entry import Entry
from coreloop.learn.proposals.proposal_files import damaged_files, read_proposed
from coreloop.learn.propose import read_examples
from coreloop.learn.verdicts.proposal_state import ProposalState, kept_states
from coreloop.observe.judgments import (
    HumanVerdict,
    HumanVerdicts,
    VerdictLetter,
    append_verdict,
    read_verdicts,
)
from coreloop.observe.reading.decode import RecordLine, find_record

LOOK_BACK: Final = timedelta(days=180)
"""Pull requests opened before are not read; older proposals lie outside of every window."""
_CLOSED: Final = "closed without a merge: "


def judge(
    workspace: Workspace, item_id: str, verdict: VerdictLetter, *, cause: str | None, by: str, now: datetime
) -> tuple[HumanVerdict, Path]:
    """Append a verdict to the file of the UTC day.

    Parameters
    ----------
    workspace : Workspace
        Must contain the item.
    item_id : str
        Id of a candidate (``cand-…``), a counterexample (``ce-…``) or a request.
    verdict : VerdictLetter
    cause, by : str or None, str
        The reason, and the person who judges.

    Raises
    ------
    UsageError
        The id is unknown.
    WorkspaceError
        A file cannot be read or written.
    """
    found = _find(item_id, workspace)
    judgment = HumanVerdict(
        id=item_id,
        key=found if isinstance(found, str) else None,
        verdict=verdict,
        cause=encodable(cause) if cause and not cause.isspace() else None,
        judged_at=now.astimezone(UTC),
        judged_by=encodable(by),
    )
    return judgment, append_verdict(workspace.judgments_dir, judgment)


def judge_name(given: str, folder: Path) -> str:
    """Return the name of who judges: as given, or git's ``user.name``, or the login name.

    Raises
    ------
    UsageError
        There is none.
    """
    name = " ".join(given.split()) or user_name(folder)
    try:
        return name or getpass.getuser()
    except (OSError, KeyError, ImportError) as error:  # a container without an entry for its user
        raise UsageError("no name for the verdict; give --by NAME, or set git's user.name") from error


def _find(item_id: str, workspace: Workspace) -> str | RecordLine:
    """Return the key of a proposal, or the record of a request in the agent's log or in coreloop's own."""
    is_proposal = item_id.startswith(("cand-", "ce-"))
    keys = {entry.id: entry.key for entry in read_proposed(workspace)} if is_proposal else {}
    logs = (workspace.records_dir, workspace.own_records_dir) if item_id and not is_proposal else ()
    found = keys.get(item_id) or next(filter(None, (find_record(item_id, log) for log in logs)), None)
    if found is not None:
        return found
    proposals = f"{workspace.candidates_dir} and {workspace.counterexamples_dir}"
    places, damaged = (proposals, damaged_files(workspace)) if is_proposal else (workspace.records_dir, [])
    todo = "; ".join(["copy an id from there or from the queue", *damaged])
    raise UsageError(f"no {printable(item_id)} in {places}; {todo}")


def reject_closed(
    workspace: Workspace,
    pulls: Iterable[PullRequest],
    *,
    judgments: HumanVerdicts,
    known: frozenset[str],
    now: datetime,
) -> list[HumanVerdict]:
    """Record a V for each proposal whose pull request was closed without a merge.

    Parameters
    ----------
    workspace : Workspace
        The project; only what it proposed gets a verdict, since anyone may edit a pull request's text.
    pulls : iterable of PullRequest
        Closed and not merged.
    judgments : HumanVerdicts
        A pull request that has its verdict gets no second one: the newer verdict of a person counts.
    known : frozenset of str
        Keys that are merged, or open in another pull request.
    now : datetime
        UTC.
    """
    ids = {proposal.key: proposal.id for proposal in read_proposed(workspace)}
    given = {(judgment.key, judgment.cause) for judgment in judgments.given}
    new = [
        HumanVerdict(
            id=ids[key],
            key=key,
            verdict=VerdictLetter.VIOLATION,
            cause=f"{_CLOSED}{pull.url}",
            judged_at=now,
            judged_by="the pull request",
        )
        for pull in pulls
        for key in promoted_keys(pull.message)
        if key in ids and key not in known and (key, f"{_CLOSED}{pull.url}") not in given
    ]
    for judgment in new:
        append_verdict(workspace.judgments_dir, judgment)
    return new


def reopened_keys(judgments: HumanVerdicts) -> frozenset[str]:
    """Keys whose pull request was closed without a merge, and which a person accepted afterwards."""
    closed = {judgment.key for judgment in judgments.given if (judgment.cause or "").startswith(_CLOSED)}
    newest = judgments.newest()
    return frozenset(key for key in closed if key is not None and newest[key].verdict.passes)


# --- What a proposal would change: its tool's docstring in the working tree, before and after.


class DocstringChange(NamedTuple):
    """A docstring before and after; ``problem`` says why there is none.

    Attributes
    ----------
    target : str
        As in `coreloop.descriptions.texts`.
    lines : sequence of str
        The whole text, each line behind two blanks, ``- `` or ``+ ``.
    """

    target: str = ""
    lines: Sequence[str] = ()
    problem: str = ""


def change_of(workspace: Workspace, entry: Entry) -> DocstringChange:
    """Edit the docstring that a proposal is for, as it is in the working tree, in memory."""
    suggested = entry.suggested_append
    if suggested is None:
        return DocstringChange(problem=entry.refused or "no text was drafted")
    if suggested.target_file is None or suggested.target_symbol is None:
        todo = "name it under tools: in coreloop.yaml"
        return DocstringChange(problem=f"the tool's definition is not known; {todo}")
    target = f"{suggested.target_file}::{suggested.target_symbol}"
    path = workspace.root / suggested.target_file
    if not path.resolve().is_relative_to(workspace.root.resolve()):
        return DocstringChange(target, problem="the target is outside of the project")
    settings = workspace.settings.docstring
    try:
        section = suggested.section if settings.placement == "section" else None
        wanted = Wanted(tuple(suggested.body.splitlines()), section, settings.style, is_form)
        source = read_file(path)
        edited = put_lines(suggested.target_file, source, text_of(source, target), wanted)
    except (WorkspaceError, UnprovenError) as reason:
        return DocstringChange(target, problem=str(reason))
    before, after = (cleandoc(side).splitlines() for side in (edited.before, edited.after))
    return DocstringChange(target, [line for line in ndiff(before, after) if not line.startswith("?")])


# --- One item with all that speaks for and against it.


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
    failing, working : sequence of str
        The newest calls against a statement that failed, and others that worked: shapes stand for values.
    calls, error : sequence of mapping, str
        Of a request; of each call ``tool``, ``ok`` (None if that is not known) and ``error``.
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
    failing: Sequence[str] = ()
    working: Sequence[str] = ()
    calls: Sequence[Mapping[str, Any]] = ()
    error: str = ""
    verdicts: Sequence[HumanVerdict] = ()


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
    found = _find(item_id, workspace)
    judgments = read_verdicts(workspace.judgments_dir)
    key = found if isinstance(found, str) else None
    given = tuple(verdict for verdict in judgments.given if verdict.subject == (key or item_id))
    if isinstance(found, RecordLine):
        return JudgedItem(
            id=item_id,
            text=found.fields.question or "",
            calls=[{"tool": one.name, "ok": one.ok, "error": str(one.error or "")} for one in found.calls],
            error=str(found.fields.error or ""),
            verdicts=given,
        )
    [standpoint] = [one for one in kept_states(workspace, judgments) if one.key == key]
    newest = standpoint.last
    item = JudgedItem(
        id=item_id,
        text=standpoint.text,
        key=key,
        state=standpoint.state,
        since=standpoint.since,
        verdicts=given,
    )
    if newest is None or newest.entry is None:
        return item
    failing, working = read_examples(workspace, newest.entry)
    return replace(
        item,
        failing=failing,
        working=working,
        evidence=(*newest.entry.evidence, *newest.entry.said),
        questions=tuple(dict.fromkeys(filter(None, newest.entry.example_questions))),
        change=change_of(workspace, newest.entry),
        path=newest.path,
    )
