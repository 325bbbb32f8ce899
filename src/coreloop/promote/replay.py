"""Asking the example questions again, and comparing the agent's steps with the pattern. Fails closed."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec

from coreloop.base.http import ExchangeError, HttpClient, HttpRequest
from coreloop.base.records import hash_sequence
from coreloop.base.waiting import wait_until
from coreloop.observe.reading.decode import Skipped, call_step, decode_line
from coreloop.observe.reading.fields import CallFields
from coreloop.observe.reading.outcome import is_ok

_LEAST_AGREED: Final = 2  # a single run may agree by chance
_POLL_S: Final = 0.2
_REASONS: Final = {
    "too_late": "the endpoint did not answer in time",
    "unreachable": "the endpoint cannot be reached",
    "too_long": "the answer is too long",
}
_NO_RECORD: Final = "the request's record did not appear in the audit log in time"
_OTHER_HASH: Final = "the answer has another hash and names no tool calls"
_MAX_ANSWER_BYTES: Final = 10_000_000


class ReplayVerdict(StrEnum):
    """The result of a replay; only ``reproduced`` allows a promotion without an option."""

    REPRODUCED = "reproduced"
    INCONCLUSIVE = "inconclusive"
    NOT_REPRODUCED = "not_reproduced"
    UNAVAILABLE = "unavailable"
    NOT_APPLICABLE = "not-applicable"
    NOT_ASKED = "not-asked"


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """A replayed question: whether the agent took the steps in order, None if unknown."""

    agrees: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class Replay:
    """All runs, and the verdict on them."""

    verdict: ReplayVerdict
    runs: tuple[ReplayRun, ...]

    @property
    def summary(self) -> str:
        """A clause for output, trailers and pull requests; never contains a question."""
        if self.verdict is ReplayVerdict.NOT_ASKED:
            return "not asked; use --ask to replay in a dry run (the agent's tools then really run)"
        if self.verdict is ReplayVerdict.NOT_APPLICABLE:
            return "not-applicable; there is no sequence of calls to repeat"
        if not self.runs:
            return self.verdict.value
        agreed = sum(run.agrees is True for run in self.runs)
        reasons = sorted({run.reason for run in self.runs if run.agrees is not True})
        listed = "; ".join(reasons)
        return (
            f"{self.verdict.value} ({agreed} of {len(self.runs)} runs agree"
            f"{(f': {listed}' if reasons else '')})"
        )


class AnswerFields(msgspec.Struct):
    """The fields of the endpoint's answer that a replay reads."""

    tool_calls: list[CallFields | str] | None = None
    tool_sequence_hash: str | None = None
    request_id: str | None = None
    tool_calls_omitted: int | None = None


class UnusableAnswerError(Exception):
    """An answer without information about the sequence; the text is the reason."""


class Endpoint(Protocol):
    """Asks a question; raises `UnusableAnswerError` without a usable answer."""

    def ask(self, question: str) -> AnswerFields:
        """The agent's answer."""


class HttpEndpoint:
    """The endpoint of coreloop.yaml.

    Parameters
    ----------
    url : str
        Takes ``{"question", "stream": false, "origin": "replay"}``. Redirects are not followed and proxies
        not used, so questions go only to this address.
    timeout_s : float
        Limit per question, from name resolution to the last byte of the answer.
    """

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._client = HttpClient()

    def __enter__(self) -> "HttpEndpoint":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.__exit__()

    def ask(self, question: str) -> AnswerFields:
        """Ask once."""
        body = {"question": question, "stream": False, "origin": "replay"}
        mark = {"X-Coreloop-Replay": "1"}
        request = HttpRequest(method="POST", url=self._url, json=body, headers=mark)
        try:
            answer = self._client.exchange(request, timeout_s=self._timeout_s, max_bytes=_MAX_ANSWER_BYTES)
        except ExchangeError as error:
            raise UnusableAnswerError(_REASONS.get(error.failure, str(error))) from error
        if answer.status != 200:
            raise UnusableAnswerError(f"the endpoint answered {answer.status}")
        try:
            return msgspec.json.decode(answer.content, type=AnswerFields)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UnusableAnswerError("the answer is not JSON of the expected form") from error


