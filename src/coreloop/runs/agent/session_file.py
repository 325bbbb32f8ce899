"""``.research/agents/SESSION.json``: one line about a session's run, for the Stop hook of its agent."""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import read_file, write_private
from coreloop.base.messages import in_language_of
from coreloop.base.validation import fields_of
from coreloop.runs import events as happened
from coreloop.runs.clock import is_ulid
from coreloop.runs.decide import Continue, decide, seconds_left
from coreloop.runs.events import Event
from coreloop.runs.fold import Folding
from coreloop.runs.folder import FOLDER as RESEARCH
from coreloop.runs.folder import STATE, make_private, private_session, session_folder, write_state
from coreloop.runs.state import State

FOLDER: Final = "agents"
"""Below ``.research``."""
_NAME_CHARS: Final = 100


def session_file(folder: Path, session: str) -> Path:
    """Return a session's file; the hook, which cannot import this, finds it by the same rule."""
    is_plain = session.isascii() and session.replace("-", "").replace("_", "").isalnum()
    if not is_plain or len(session) > _NAME_CHARS:
        session = "x" + sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
    return folder / f"{session}.json"


def waiting_file(folder: Path, session: str) -> Path:
    """Return the file that says that a person has begun a turn since the session worked on its run."""
    return session_file(folder, session).with_suffix(".waits")


def remove_session(path: Path, run_id: str) -> None:
    """Remove a session's file, and the hook's note beside it, if it is about a run."""
    if run_of(path) == run_id:
        for file in (path, path.with_suffix(".block"), path.with_suffix(".waits")):
            file.unlink(missing_ok=True)


def run_of(path: Path) -> str | None:
    """Return the run that a session's file is about; None without a file that can be read."""
    with suppress(WorkspaceError, ValueError):
        status = orjson.loads(read_file(path))
        if isinstance(status, dict):
            return str(status.get("run_id"))
    return None


def run_of_session(root: Path, session: str) -> str | None:
    """Return the run that a session of an agent works on; None without one."""
    run_id = run_of(session_file(root / RESEARCH / FOLDER, session)) if session else None
    return run_id if run_id and is_ulid(run_id) else None


def session_line(state: State) -> bytes:
    """Build the content of the file.

    Parameters
    ----------
    state : State
        After a commit.

    Returns
    -------
    bytes
        ``{"run_id", "session", "status", "goes_on", "iteration", "max_iterations", "cost_usd", "budget_usd",
        "deadline_at", "next", "reason", "note"}`` and a newline. ``deadline_at`` is in seconds of Unix time.
        ``reason`` is what the Stop hook says, ``note`` what the model reads as a person begins a turn.
    """
    now = state.clock
    left, tell = seconds_left(state, now), in_language_of(state.question)
    work = next_work(state)
    facts: dict[str, Any] = {
        **fields_of(state, "run_id", "status", "iteration"),
        "session": state.owner,
        "goes_on": isinstance(decide(state, now), Continue),
        "max_iterations": state.limits.max_iterations,
        "cost_usd": state.spent.usd,
        "budget_usd": state.limits.usd,
        "deadline_at": None if left is None else now.timestamp() + left - state.limits.answer.seconds,
        "next": work,
        "reason": tell(
            "Run {run_id} goes on with iteration {iteration} of {most}: {work}. Run dartlab-coreloop "
            "runs next {run_id}, do what it says, and record the report with dartlab-coreloop runs "
            "record {run_id} --file FILE.",
            run_id=state.run_id,
            iteration=state.iteration + 1,
            most=state.limits.max_iterations,
            work=work,
        ),
        "note": tell(
            "The research run {run_id} waits after iteration {iteration}. Do what the user asks. Only if "
            "that is to go on with the research: dartlab-coreloop runs next {run_id} --session {session}",
            run_id=state.run_id,
            iteration=state.iteration,
            session=state.owner,
        ),
    }
    return orjson.dumps(facts, option=orjson.OPT_APPEND_NEWLINE)


def next_work(state: State) -> str:
    """Say in a line what the next iteration is about, in the language of the question.

    Only by the sub-question's id: its text is data, which `next_step` shows as such.
    """
    tell = in_language_of(state.question)
    part = next((part for part in state.sub_questions if part.is_open), None)
    if part is None and state.counted:
        return tell("look for evidence against the findings")
    if part is None:
        return tell("split the question into sub-questions")
    return tell("answer {part} with a source", part=part.id)


_WORKS: Final = (happened.Opened, happened.IterationCommitted)
"""The session that a run belongs to works on it."""


def publish(root: Path, events: Sequence[Event], new: int) -> None:
    """Write the state of a run, and the file of its agent's session; that of an earlier session goes.

    Parameters
    ----------
    root : Path
        The project's folder.
    events : sequence of Event
        All events of the run.
    new : int
        How many of them are being committed.

    Raises
    ------
    WorkspaceError
        A file cannot be written; nothing is committed then.
    """
    folding, known = Folding(), len(events) - new
    for event in events:
        folding.add(event)
    state = folding.state
    if state.drives_itself:
        folder = root / RESEARCH / FOLDER
        private_session(root, state.run_id)
        make_private(folder)
        owners = [event.owner for event in events[:known] if isinstance(event, happened.Opened)]
        if owners and owners[-1] != state.owner:
            remove_session(session_file(folder, owners[-1]), state.run_id)
        path = session_file(folder, state.owner)
        is_newest = any(isinstance(event, _WORKS) for event in events[known:])
        # otherwise the file of another run of the session stays
        if state.owner and (is_newest or run_of(path) in {None, state.run_id}):
            write_private(path, session_line(state))
    if state.drives_itself or (session_folder(root, state.run_id) / STATE).is_file():
        write_state(root, state)
