"""The outcome of a record: success, failure or neutral."""

from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

from coreloop.base.failures import TRANSIENT, error_class
from coreloop.base.records import has_uncleared_flag
from coreloop.observe.reading.fields import CallFields, CountedFields, PlainRecord

LOW_CHUNK_LEN: Final = 200
"""With ``min_chunk_len`` set, an answer of this many characters never fails for its length alone."""


class RequestOutcome(IntEnum):
    """Success and failure count in a pattern's rate; neutral does not."""

    SUCCESS = 1
    FAILURE = 0
    NEUTRAL = -1


_BY_VERDICT: Final[Mapping[str, RequestOutcome]] = {
    "P": RequestOutcome.SUCCESS,
    "T": RequestOutcome.SUCCESS,
    "V": RequestOutcome.FAILURE,
    "C": RequestOutcome.FAILURE,
}


def outcome(
    fields: CountedFields,
    calls: Sequence[CallFields],
    *,
    min_chunk_len: int | None,
    verdict: str | None = None,
) -> RequestOutcome:
    """Decide the outcome of a record.

    Parameters
    ----------
    fields : CountedFields
        A human's verdict in it overrides everything else: V and C fail, P and T succeed.
    calls : sequence of CallFields
        In the order in which they happened.
    min_chunk_len : int or None
        An answer of at least this many characters is complete. Below ``min(200, min_chunk_len)`` it fails,
        in between it is neutral. If None, an empty answer fails and any other is complete. An answer of
        unknown length does not affect the outcome.
    verdict : str, optional
        A later verdict; overrides a verdict in the record.

    Returns
    -------
    RequestOutcome
        A failed call does not fail the record if the agent recovered; a failed last call does. Failures for
        transient reasons alone (network, rate limit) are neutral.
    """
    if verdict is not None or not isinstance(fields, PlainRecord):
        decided = _outcome_by_mark(fields, calls, verdict)
        if decided is not None:
            return decided
    if fields.error or fields.tool_calls_omitted or (calls and not calls[-1].ok):
        reasons = _reasons(fields, calls)
        if reasons:
            transient = all(error_class(str(reason)) in TRANSIENT for reason in reasons)
            return RequestOutcome.NEUTRAL if transient else RequestOutcome.FAILURE
    chunk_len = fields.chunk_len
    if chunk_len is None or (chunk_len > 0 if min_chunk_len is None else chunk_len >= min_chunk_len):
        return RequestOutcome.SUCCESS
    return RequestOutcome.FAILURE if is_short(chunk_len, min_chunk_len) else RequestOutcome.NEUTRAL


def is_handed_over(fields: CountedFields, calls: Sequence[CallFields], handoff: Collection[str]) -> bool:
    """Whether a request was handed over to a human, so that it is no evidence about its tools.

    False if the record holds a verdict.
    """
    judged = fields.judgment is not None and fields.judgment.verdict in _BY_VERDICT
    return not judged and any(call.name in handoff for call in calls)


def is_short(chunk_len: float | None, min_chunk_len: int | None) -> bool:
    """Whether an answer is so short that the request failed; see `outcome`."""
    if chunk_len is None:
        return False
    return chunk_len <= 0 if min_chunk_len is None else chunk_len < min(LOW_CHUNK_LEN, min_chunk_len)


def _outcome_by_mark(
    fields: CountedFields, calls: Sequence[CallFields], verdict: str | None
) -> RequestOutcome | None:
    """The outcome by a human's verdict or a mark in the record, or None as for most records."""
    if verdict is None and fields.judgment is not None:
        verdict = fields.judgment.verdict
    if verdict is not None and verdict in _BY_VERDICT:
        return _BY_VERDICT[verdict]
    if fields.violation or fields.omitted_failure:
        return RequestOutcome.FAILURE
    # in a record with omitted calls, omitted_failure covers all of its calls
    if fields.omitted_failure is None and _has_uncleared_flag(fields, calls):
        return RequestOutcome.FAILURE
    if fields.override_calls and not all(override.succeeded for override in fields.override_calls):
        return RequestOutcome.FAILURE
    return None


def _reasons(fields: CountedFields, calls: Sequence[CallFields]) -> list[Any]:
    """The recorded errors that the agent did not recover from."""
    reasons = [fields.error] if fields.error else []
    if fields.tool_calls_omitted:
        return reasons if fields.omitted_error is None else [*reasons, fields.omitted_error]
    return reasons if not calls or is_ok(calls[-1]) else [*reasons, calls[-1].error]


def is_ok(call: CallFields) -> bool:
    """Whether a call succeeded; in older logs, calls without an error did."""
    return not call.error if call.ok is None else call.ok


def _has_uncleared_flag(fields: CountedFields, calls: Sequence[CallFields]) -> bool:
    """`coreloop.base.records.has_uncleared_flag` of decoded fields."""
    overridden = {override.tool for override in fields.override_calls or () if override.succeeded}
    return has_uncleared_flag(
        ((call.name, bool(call.extreme_flags), bool(call.overrides_used) and is_ok(call)) for call in calls),
        overridden,
    )
