"""Asking the example questions again, and comparing the agent's steps with the pattern. Fails closed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from coreloop.base.files import append_private
from coreloop.base.http import ExchangeError, HttpClient, HttpRequest
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import hash_sequence
from coreloop.base.waiting import wait_until
from coreloop.observe.reading.decode import CallFields, RecordLine, call_step, decode_line, raw_lines
from coreloop.observe.reading.outcome import worked
from coreloop.promote.proposal_entry import Proposal, read_proposal

_LEAST_AGREED: Final = 2  # a single run may agree by chance
N_RUNS: Final = 3
"""The fewest of which a majority agrees even if one does not."""
TIMEOUT_S: Final = 60.0  # an agent calls several tools before it answers
_POLL_S: Final = 0.2
_REASONS: Final = {
    "too_late": "the endpoint did not answer in time",
    "unreachable": "the endpoint cannot be reached",
    "too_long": "the answer is too long",
}
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
        reasons = "; ".join(sorted({run.reason for run in self.runs if run.agrees is not True}))
        why = f": {reasons}" if reasons else ""
        return f"{self.verdict.value} ({agreed} of {len(self.runs)} runs agree{why})"


class AnswerFields(msgspec.Struct):
    """The fields of the endpoint's answer that a replay reads."""

    tool_calls: list[CallFields | str] | None = None
    tool_sequence_hash: str | None = None
    request_id: str | None = None
    tool_calls_omitted: int | None = None


class UnusableAnswerError(Exception):
    """An answer without information about the sequence; the text is the reason."""


def _ask(client: HttpClient, url: str, question: str) -> AnswerFields:
    """Ask the endpoint once; redirects are not followed and proxies not used."""
    request = HttpRequest(
        method="POST",
        url=url,
        json={"question": question, "stream": False, "origin": "replay"},
        headers={"X-Coreloop-Replay": "1"},
    )
    try:
        answer = client.exchange(request, timeout_s=TIMEOUT_S, max_bytes=_MAX_ANSWER_BYTES)
    except ExchangeError as error:
        raise UnusableAnswerError(_REASONS.get(error.failure, str(error))) from error
    if answer.status != 200:
        raise UnusableAnswerError(f"the endpoint answered {answer.status}")
    try:
        return msgspec.json.decode(answer.content, type=AnswerFields)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnusableAnswerError("the answer is not JSON of the expected form") from error


def _recorded(folder: Path, request_id: str) -> AnswerFields:
    """Wait for the record of a request, for endpoints that return only its id; any file may be the newest."""
    records, looked_at = list[AnswerFields](), dict[Path, int]()

    def look() -> bool:
        for path in folder.glob("*.jsonl"):
            with suppress(OSError):  # deleted meanwhile, or unreadable
                changed_ns = path.stat().st_mtime_ns
                if looked_at.get(path) != changed_ns:
                    looked_at[path] = changed_ns
                    records.extend(_records(path, request_id))
        return bool(records)

    if not wait_until(look, within_s=TIMEOUT_S, pause_s=_POLL_S):
        raise UnusableAnswerError("the request's record did not appear in the audit log in time")
    return records[-1]


def _records(path: Path, request_id: str) -> Iterator[AnswerFields]:
    for _, raw in raw_lines(path):
        decoded = decode_line(raw, replays=True) if request_id.encode() in raw else None
        if isinstance(decoded, RecordLine) and decoded.fields.request_id == request_id:
            fields = decoded.fields
            calls, omitted = fields.tool_calls or [], fields.tool_calls_omitted
            yield AnswerFields(calls, fields.tool_sequence_hash, request_id, omitted)


def verify(
    workspace: Workspace, path: Path, candidate_id: str, *, runs: int | None, confirmed: bool
) -> Replay:
    """Replay one entry of a proposals file; the parameters are those of `ask_again`.

    Raises
    ------
    WorkspaceError, UsageError, RefusedError
        As `coreloop.promote.proposal_entry.read_proposal` does.
    """
    proposal = read_proposal(path, candidate_id, workspace.settings)
    return ask_again(proposal, workspace, runs=runs, confirmed=confirmed)


def ask_nobody(proposal: Proposal) -> Replay:
    """The replay of a dry run, which asks no questions, since the agent's tools would really run."""
    return Replay(ReplayVerdict.NOT_ASKED if proposal.steps else ReplayVerdict.NOT_APPLICABLE, ())


def ask_again(proposal: Proposal, workspace: Workspace, *, runs: int | None, confirmed: bool) -> Replay:
    """Ask a proposal's questions again, in turn, and weigh the runs.

    Parameters
    ----------
    proposal : Proposal
        Its questions and expected steps.
    workspace : Workspace
        Endpoint, selectors, audit log. The ids of the requests are appended to its replays file, in a dry run
        too: the server records them, and they must never be mined.
    runs : int, optional
        Number of requests; three by default.
    confirmed : bool
        If false, only a loopback address is asked, since questions are private.

    Returns
    -------
    Replay
        ``not-applicable`` for a statement, ``unavailable`` if the endpoint may not or cannot be asked.
    """
    url = workspace.settings.replay.url
    questions = proposal.questions
    if not proposal.steps:
        return Replay(ReplayVerdict.NOT_APPLICABLE, ())
    if url is None:
        return _unasked("no replay: url is set in coreloop.yaml")
    if not confirmed and not is_loopback(url):
        return _unasked("without --confirm only a loopback address is asked")
    if not questions:
        return _unasked("the proposal has no example question")
    results = list[ReplayRun]()
    selectors = workspace.settings.selectors()
    recorded = partial(_recorded, workspace.records_dir)
    with HttpClient() as client:
        for number in range(runs or N_RUNS):
            try:
                answer = _ask(client, url, questions[number % len(questions)])
                if answer.request_id is not None:
                    append_private(workspace.replays_file, [" ".join(answer.request_id.split())])
                results.append(_compare(answer, proposal.steps, selectors, recorded))
            except UnusableAnswerError as reason:
                results.append(ReplayRun(None, str(reason)))
    return Replay(weigh_runs(results), tuple(results))


def _unasked(reason: str) -> Replay:
    return Replay(ReplayVerdict.UNAVAILABLE, (ReplayRun(None, reason),))


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
    recorded: Callable[[str], AnswerFields],
) -> ReplayRun:
    expected = hash_sequence(">".join(steps))
    if answer.tool_calls is None and answer.tool_sequence_hash == expected:
        return ReplayRun(True, "")
    if answer.tool_calls is None:
        if answer.request_id is None:
            # other steps between the pattern's are allowed, but a hash does not show them
            differs = answer.tool_sequence_hash is not None
            raise UnusableAnswerError(_OTHER_HASH if differs else "the answer names no tool calls")
        answer = recorded(answer.request_id)
    calls = [call if isinstance(call, CallFields) else CallFields(call) for call in answer.tool_calls or ()]
    taken = iter([call_step(call, selectors) for call in calls if worked(call)])
    agrees = all(step in taken for step in steps)  # in their order
    if not agrees and answer.tool_calls_omitted:
        if answer.tool_sequence_hash != expected:
            raise UnusableAnswerError("the request's record does not contain all of its calls")
        agrees = True
    return ReplayRun(agrees, "" if agrees else "the agent took other steps")
