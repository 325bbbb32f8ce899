"""Asking the example questions again, and comparing what the agent does with the pattern. Fails closed."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from socket import SHUT_RDWR, socket
from threading import Thread
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import httpx2
import msgspec

from coreloop.mine.decode import Skipped, call_step, decode_line
from coreloop.mine.fields import CallFields
from coreloop.mine.outcome import is_ok
from coreloop.records import hash_sequence

_LEAST_AGREED: Final = 2  # one run that agrees can be luck
_POLL_S: Final = 0.2
_TOO_LATE: Final = "the endpoint did not answer in time"
_CONNECTED: Final = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
_NO_RECORD: Final = "the request's record did not appear in the audit log in time"
_OTHER_HASH: Final = "the answer has another hash and names no tool calls"
_MAX_ANSWER_BYTES: Final = 10_000_000


class ReplayVerdict(StrEnum):
    """What a replay says of a pattern; only ``reproduced`` lets a promotion go on by itself."""

    REPRODUCED = "reproduced"
    INCONCLUSIVE = "inconclusive"
    NOT_REPRODUCED = "not_reproduced"
    UNAVAILABLE = "unavailable"
    NOT_APPLICABLE = "not-applicable"
    NOT_ASKED = "not-asked"


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """One question asked again: whether the agent did the steps in order; None when nobody knows."""

    agrees: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class Replay:
    """All runs, and the verdict on them."""

    verdict: ReplayVerdict
    runs: tuple[ReplayRun, ...]

    @property
    def summary(self) -> str:
        """One clause for a screen, a trailer, a pull request: never a question."""
        if self.verdict is ReplayVerdict.NOT_ASKED:
            return "not asked; a dry run asks with --ask, and then the agent's tools really run"
        if self.verdict is ReplayVerdict.NOT_APPLICABLE:
            return "not-applicable; there is no sequence of calls to repeat"
        if not self.runs:
            return self.verdict.value
        agreed = sum(run.agrees is True for run in self.runs)
        reasons = sorted({run.reason for run in self.runs if run.agrees is not True})
        because = f": {'; '.join(reasons)}" if reasons else ""
        return f"{self.verdict.value} ({agreed} of {len(self.runs)} runs agree{because})"


class AnswerFields(msgspec.Struct):
    """The endpoint's answer, as far as it is read."""

    tool_calls: list[CallFields | str] | None = None
    tool_sequence_hash: str | None = None
    request_id: str | None = None
    tool_calls_omitted: int | None = None


class UnusableAnswerError(Exception):
    """An answer that says nothing about the sequence; the text is the reason."""


class Endpoint(Protocol):
    """Asks one question; raises `UnusableAnswerError` when no usable answer comes."""

    def ask(self, question: str) -> AnswerFields:
        """The agent's answer."""


class HttpEndpoint:
    """The endpoint of coreloop.yaml.

    Parameters
    ----------
    url : str
        Takes ``{"question", "stream": false, "origin": "replay"}``. Redirects are not followed and proxies
        not used: questions go to this address and nowhere else.
    timeout_s : float
        Of one question, from looking up the name to the last byte of the answer.
    """

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._client = httpx2.Client(timeout=timeout_s, follow_redirects=False, trust_env=False)
        self._sockets: list[socket] = []

    def __enter__(self) -> "HttpEndpoint":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, question: str) -> AnswerFields:
        """Ask once."""
        answered: Future[tuple[int, bytes]] = Future()
        # The library's own limit is on each wait, and a server can send a byte at a time.
        Thread(target=self._exchange, args=(question, answered), daemon=True).start()
        try:
            status, content = answered.result(self._timeout_s)
        except TimeoutError as error:
            self._hang_up()
            raise UnusableAnswerError(_TOO_LATE) from error
        if status != 200:
            raise UnusableAnswerError(f"the endpoint answered {status}")
        try:
            return msgspec.json.decode(content, type=AnswerFields)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UnusableAnswerError("the answer is no JSON of the known form") from error

    def _exchange(self, question: str, answered: "Future[tuple[int, bytes]]") -> None:
        body = {"question": question, "stream": False, "origin": "replay"}
        mark = {"X-Coreloop-Replay": "1"}
        request = self._client.build_request(
            "POST", self._url, json=body, headers=mark, extensions={"trace": self._note_socket}
        )
        try:
            with _no_answer(), closing(self._client.send(request, stream=True)) as answer:
                answered.set_result((answer.status_code, _read(answer.iter_bytes())))
        except BaseException as error:  # whatever it is, the thread that waits is told
            answered.set_exception(error)

    def _note_socket(self, event: str, info: Mapping[str, Any]) -> None:
        if event in _CONNECTED:
            self._sockets.append(info["return_value"].get_extra_info("socket"))

    def _hang_up(self) -> None:
        """End the exchange under way, so that its thread does not live on."""
        for used in self._sockets:
            with suppress(OSError):  # closed, or replaced by its encrypted self
                used.shutdown(SHUT_RDWR)
        self._sockets.clear()


def _read(parts: Iterator[bytes]) -> bytes:
    content = bytearray()
    for part in parts:
        content += part
        if len(content) > _MAX_ANSWER_BYTES:
            raise UnusableAnswerError("the answer is too long")
    return bytes(content)


