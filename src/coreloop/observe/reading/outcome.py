"""The outcome of a record: success, failure or neutral."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

from coreloop.base.error_classes import TRANSIENT, error_class
from coreloop.base.records import has_uncleared_flag
from coreloop.observe.reading.fields import CallFields, CountedFields, PlainRecord

LOW_CHUNK_LEN: Final = 200
"""With ``min_chunk_len`` set, an answer of this many characters never fails for its length alone."""


class RequestOutcome(IntEnum):
    """Success and failure count in a pattern's rate; neutral does not."""

    SUCCESS = 1
    FAILURE = 0
    NEUTRAL = -1


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
        neutral.
    """
    if not isinstance(fields, PlainRecord):
        decided = _outcome_by_mark(fields, calls)
        if decided is not None:
            return decided
    if fields.error or fields.tool_calls_omitted or (calls and not calls[-1].ok):
        reasons = _reasons(fields, calls)
        if reasons:
            transient = all(error_class(str(reason)) in TRANSIENT for reason in reasons)
            return RequestOutcome.NEUTRAL if transient else RequestOutcome.FAILURE
    return None


def is_judged(fields: CountedFields) -> bool:
    """Whether a record holds a verdict."""
    return fields.judgment is not None and fields.judgment.verdict in BY_VERDICT


def _outcome_by_mark(fields: CountedFields, calls: Sequence[CallFields]) -> RequestOutcome | None:
    """The outcome by a human's verdict or a mark in the record, or None as for most records."""
    verdict = fields.judgment.verdict if fields.judgment is not None else None
    if verdict is not None and verdict in BY_VERDICT:
        return BY_VERDICT[verdict]
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
