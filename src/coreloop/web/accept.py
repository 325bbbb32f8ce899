"""A question that was accepted: a run under an id that a repeated request finds again, and its job."""

from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from secrets import token_bytes
from typing import Final

import msgspec
from starlette.concurrency import run_in_threadpool

from coreloop.answer.repair.queued import queue_run
from coreloop.base.messages import Phrase
from coreloop.runs.jobs.job import Job
from coreloop.runs.ulid import new_ulid
from coreloop.web.problems import Problem
from coreloop.web.route import HttpCall

Begin = Callable[..., str]
"""Called with ``run_id`` and ``trace_id``; creates the run unless it exists, and returns its id."""
_MAX_KEY_CHARS: Final = 200


async def accept(call: HttpCall, kind: str, begin: Begin) -> tuple[str, Job]:
    """Create the run of a question and queue it; a repeated idempotency key finds the first one.

    Parameters
    ----------
    call : HttpCall
        The request.
    kind : str
        The kind of the run.
    begin : callable
        See `Begin`.

    Raises
    ------
    Problem
        Too many runs wait, the key is not one, or it was used for another request.
    """
    call.service.admission.run(call.caller)
    return await run_in_threadpool(_accepted, call, kind, begin)


def _accepted(call: HttpCall, kind: str, begin: Begin) -> tuple[str, Job]:
    service = call.service
    queue = service.deps.queue
    if service.backlog.number() >= service.settings.max_queued:
        raise Problem(503, "busy", "too many runs wait; ask again later", retryable=True, retry_after_s=10)
    service.spending.require(call.caller, now=datetime.now(UTC))
    run_id = begin(run_id=_run_id(call), trace_id=call.trace_id)
    service.spending.begin(call.caller, run_id)
    call.request.scope["coreloop.run_id"] = run_id  # for the log
    job = queue_run(queue, kind, run_id)
    service.outage.worked()
    service.workers.wake()
    return run_id, job


def _run_id(call: HttpCall) -> str:
    now, key = datetime.now(UTC), call.request.headers.get("idempotency-key")
    if key is None:
        return new_ulid(now, token_bytes(10))
    if not (key and len(key) <= _MAX_KEY_CHARS and key.isascii() and key.isprintable()):
        raise Problem(
            422,
            "invalid",
            Phrase("Idempotency-Key is up to {most} printable characters", most=_MAX_KEY_CHARS),
        )
    asked = sha256(call.request.url.path.encode() + b"\0" + msgspec.json.encode(call.body)).digest()
    return call.service.claims.run_of(call.key.name, key, asked, now=now)
