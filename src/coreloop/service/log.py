"""The log of a service: one JSON object a line, without questions, answers, keys and addresses of sources."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from coreloop.runs.phases import LOGGER

NAME: Final = "coreloop.service"
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


def log_to_stderr() -> None:
    """Send the log of the service, and errors of the libraries below it, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    for name in (*_OWN, *_BELOW):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name in _OWN else logging.ERROR)


def log(event: str, **facts: Any) -> None:
    """Write a line."""
    logging.getLogger(NAME).info(event, extra={"facts": facts})


def log_bug(trace_id: str) -> None:
    """Write the traceback of the current exception."""
    logging.getLogger(NAME).exception("bug", extra={"facts": {"trace_id": trace_id}})