@contextmanager
def _no_answer() -> Iterator[None]:
    """The one place where the HTTP library's errors become reasons."""
    try:
        yield
    except httpx2.TimeoutException as error:
        raise UnusableAnswerError(_TOO_LATE) from error
    except httpx2.ConnectError as error:
        raise UnusableAnswerError("the endpoint cannot be reached") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise UnusableAnswerError(f"the connection failed ({type(error).__name__})") from error


class AuditLog:
    """Where the answered requests are recorded, for endpoints that return only a request's id.

    Each file is read once and then only what it grew by.
    """

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self._folder = folder
        self._timeout_s = timeout_s
        self._read_to: dict[Path, int] = {}
        self._seen: dict[str, AnswerFields] = {}

    def steps(self, request_id: str) -> AnswerFields:
        """Wait until the record of a request is there."""
        deadline = time.monotonic() + self._timeout_s
        while True:
            for path in self._newest_first():
                self._read_on(path, deadline)
                if request_id in self._seen:
                    return self._seen[request_id]
            if time.monotonic() > deadline:
                raise UnusableAnswerError(_NO_RECORD)
            time.sleep(_POLL_S)  # another process writes the file; there is nothing to wait on

    def _newest_first(self) -> list[Path]:
        """Files by the time of their last change: the one that the server writes need not be last by name."""
        found: list[tuple[float, Path]] = []
        for path in self._folder.glob("*.jsonl"):
            with suppress(OSError):  # it went away
                if path.is_file():
                    found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found, reverse=True)]

    def _read_on(self, path: Path, deadline: float) -> None:
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                start = self._read_to.get(path, 0)
                file.seek(start if start <= size else 0)  # shorter: another file of that name
                for line in iter(file.readline, b""):
                    if time.monotonic() > deadline:
                        raise UnusableAnswerError(_NO_RECORD)
                    if not line.endswith(b"\n"):
                        break  # still being written
                    self._read_to[path] = file.tell()
                    self._note(line)
        except OSError:
            return  # not for this user's eyes: the record does not appear

    def _note(self, line: bytes) -> None:
        decoded = decode_line(line, replays=True)
        if not isinstance(decoded, Skipped) and (request_id := decoded.fields.request_id):
            one = decoded.fields
            self._seen[request_id] = AnswerFields(
                one.tool_calls or [], one.tool_sequence_hash, request_id, one.tool_calls_omitted
            )


def replay(
    endpoint: Endpoint,
    steps: Sequence[str],
    questions: Sequence[str],
    *,
    runs: int,
    selectors: Mapping[str, Sequence[str]],
    audit_log: AuditLog | None = None,
    kept: Callable[[str], None] = lambda _: None,
) -> Replay:
    """Ask the questions again, in turns, and weigh the runs.

    Parameters
    ----------
    endpoint : Endpoint
        The agent.
    steps : sequence of str
        The pattern's steps, as `coreloop.records.step` writes them.
    questions : sequence of str
        Example questions.
    runs : int
        How many to ask.
    selectors : mapping of tool to argument names
        Those of the tools that have their own.
    audit_log : AuditLog, optional
        Where a request is looked up of which only the id comes back.
    kept : callable
        Is told the id of every request as soon as it is known.
    """
    if not questions:
        return Replay(ReplayVerdict.UNAVAILABLE, (ReplayRun(None, "the candidate has no example question"),))
    done: list[ReplayRun] = []
    for number in range(runs):
        try:
            answer = endpoint.ask(questions[number % len(questions)])
            if answer.request_id is not None:
                kept(answer.request_id)
            done.append(_compare(answer, steps, selectors, audit_log))
        except UnusableAnswerError as reason:
            done.append(ReplayRun(None, str(reason)))
    return Replay(weigh_runs(done), tuple(done))


def weigh_runs(runs: Sequence[ReplayRun]) -> ReplayVerdict:
    """The verdict on some runs.

    Most agree, and at least two: reproduced. Some agree: inconclusive. None agrees: not reproduced, if most
    runs gave a usable answer; with fewer nobody knows, so inconclusive; with none at all, unavailable.
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
    """Whether an address can only be this machine: what a dry run may ask."""
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
            # other steps may stand between the pattern's, which a hash does not tell
            differs = answer.tool_sequence_hash is not None
            raise UnusableAnswerError(_OTHER_HASH if differs else "the answer names no tool calls")
        answer = audit_log.steps(answer.request_id)
    calls = [call if isinstance(call, CallFields) else CallFields(call) for call in answer.tool_calls or ()]
    agrees = _occur_in_order(steps, [call_step(call, selectors) for call in calls if is_ok(call)])
    if not agrees and answer.tool_calls_omitted:
        if answer.tool_sequence_hash != expected:
            raise UnusableAnswerError("the request's record does not hold all of its calls")
        agrees = True
    return ReplayRun(agrees, "" if agrees else "the agent took other steps")


def _occur_in_order(wanted: Sequence[str], taken: Sequence[str]) -> bool:
    left: Any = iter(taken)
    return all(step in left for step in wanted)
