"""Whether calls and requests worked, failed, or whether that is unknown; and what a log does not say."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from coreloop.base.error_classes import BITS, TRANSIENT, error_class
from coreloop.base.messages import number_of
from coreloop.base.records import NO_ANSWER, READS_FAILED, WHY_UNKNOWN
from coreloop.observe.reading.decode import CallFields, CountedFields

# With ``min_chunk_len`` set, an answer of this many characters never fails for its length alone.
LOW_CHUNK_LEN: Final = 200


class RequestOutcome(IntEnum):
    """Success and failure count in rates; what is negative does not."""

    SUCCESS = 1
    FAILURE = 0
    NEUTRAL = -1
    UNKNOWN = -2


BY_VERDICT: Final[Mapping[str, RequestOutcome]] = {
    "P": RequestOutcome.SUCCESS,
    "T": RequestOutcome.SUCCESS,
    "V": RequestOutcome.FAILURE,
    "C": RequestOutcome.FAILURE,
}


def decide(fields: CountedFields, calls: Sequence[CallFields]) -> RequestOutcome | None:
    """Decide the outcome of a record as far as it does not depend on a setting.

    Parameters
    ----------
    fields : CountedFields
        A human's verdict in it overrides everything else: V and C fail, P and T succeed.
    calls : sequence of CallFields
        In the order in which they happened.

    Returns
    -------
    RequestOutcome or None
        None if the length of the answer decides. A failed call does not fail the record if the agent
        recovered; a failed last call does. Failures for transient reasons alone (network, rate limit) are
        neutral. A request that is not known to have failed is unknown if the trace has no answer, or the log
        not all calls.
    """
    decided = _outcome_by_mark(fields, calls)
    if decided is not None:
        return decided
    if reasons := _reasons(fields, calls):
        transient = all(error_class(str(reason)) in TRANSIENT for reason in reasons)
        return RequestOutcome.NEUTRAL if transient else RequestOutcome.FAILURE
    return RequestOutcome.UNKNOWN if fields.unknown or fields.part is not None else None


def is_judged(fields: CountedFields) -> bool:
    """Whether a record holds a verdict."""
    return fields.judgment is not None and fields.judgment.verdict in BY_VERDICT


def _outcome_by_mark(fields: CountedFields, calls: Sequence[CallFields]) -> RequestOutcome | None:
    """The outcome by a human's verdict or a mark in the record, or None as for most records."""
    verdict = fields.judgment.verdict if fields.judgment is not None else None
    if verdict is not None and verdict in BY_VERDICT:
        return BY_VERDICT[verdict]
    # in a record with omitted calls, omitted_failure covers all of its calls
    is_flagged = fields.omitted_failure is None and _has_uncleared_flag(fields, calls)
    has_failed_override = not all(override.succeeded for override in fields.override_calls or ())
    is_failed = fields.violation or fields.omitted_failure or is_flagged or has_failed_override
    return RequestOutcome.FAILURE if is_failed else None


def _reasons(fields: CountedFields, calls: Sequence[CallFields]) -> list[Any]:
    """The recorded errors that the agent did not recover from."""
    reasons = [fields.error] if fields.error else []
    if fields.tool_calls_omitted:
        return reasons if fields.omitted_error is None else [*reasons, fields.omitted_error]
    return [*reasons, calls[-1].error] if calls and worked(calls[-1]) is False else reasons


def worked(call: Any) -> bool | None:
    """Whether a call worked; None if that is unknown. In older logs, calls without an error worked."""
    ok: bool | None = call.ok
    if ok is not None:
        return ok
    return None if call.unknown and not call.error else not call.error


def why_unknown(call: CallFields) -> str | None:
    """Why it is unknown whether a call worked, or that a failed one only reads so; None if it is known.

    Of a text that coreloop did not write, only that it is unknown.
    """
    if worked(call) is None:
        return call.unknown if call.unknown in WHY_UNKNOWN else "for another reason"
    return READS_FAILED if call.unknown == READS_FAILED and not worked(call) else None


CAPTURES: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_A_TIME: Final = '"ts": "2026-04-25T09:30:00Z" beside the messages gives one a time'


@dataclass(slots=True)
class Unseen:
    """What a log does not say.

    Attributes
    ----------
    n_requests : int
        All requests.
    omitted : int
        Calls that did not fit on the lines of their requests.
    guessed : int
        Failed calls that nothing flags: their results only read like failures.
    requests, calls : Counter of str
        How many of which it is unknown whether they worked, by reason. They count in no rate.
    undated : int
        Requests whose traces have no time, so that it is that of their file.
    """

    n_requests: int = 0
    omitted: int = 0
    guessed: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    undated: int = 0

    @classmethod
    def of(
        cls, n_requests: int, omitted: int, n_unknown: int, calls: Mapping[str, int], undated: int = 0
    ) -> "Unseen":
        """Of counts; for requests, there is one reason. ``calls`` are by `why_unknown`."""
        unknown = Counter(calls)
        guessed = unknown.pop(READS_FAILED, 0)
        requests = Counter({NO_ANSWER: n_unknown} if n_unknown else ())
        return cls(n_requests, omitted, guessed, requests, unknown, undated)

    def lines(self) -> Iterator[str]:
        """What there is to say, a line each."""
        if self.omitted:
            are = "is" if self.omitted == 1 else "are"
            yield f"{number_of(self.omitted, 'call')} of long requests {are} left out"
        if self.guessed:
            yield f"{number_of(self.guessed, 'failed call')} only read like failures: no flag says so"
        unknown = [f"{number_of(n, 'request')} ({why})" for why, n in self.requests.items()]
        unknown += [f"{number_of(n, 'call')} ({why})" for why, n in sorted(self.calls.items())]
        if unknown:
            yield f"unknown, and in no rate: {', '.join(unknown)}"
        if 2 * self.requests.total() > self.n_requests:  # OpenTelemetry leaves texts out unless asked
            yield f"most answers are unknown; with OpenTelemetry, {CAPTURES}=true captures them"
        if self.undated:
            yield f"dates unknown: {number_of(self.undated, 'request')}; {_A_TIME}"


def _has_uncleared_flag(fields: CountedFields, calls: Sequence[CallFields]) -> bool:
    """Whether a tool reported an implausible value that no override cleared.

    A later successful call with overrides and without a flag clears the tool, and so does a recorded override
    that succeeded: its position among the calls is unknown, but an override always follows a flag.
    """
    flagged: set[str] = set()
    for call in calls:
        if call.extreme_flags:
            flagged.add(call.name)
        elif call.overrides_used and worked(call):
            flagged.discard(call.name)
    return not flagged <= {override.tool for override in fields.override_calls or () if override.succeeded}


def signals(fields: CountedFields, calls: Sequence[CallFields]) -> int:
    """The labels and error classes of a record as a bit set, for `coreloop.base.error_classes.names_of`.

    The classes are those of its error and of its failed calls' errors. A short answer, which depends on a
    setting, is left to the queries.
    """
    bits = 0
    if fields.violation:
        bits |= BITS["violation"]
    if fields.error:
        bits |= BITS["error"] | BITS[error_class(str(fields.error))]
    if fields.omitted_error is not None:
        bits |= BITS["tool_error"] | BITS[error_class(fields.omitted_error)]
    if any(not override.succeeded for override in fields.override_calls or ()):
        bits |= BITS["override_failed"]
    for call in calls:
        if call.extreme_flags:
            bits |= BITS["extreme_flags"]
        if worked(call) is False:
            bits |= BITS["tool_error"]
            bits |= 0 if call.error is None else BITS[error_class(str(call.error))]
    return bits
