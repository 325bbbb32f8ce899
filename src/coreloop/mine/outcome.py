"""What a record says about its pattern: success, failure, or nothing."""

from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

from coreloop.failures import TRANSIENT, error_class
from coreloop.mine.fields import CallFields, CountedFields, PlainRecord
from coreloop.records import has_uncleared_flag

LOW_CHUNK_LEN: Final = 200
"""Where a least length is set, no answer of so many characters is a failure for its length alone."""


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
    """Weigh a whole record.

    Parameters
    ----------
    fields : CountedFields
        A human's verdict in it outweighs the rest: V and C fail, P and T pass.
    calls : sequence of CallFields
        In the order in which they happened.
    min_chunk_len : int or None
        An answer of this many characters is whole. One below ``min(200, min_chunk_len)`` fails, in between
        it counts neither way. Where it is None, an empty answer fails and any other is whole. An answer of
        unknown length is weighed by the other signs alone.
    verdict : str, optional
        One that was given later; outweighs the one in the record.

    Returns
    -------
    RequestOutcome
        A failed call is no failure of the record when the agent recovered; ending on one is. What failed
        only for a transient reason (network, rate limit) counts neither way.
    """
    if verdict is not None or not isinstance(fields, PlainRecord):
        told = _told(fields, calls, verdict)
        if told is not None:
            return told
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
    """Whether a request was handed over to a human, so that it says nothing of the tools before.

    A verdict in the record outweighs that.
    """
    judged = fields.judgment is not None and fields.judgment.verdict in _BY_VERDICT
    return not judged and any(call.name in handoff for call in calls)


def is_short(chunk_len: float | None, min_chunk_len: int | None) -> bool:
    """Whether an answer is so short that the request failed; see `outcome`."""
    if chunk_len is None:
        return False
    return chunk_len <= 0 if min_chunk_len is None else chunk_len < min(LOW_CHUNK_LEN, min_chunk_len)


def _told(fields: CountedFields, calls: Sequence[CallFields], verdict: str | None) -> RequestOutcome | None:
    """What a human's verdict or a mark says of a record; nothing of most."""
    if verdict is None and fields.judgment is not None:
        verdict = fields.judgment.verdict
    if verdict is not None and verdict in _BY_VERDICT:
        return _BY_VERDICT[verdict]
    if fields.violation or fields.omitted_failure:
        return RequestOutcome.FAILURE
    # omitted_failure, of a record that was cut, speaks of the whole
    if fields.omitted_failure is None and _has_uncleared_flag(fields, calls):
        return RequestOutcome.FAILURE
    if fields.override_calls and not all(override.succeeded for override in fields.override_calls):
        return RequestOutcome.FAILURE
    return None


def _reasons(fields: CountedFields, calls: Sequence[CallFields]) -> list[Any]:
    """What the record gives as errors that were not recovered from."""
    reasons = [fields.error] if fields.error else []
    if fields.tool_calls_omitted:
        return reasons if fields.omitted_error is None else [*reasons, fields.omitted_error]
    return reasons if not calls or is_ok(calls[-1]) else [*reasons, calls[-1].error]


def is_ok(call: CallFields) -> bool:
    """Whether a call did what it was asked for; older logs say so only by the absence of an error."""
    return not call.error if call.ok is None else call.ok


def _has_uncleared_flag(fields: CountedFields, calls: Sequence[CallFields]) -> bool:
    """`coreloop.records.has_uncleared_flag`."""
    overridden = {override.tool for override in fields.override_calls or () if override.succeeded}
    return has_uncleared_flag(
        ((call.name, bool(call.extreme_flags), bool(call.overrides_used) and is_ok(call)) for call in calls),
        overridden,
    )
