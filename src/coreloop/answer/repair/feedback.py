"""What people say of an answer: a verdict, another answer to a rejected one, decisions, and its removal."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_bytes
from typing import Final, Literal

import coreloop.answer.research.answer  # noqa: F401 (registers it)
from coreloop.answer.deps import Deps, deps_here
from coreloop.answer.repair.actions import ANSWER_AGAIN, signalled
from coreloop.answer.repair.store import Feedback, judgment_of
from coreloop.answer.research.answer import AgentResponse, respond
from coreloop.answer.research.research_state import ASK, MENDED, Request, knowledge_of
from coreloop.answer.research.run import begin_research
from coreloop.answer.research.verify import without_citations
from coreloop.answer.text.terms import term_set
from coreloop.base.errors import UsageError
from coreloop.base.messages import in_language_of
from coreloop.base.records import encodable
from coreloop.observe.judgments import append_verdict
from coreloop.runs.clock import new_ulid
from coreloop.runs.events import Noted
from coreloop.runs.jobs.queue import Job
from coreloop.runs.load import load_run
from coreloop.runs.state import State

MAX_REASON_CHARS: Final = 2_000
_NEWEST: Final = 100  # chosen: `last` means an answer of today


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What there is to say about a rejected answer.

    Attributes
    ----------
    kind : str
        ``answer``: the search for another one has ended; ``progress``: it is being worked on; ``none``:
        nobody rejected it.
    text : str
        One line for the person.
    answer : AgentResponse or None
        The other answer; None if there is none.
    """

    kind: Literal["answer", "progress", "none"]
    text: str
    answer: AgentResponse | None = None


def feedback(id: str, value: str | float, reason: str | None = None) -> Feedback:
    """Say whether an answer was good.

    Parameters
    ----------
    id : str
        Of an answer, see `coreloop.answer.research.run.answer`.
    value : {"up", "down"} or float
        A number is 0 to 1; below 0.5 it is ``down``.
    reason : str or None
        In the person's words. It is shown to people, and never part of a prompt.

    Returns
    -------
    Feedback
        Its ``mended_by`` is the id of the run that answers again as soon as a worker is free; "" for none.

    Raises
    ------
    UsageError
        The value is none of these, or the id is that of another run.
    RunNotFoundError
        Nothing has this id.
    RunStoreError
        A database cannot be used.

    Examples
    --------
    >>> import coreloop
    >>> coreloop.feedback("01M83NH9M8PTECSW0ERPZNDMBW", "down", reason="It is 60 days since May")
    """
    with deps_here() as deps:
        return give_feedback(deps, id, value, reason=reason or "")


def give_feedback(deps: Deps, message_id: str, value: str | float, *, reason: str = "") -> Feedback:
    """Store what a person says of an answer.

    Parameters
    ----------
    message_id : str
        Id of an answer.
    value : {"up", "down"} or float
        A number is 0 to 1; below 0.5 it is ``down``.
    reason : str
        In the person's words. It is shown to people, and never part of a prompt. The sentence that it begins
        with, or that has most of its words, is rejected.

    Returns
    -------
    Feedback
        Its ``mended_by`` names the run that answers again, once for an answer. A worker does that, see
        `coreloop.answer.repair.actions.ANSWER_AGAIN`.

    Raises
    ------
    UsageError
        The value is none of these, or the id is that of another run.
    RunNotFoundError
        Nothing has this id.
    WorkspaceError
        The verdict cannot be written; nothing is stored then.
    """
    kind = kind_of(value)
    now = datetime.now(UTC)
    answered = load_run(deps.store, message_id)[0].state
    if answered.kind != ASK:
        raise UsageError(f"run {answered.run_id} is no answer, but {answered.kind}")
    feedback = Feedback(
        id=new_ulid(now, token_bytes(10)),
        chat_id=knowledge_of(answered).request.session_id,
        message_id=message_id,
        kind=kind,
        reason=encodable(reason)[:MAX_REASON_CHARS],
        mended_by="",
        created_at=now,
    )
    # first: if it fails, nothing is stored
    append_verdict(deps.workspace.judgments_dir, judgment_of(feedback))
    if kind == "up":
        deps.tables.accept(answered.question)
    else:
        _reject(deps, answered, reason, now)
        feedback = replace(feedback, mended_by=_mending_run(deps, answered, reason, now))
    deps.tables.add_feedback(feedback)
    return feedback


