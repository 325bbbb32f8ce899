"""Notify a command of changes of the status: alarms raised or cleared, candidates that newly wait.

The command runs once per change, with a JSON document on standard input. data/audit/notified.json remembers
which changes were sent. A document contains no user's question.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, BinaryIO, Final, Literal

import msgspec
import orjson

from coreloop.admin.status.status import Status
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import locked, read_file, write_private
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import counted, fitted, printable
from coreloop.promote.project_copy import SECRETS

TIMEOUT_S: Final = 10.0  # chosen: a message takes a second, and status waits for each
MOST_AT_ONCE: Final = 100
_MOST_FAILURES: Final = 3
_RACE_S: Final = 3600.0
"""A status that runs longer than this is not one that another has overtaken."""
_STDERR_BYTES: Final = 4096
_COLUMNS: Final = 200
_OF_LOG: Final = frozenset({"no_record", "future", "outside_window", "torn_lines", "no_candidate", "failing"})
_OF_HISTORY: Final = frozenset({"unmerged", "stability", "hurts"})

ChangeKind = Literal["alarm_raised", "alarm_cleared", "candidate_waits", "verdict_changed"]


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A change of the status.

    Attributes
    ----------
    kind : {"alarm_raised", "alarm_cleared", "candidate_waits", "verdict_changed"}
        Kind of the change.
    key : str
        Its key in notified.json: the alarm's kind, or the candidate's key.
    subject : str
        The alarm's kind, or the candidate's id.
    message : str
        A sentence for people.
    """

    kind: ChangeKind
    key: str
    subject: str
    message: str


@dataclass(slots=True)
class Notified:
    """The changes that were sent, with their times: alarms by kind, candidates by key; ``at`` is the last."""

    alarms: dict[str, str] = field(default_factory=dict)
    candidates: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None

    def note(self, change: StatusChange, generated_at: datetime) -> None:
        """Remember a change."""
        self.at, at = generated_at, generated_at.isoformat(timespec="seconds")
        if change.kind == "alarm_raised":
            self.alarms[change.key] = at
        elif change.kind == "alarm_cleared":
            del self.alarms[change.key]
        elif change.kind == "candidate_waits":
            self.candidates[change.key] = at
        else:
            key, _, verdict = change.key.partition(": ")
            self.verdicts[key] = verdict


class _FailedError(Exception):
    """The command failed; ``hung`` if it exceeded the time limit or could not be started."""

    def __init__(self, reason: str, *, hung: bool = False) -> None:
        super().__init__(reason)
        self.hung = hung