class AuditLog:
    """The log of the answered requests, for endpoints that return only a request's id.

    Each file is read incrementally.
    """

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self._folder = folder
        self._timeout_s = timeout_s
        self._read_to: dict[Path, int] = {}
        self._seen: dict[str, AnswerFields] = {}

    def steps(self, request_id: str) -> AnswerFields:
        """Wait for the record of a request."""
        deadline = time.monotonic() + self._timeout_s
        if not wait_until(
            lambda: self._is_seen(request_id, deadline), within_s=self._timeout_s, pause_s=_POLL_S
        ):
            raise UnusableAnswerError(_NO_RECORD)
        return self._seen[request_id]

    def _is_seen(self, request_id: str, deadline: float) -> bool:
        for path in self._newest_first():
            self._read_on(path, deadline)
            if request_id in self._seen:
                return True
        return False

    def _newest_first(self) -> list[Path]:
        """Files by modification time: the server's current file may not be the last by name."""
        files: list[tuple[float, Path]] = []
        for path in self._folder.glob("*.jsonl"):
            with suppress(OSError):  # deleted meanwhile
                if path.is_file():
                    files.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(files, reverse=True)]

    def _read_on(self, path: Path, deadline: float) -> None:
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                start = self._read_to.get(path, 0)
                file.seek(start if start <= size else 0)  # shorter: the file was replaced
                for line in iter(file.readline, b""):
                    if time.monotonic() > deadline:
                        raise UnusableAnswerError(_NO_RECORD)
                    if not line.endswith(b"\n"):
                        break  # still being written
                    self._read_to[path] = file.tell()
                    self._note(line)
        except OSError:
            return  # an unreadable file counts as a missing record

    def _note(self, line: bytes) -> None:
        decoded = decode_line(line, replays=True)
        if not isinstance(decoded, Skipped) and (request_id := decoded.fields.request_id):
            fields = decoded.fields
            self._seen[request_id] = AnswerFields(
                fields.tool_calls or [], fields.tool_sequence_hash, request_id, fields.tool_calls_omitted
            )


def replay(
    endpoint: Endpoint,
    steps: Sequence[str],
    questions: Sequence[str],
    *,
    runs: int,
    selectors: Mapping[str, Sequence[str]],
    audit_log: AuditLog | None = None,
    on_request: Callable[[str], None] = lambda _: None,
) -> Replay:
    """Ask the questions again, in turn, and weigh the runs.

    Parameters
    ----------
    endpoint : Endpoint
        The agent.
    steps : sequence of str
        The pattern's steps, as `coreloop.base.records.step` writes them.
    questions : sequence of str
        Example questions.
    runs : int
        Number of questions to ask.
    selectors : mapping of tool to argument names
        Selectors of the tools that declare them.
    audit_log : AuditLog, optional
        Provides the calls of requests for which the endpoint returns only the id.
    on_request : callable
        Called with the id of every request as soon as it is known.
    """
    if not questions:
        return Replay(ReplayVerdict.UNAVAILABLE, (ReplayRun(None, "the proposal has no example question"),))
    results: list[ReplayRun] = []
    for number in range(runs):
        try:
            answer = endpoint.ask(questions[number % len(questions)])
            if answer.request_id is not None:
                on_request(answer.request_id)
            results.append(_compare(answer, steps, selectors, audit_log))
        except UnusableAnswerError as reason:
            results.append(ReplayRun(None, str(reason)))
    return Replay(weigh_runs(results), tuple(results))


def weigh_runs(runs: Sequence[ReplayRun]) -> ReplayVerdict:
    """The verdict on some runs.

    - reproduced: a majority agrees, and at least two runs
    - not reproduced: no run agrees, and a majority gave a usable answer
    - unavailable: no run gave a usable answer
    - inconclusive: anything else
    """
    agreed = sum(run.agrees is True for run in runs)
    usable = sum(run.agrees is not None for run in runs)
    if agreed >= _LEAST_AGREED and 2 * agreed > len(runs):
        return ReplayVerdict.REPRODUCED
    if not usable:
        return ReplayVerdict.UNAVAILABLE
    is_refuted = not agreed and 2 * usable > len(runs)
    return ReplayVerdict.NOT_REPRODUCED if is_refuted else ReplayVerdict.INCONCLUSIVE


def is_loopback(url: str) -> bool:
    """Whether an address is certainly this machine, which a dry run may ask."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _compare(
    answer: AnswerFields,
    steps: Sequence[str],
    selectors: Mapping[str, Sequence[str]],
    audit_log: AuditLog | None,
) -> ReplayRun:
    expected = hash_sequence(">".join(steps))
    if answer.tool_calls is None and answer.tool_sequence_hash == expected:
        return ReplayRun(True, "")
    if answer.tool_calls is None:
        if answer.request_id is None or audit_log is None:
            # other steps between the pattern's are allowed, but a hash does not show them
            differs = answer.tool_sequence_hash is not None
            raise UnusableAnswerError(_OTHER_HASH if differs else "the answer names no tool calls")
        answer = audit_log.steps(answer.request_id)
    calls = [call if isinstance(call, CallFields) else CallFields(call) for call in answer.tool_calls or ()]
    agrees = _occur_in_order(steps, [call_step(call, selectors) for call in calls if is_ok(call)])
    if not agrees and answer.tool_calls_omitted:
        if answer.tool_sequence_hash != expected:
            raise UnusableAnswerError("the request's record does not contain all of its calls")
        agrees = True
    return ReplayRun(agrees, "" if agrees else "the agent took other steps")


def _occur_in_order(wanted: Sequence[str], taken: Sequence[str]) -> bool:
    remaining: Any = iter(taken)
    return all(step in remaining for step in wanted)
