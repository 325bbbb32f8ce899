"""Give verdicts on requests and proposals.

A promotion that a person closed without merging is a no: a verdict, which `judge` can take back.
"""

import getpass
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.git.repository import user_name
from coreloop.base.git.trailers import promoted_keys
from coreloop.base.github.protocol import PullRequest
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import encodable
from coreloop.base.text import printable
from coreloop.learn.proposals.proposal_files import ProposalsFile, read_every_night
from coreloop.observe.judgments import HumanVerdict, HumanVerdicts, VerdictLetter, append_verdict
from coreloop.observe.reading.decode import RecordLine, find_record

LOOK_BACK: Final = timedelta(days=180)
"""Pull requests opened before are not read; older proposals lie outside of every window."""
_CLOSED: Final = "closed without a merge: "
_BY: Final = "the pull request"


@dataclass(frozen=True, slots=True)
class Proposed:
    """An entry of a day's file.

    Attributes
    ----------
    text : str
        Its line, steps or call.
    is_draft : bool
        Whether it has a text for a docstring, so that it can be promoted.
    is_listed : bool
        Whether the newest file of its kind lists it.
    """

    id: str
    key: str
    day: date
    text: str = ""
    is_draft: bool = True
    is_listed: bool = True


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
    judgment = HumanVerdict(
        id=item_id,
        key=key_of(item_id, workspace),
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


def read_proposed(workspace: Workspace) -> list[Proposed]:
    """Read all proposals of all days, by day; damaged files are skipped, see `damaged_files`."""
    documents = read_every_night(workspace).files.values()
    newest = {type(document): document for document in documents}
    entries = [
        proposed
        for document in documents
        for proposed in _proposed(document, is_newest=document is newest[type(document)])
    ]
    return sorted(entries, key=lambda proposed: (proposed.day, proposed.id))


def damaged_files(workspace: Workspace) -> tuple[str, ...]:
    """A line on each file of proposals that is skipped, with what to do."""
    return read_every_night(workspace).damaged


def _proposed(document: ProposalsFile, *, is_newest: bool) -> Iterator[Proposed]:
    entries = {entry.key: entry for entry in document.entries}
    # `ids` also has entries of earlier runs of the day, whose rejection can be withdrawn.
    for key, id in {**document.ids, **{key: entry.id for key, entry in entries.items()}}.items():
        entry, day = entries.get(key), document.generated_at.date()
        is_draft = entry is not None and entry.suggested_append is not None
        yield Proposed(
            id, key, day, entry.text if entry is not None else "", is_draft, is_newest and entry is not None
        )


def find_request(request_id: str, workspace: Workspace) -> RecordLine | None:
    """Return a request's record in the agent's log or in coreloop's own, or None if absent."""
    logs = (workspace.records_dir, workspace.own_records_dir) if request_id else ()
    return next(filter(None, (find_record(request_id, log) for log in logs)), None)


def key_of(item_id: str, workspace: Workspace) -> str | None:
    """Return the key of a proposal, None for a request; raise `UsageError` for an unknown id."""
    if item_id.startswith(("cand-", "ce-")):
        keys = {entry.id: entry.key for entry in read_proposed(workspace)}
        if item_id in keys:
            return keys[item_id]
        places = f"{workspace.candidates_dir} and {workspace.counterexamples_dir}"
        damaged = damaged_files(workspace)
    else:
        if find_request(item_id, workspace) is not None:
            return None
        places, damaged = f"{workspace.records_dir}", ()
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
            judged_by=_BY,
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