def notify_changes(workspace: Workspace, status: Status, *, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Run the command of ``notify:`` for each change since the last time.

    Processes take turns. A change that the command did not accept is sent again by the next call.

    Parameters
    ----------
    workspace : Workspace
        Without ``notify:`` nothing happens.
    status : Status
        The status of the workspace's own log.
    environ : mapping
        The command's environment; tokens for GitHub are left out.

    Returns
    -------
    tuple of str
        Warnings, printable.
    """
    if not workspace.settings.notify.command:
        return ()
    try:
        with locked(workspace.audit_dir):
            return tuple(_send_changes(workspace, status, environ))
    except WorkspaceError as error:
        return (printable(f"notify: {error}"),)


def find_changes(status: Status, notified: Notified) -> Iterator[StatusChange]:
    """Yield the changes since the last notification; an alarm that could not be checked is not cleared."""
    raised = {alarm.kind: alarm.text for alarm in status.alarms}
    for kind, text in raised.items():
        if kind not in notified.alarms:
            yield StatusChange("alarm_raised", kind, kind, text)
    for kind, since in notified.alarms.items():
        if kind not in raised and _is_checked(kind, status):
            yield StatusChange(
                "alarm_cleared", kind, kind, f"the alarm {kind} is over; it was raised {since}"
            )
    for standing in (status.candidates, status.counterexamples):
        for key, id in standing.waiting.items():
            if key not in notified.candidates:
                yield StatusChange("candidate_waits", key, id, f"{id} waits for a promotion or a verdict")
    yield from _verdict_changes(status, notified)


def _verdict_changes(status: Status, notified: Notified) -> Iterator[StatusChange]:
    """Verdicts that are new or other than the last one sent; ``too early`` is none."""
    for effect in status.effects:
        key, news = f"{effect.change.sha[:10]} {effect.change.tool}", effect.news
        if news and notified.verdicts.get(key) != news:
            subject = effect.change.ids[0] if effect.change.ids else effect.change.sha[:10]
            since = f", since {effect.decided_on}" if news == effect.title else ""
            message = f"{effect.change.tool}: the change {subject}: {news}{since}"
            yield StatusChange("verdict_changed", f"{key}: {news}", subject, message)


def _is_checked(kind: str, status: Status) -> bool:
    if kind in _OF_HISTORY:
        return status.promotions is not None
    return status.log is not None or kind not in _OF_LOG


def _send_changes(workspace: Workspace, status: Status, environ: Mapping[str, str]) -> Iterator[str]:
    path, at = workspace.notified_file, status.generated_at.isoformat(timespec="seconds")
    notified = read_notified(path)
    ahead_s = (notified.at - status.generated_at).total_seconds() if notified.at is not None else 0.0
    if 0 < ahead_s <= _RACE_S:  # a newer status got here first; further ahead, a clock was wrong
        return
    changes = list(find_changes(status, notified))
    failures = 0
    for number, change in enumerate(changes):
        if number == MOST_AT_ONCE or failures == _MOST_FAILURES:
            yield f"notify: {counted(len(changes) - number, 'change')} left for the next status"
            return
        try:
            _run(workspace, _document(change, workspace, at), environ)
        except _FailedError as error:
            yield printable(f"notify: {error}; the next status tries {change.kind} {change.subject} again")
            failures = _MOST_FAILURES if error.hung else failures + 1
            continue
        notified.note(change, status.generated_at)
        write_private(path, orjson.dumps(notified, option=orjson.OPT_INDENT_2))


def read_notified(path: Path) -> Notified:
    """Read the changes that were sent; none if the file is absent.

    Raises
    ------
    WorkspaceError
        The file is unreadable or damaged.
    """
    if not path.exists():
        return Notified()
    try:
        return msgspec.json.decode(read_file(path), type=Notified)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = "is damaged; remove it to be notified of every alarm and candidate again"
        raise WorkspaceError(message, path=path) from error


def _document(change: StatusChange, workspace: Workspace, at: str) -> bytes:
    facts = {
        "kind": change.kind,
        "subject": printable(change.subject),
        "message": printable(change.message),
        "project": printable(workspace.settings.forge.repo or workspace.root.name),
        "at": at,
    }
    return orjson.dumps(facts) + b"\n"


def _run(workspace: Workspace, document: bytes, environ: Mapping[str, str]) -> None:
    command: Sequence[str] = workspace.settings.notify.command
    # a file instead of a pipe: a grandchild could keep a pipe open
    with tempfile.TemporaryFile() as stderr:
        try:
            with subprocess.Popen(
                command,
                cwd=workspace.root,
                env={name: value for name, value in environ.items() if name not in SECRETS},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            ) as process:
                _send(process, document)
        except (OSError, ValueError) as error:  # ValueError: a null character in a word
            reason = getattr(error, "strerror", None) or error
            raise _FailedError(f"{command[0]} cannot be run ({reason})", hung=True) from error
        if process.returncode:
            message = fitted(printable(_last_line(stderr)), _COLUMNS)
            raise _FailedError(f"{command[0]} ended with {process.returncode}: {message}")


def _send(process: subprocess.Popen[bytes], document: bytes) -> None:
    try:
        process.communicate(document, timeout=TIMEOUT_S)
    except BaseException as error:  # Ctrl-C too: the command has a session of its own
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if isinstance(error, subprocess.TimeoutExpired):
            raise _FailedError(f"the command took longer than {TIMEOUT_S:g} s", hung=True) from error
        raise


def _last_line(stderr: BinaryIO) -> str:
    stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - _STDERR_BYTES))
    lines = stderr.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no message"
