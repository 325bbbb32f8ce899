"""Traces of other tools as a test needs them, and what became of them."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coreloop.base.records import Record
from coreloop.observe.argument_sources import Sources
from coreloop.observe.importers import importers
from coreloop.observe.importers.files import TraceFile, UnusableFile
from coreloop.observe.importers.traced_request import SkippedTrace, TracedRequest, record_of
from coreloop.observe.journal import Journal
from coreloop.observe.log_settings import LogSettings

LONG_AGO = 1_700_000_000


def write_lines(path: Path, values: Iterable[Any], *, end: str = "\n") -> Path:
    """JSON lines that nobody has written to for long; a text stands for itself."""
    lines = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def write_document(path: Path, value: Any) -> Path:
    """One JSON document over many lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def trace_file(path: Path, *, quiet_s: float = 1e6) -> TraceFile:
    """A file as if it was named."""
    return TraceFile(path, True, path.stat().st_size, quiet_s)


def read(
    source: str, *paths: Path, quiet_s: float = 1e6
) -> list[TracedRequest | SkippedTrace | UnusableFile]:
    """All that an importer finds."""
    files = [trace_file(path, quiet_s=quiet_s) for path in paths]
    return list(importers()[source].read(files))


def requests(source: str, *paths: Path, quiet_s: float = 1e6) -> list[TracedRequest]:
    """The requests that an importer finds."""
    return [one for one in read(source, *paths, quiet_s=quiet_s) if isinstance(one, TracedRequest)]


def skips(source: str, *paths: Path, quiet_s: float = 1e6) -> list[str]:
    """The reasons of what an importer skips."""
    return [one.reason for one in read(source, *paths, quiet_s=quiet_s) if isinstance(one, SkippedTrace)]


class Session:
    """Lines of a Claude Code session, one second apart."""

    def __init__(self, session_id: str = "s-1") -> None:
        self.lines: list[Any] = []
        self._session_id = session_id

    def line(self, kind: str, message: dict[str, Any], **more: Any) -> "Session":
        second = len(self.lines)
        self.lines.append(
            {
                "type": kind,
                "uuid": f"{self._session_id}-u{second}",
                "sessionId": self._session_id,
                "timestamp": f"2026-04-25T09:{second // 60:02d}:{second % 60:02d}.000Z",
                "message": {"role": kind, **message},
                **more,
            }
        )
        return self

    def user(self, text: Any, **more: Any) -> "Session":
        return self.line("user", {"content": text}, **more)

    def says(self, text: str, **more: Any) -> "Session":
        return self._assistant({"type": "text", "text": text}, **more)

    def calls(self, name: str, args: Any = None, *, id: str = "t-1", **more: Any) -> "Session":
        return self._assistant({"type": "tool_use", "id": id, "name": name, "input": args or {}}, **more)

    def result(self, body: Any = "fine", *, id: str = "t-1", is_error: bool | None = None) -> "Session":
        part = {"type": "tool_result", "tool_use_id": id, "content": body, "is_error": is_error}
        return self.user([part])

    def _assistant(self, part: dict[str, Any], *, stop_reason: str | None = None, **more: Any) -> "Session":
        message = {
            "id": f"m{len(self.lines)}",
            "model": "claude-x",
            "content": [part],
            "stop_reason": stop_reason,
        }
        return self.line("assistant", message, **more)


def otlp_value(value: Any) -> dict[str, Any]:
    """A value as OTLP writes it."""
    if isinstance(value, dict):
        return {
            "kvlistValue": {"values": [{"key": key, "value": otlp_value(one)} for key, one in value.items()]}
        }
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(one) for one in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def span(
    id: str, attributes: dict[str, Any], *, trace: str = "t1", at: int = 0, **more: Any
) -> dict[str, Any]:
    """An OTLP span of one second, ``at`` seconds after the first."""
    begun = 1_777_000_000 + at
    pairs = [{"key": key, "value": otlp_value(value)} for key, value in attributes.items()]
    return {
        "traceId": trace,
        "spanId": id,
        "name": "execute_tool show",
        "startTimeUnixNano": f"{begun}000000000",
        "endTimeUnixNano": f"{begun + 1}000000000",
        "attributes": pairs,
        **more,
    }


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """One export."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def recorded(request: TracedRequest) -> Record:
    """The record of a request, without a project's settings."""
    settings = LogSettings(Journal(Path()), None, [b""])
    return record_of(request, settings, lambda reason: None, Sources())