def kind_of(value: str | float) -> Literal["up", "down"]:
    """Return ``up`` or ``down`` for a value of `give_feedback`.

    Raises
    ------
    UsageError
        It is neither a word of these nor a number from 0 to 1.
    """
    with suppress(ValueError):
        value = float(value)
    if value == "up" or (isinstance(value, int | float) and 0.5 <= value <= 1):
        return "up"
    if value == "down" or (isinstance(value, int | float) and 0 <= value < 0.5):
        return "down"
    raise UsageError(f"feedback is up, down or a number from 0 to 1, not {str(value)[:40]!r}")


def newest_answer(deps: Deps) -> str:
    """Return the id of the newest answer that a person was shown.

    Answers of `verify`, searches for a better answer that found none, and what has not ended are left out.

    Raises
    ------
    UsageError
        There is none.
    """
    for row in deps.store.runs(kind=ASK, limit=_NEWEST):
        state = load_run(deps.store, row.run_id)[0].state
        asked = knowledge_of(state).request
        was_shown = respond(state).supported or not asked.mends
        if state.is_terminal and was_shown and not asked.is_replay:
            return row.run_id
    raise UsageError("no answer yet; ask a question: dartlab-coreloop ask QUESTION")


def mending_job(deps: Deps, message_id: str, run_id: str) -> Job:
    """Return the job that answers a rejected question again; the first rejection puts it into the queue."""
    return deps.queue.put(ANSWER_AGAIN, {"run": run_id}, key=f"{ANSWER_AGAIN} {message_id}", priority=3)


def read_notice(deps: Deps, message_id: str) -> Notice:
    """Return the better answer to a rejected one, or how far it is."""
    run_id = _mended_by(deps, message_id)
    if not run_id:
        return Notice(kind="none", text="nobody rejected this answer")
    state = load_run(deps.store, run_id)[0].state
    tell = in_language_of(state.question)
    if not state.is_terminal:
        return Notice(kind="progress", text=tell("the repair waits for a worker: dartlab-coreloop jobs work"))
    answer = respond(state)
    if not answer.supported:
        return Notice(kind="answer", text=tell("no other evidence was found; a gap is noted"))
    return Notice(kind="answer", text=tell("there is another answer"), answer=answer)


def _reject(deps: Deps, answered: State, reason: str, now: datetime) -> None:
    """Keep the sentence that begins the reason, or has most of its words, so that it does not come back."""
    said, words = map(without_citations, knowledge_of(answered).attempts[-1].said), term_set(reason)
    meant = sorted(said, key=lambda text: (not reason.startswith(text), -len(words & term_set(text))))[:1]
    deps.tables.reject(answered.question, meant, reason=reason, now=now)


def _mending_run(deps: Deps, answered: State, reason: str, now: datetime) -> str:
    """Return the run that answers again; the first rejection creates it, its signal and its job."""
    if known := _mended_by(deps, answered.run_id):
        return known
    session = knowledge_of(answered).request.session_id
    asked = Request(session_id=session, mends=answered.run_id)
    run_id = begin_research(answered.question, asked, deps, kind=ASK, trace_id=answered.trace_id)
    trace_id = load_run(deps.store, run_id)[0].state.trace_id
    noted = signalled("chat", "thumbs_down", trace_id=trace_id, now=now, session_id=session)
    for key, event in ((run_id, noted), (answered.run_id, Noted(at=now, name=MENDED, data=run_id))):
        deps.store.append(key, [event], after=load_run(deps.store, key)[1])
    job = mending_job(deps, answered.run_id, run_id)
    return str(job.payload["run"])  # another one if two reject at once, or if the first was killed here


def _mended_by(deps: Deps, message_id: str) -> str:
    return next((said.mended_by for said in deps.tables.feedback_of(message_id) if said.mended_by), "")
