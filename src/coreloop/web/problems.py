"""The log of a service, and what a request can get instead of an answer: one status and one sentence."""

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response

from coreloop.answer.models.contracts import ErrorDetail, ErrorResponse
from coreloop.base.errors import (
    BudgetError,
    CoreloopError,
    ModelError,
    RunBusyError,
    RunEndedError,
    RunError,
    RunNotFoundError,
    RunStoreError,
    UsageError,
)
from coreloop.base.text import printable
from coreloop.runs.active_run import LOGGER

NAME: Final = "coreloop.web"
_OWN: Final = (NAME, LOGGER)
_BELOW: Final = ("uvicorn.error", "asyncio", "psycopg")


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


@contextmanager
def logged_to_stderr() -> Iterator[None]:
    """Send the log of the service, and errors of the libraries below it, to stderr until the block ends."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    loggers = [logging.getLogger(name) for name in (*_OWN, *_BELOW)]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if logger.name in _OWN else logging.ERROR)
    try:
        yield
    finally:
        for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)


def log(event: str, **facts: Any) -> None:
    """Write a line."""
    logging.getLogger(NAME).info(event, extra={"facts": facts})


def log_bug(trace_id: str) -> None:
    """Write the traceback of the current exception."""
    logging.getLogger(NAME).exception("bug", extra={"facts": {"trace_id": trace_id}})


_MAX_CHARS: Final = 500
_HTTP_KINDS: Final = {404: "not_found", 405: "method"}


class Problem(Exception):  # noqa: N818 (the word of RFC 9457)
    """A request that cannot be answered.

    Parameters
    ----------
    status : int
        The HTTP status.
    kind : str
        The kind that programs read.
    message : str
        One sentence for people, without secrets and paths of the server.
    retryable : bool
        Whether the same request can succeed later.
    retry_after_s : int or None
        When, if that is known.
    headers : mapping of str to str
        The headers of the response.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.headers = dict(headers or {})
        if retry_after_s is not None:
            self.headers["Retry-After"] = str(retry_after_s)


_KINDS: Final[Mapping[type[CoreloopError], tuple[int, str, bool]]] = {
    RunNotFoundError: (404, "not_found", False),
    RunBusyError: (409, "busy", True),
    RunEndedError: (409, "ended", False),
    BudgetError: (429, "budget", True),
    UsageError: (422, "invalid", False),
}


def leaving(run_id: str = "") -> Problem:
    """Build what a request gets that the end of the process interrupts."""
    goes_on = f"run {run_id} goes on in another process, see /runs/{run_id}" if run_id else "ask again"
    return Problem(503, "leaving", f"the service shuts down; {goes_on}", retryable=True, retry_after_s=1)


def problem_of(error: Exception, trace_id: str) -> Problem:
    """Return what a caller sees of an error; what names files of the server, and bugs, are for its log."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        kind = _HTTP_KINDS.get(error.status_code, "http")
        return Problem(error.status_code, kind, error.detail, headers=error.headers)
    if not isinstance(error, CoreloopError):
        log_bug(trace_id)
        return Problem(500, "internal", "a bug of the service; its log has the trace id of this response")
    problem = _known(error)
    if problem.status >= 500:
        log("error", error=str(error), trace_id=trace_id)
    return problem


def _known(error: CoreloopError) -> Problem:
    if isinstance(error, ModelError):
        return Problem(502, error.kind, str(error), retryable=error.is_retryable)
    for kind, (status, name, retryable) in _KINDS.items():
        if isinstance(error, kind):
            return Problem(status, name, str(error), retryable=retryable)
    if isinstance(error, RunError) and not isinstance(error, RunStoreError):
        return Problem(409, "unreadable", str(error))
    message = "the service cannot use its files or its database; its log says why"
    return Problem(503, "unavailable", message, retryable=True, retry_after_s=5)


def problem_response(problem: Problem) -> Response:
    """Build the response."""
    body = msgspec.json.encode(error_response(problem))
    return Response(body, problem.status, problem.headers, media_type="application/json")


def error_response(problem: Problem) -> ErrorResponse:
    """Return what the body of the response is, and the last event of a stream.

    Its message is of bounded length and on one line; it may quote a request.
    """
    text = printable(str(problem.message)[:_MAX_CHARS])
    message = " ".join(text.encode("utf-8", "replace").decode().split())
    detail = ErrorDetail(type=problem.kind, message=message, retryable=problem.retryable)
    return ErrorResponse(error=detail)
