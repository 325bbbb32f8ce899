"""The log of a service: one JSON object a line, without questions, answers, keys and addresses of sources."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from coreloop.runs.phases import LOGGER

NAME: Final = "coreloop.web"
_OWN: Final = (NAME, LOGGER)
_BELOW: Final = ("uvicorn.error", "asyncio", "opentelemetry", "psycopg")


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
