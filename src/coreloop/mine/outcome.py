"""What a record says about its pattern: success, failure, or nothing; and the class of an error."""

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final

from coreloop.mine.decode import CallFields, RecordFields
from coreloop.records import has_uncleared_flag

LOW_CHUNK_LEN: Final = 200
TRANSIENT: Final = frozenset({"transient_network", "rate_limit"})


class Outcome(IntEnum):
    """Success and failure count in a pattern's rate; neutral does not."""

    SUCCESS = 1
    FAILURE = 0
    NEUTRAL = -1


# In order: an error that names a status and a missing thing is about the status.
_CLASSES: Final = [
    (name, re.compile(pattern))  # of lower-case text, three times as fast as without regard to case
    for name, pattern in (
        (
            "rate_limit",
            r"rate.?limit|too many requests|quota exceeded|status(?: code)?:? ?429\b|^429\b|요청 한도",
        ),
        (
            "transient_network",
            r"connection (?:reset|refused|aborted|closed|error)|connect(?:ion)?error|econnre(?:set|fused)|"
            r"network is unreachable|name resolution|getaddrinfo|bad gateway|service unavailable|"
            r"gateway time|temporarily unavailable|remote end closed|broken pipe|overloaded|"
            r"연결.{0,6}(?:실패|끊|거부)|네트워크",
        ),
        ("timeout", r"timed? ?-?out|timeout|deadline exceeded|시간 ?초과"),
        (
            "auth",
            r"unauthori[sz]ed|forbidden|permission ?(?:denied|error)|access denied|api.?key|authenticat|"
            r"인증|권한",
        ),
        (
            "invalid_argument",
            r"validation error|required (?:positional |keyword-only )?argument|field required|"
            r"unexpected keyword|invalid|typeerror|valueerror|should |must |cannot be|expecting|"
            r"not (?:a )?valid|unknown axis|잘못된|필수|지원하지 않",
        ),
        (
            "not_found",
            r"not found|no such|does not exist|unknown |keyerror|lookuperror|없습니다|없는 |찾을 수 없",
        ),
    )
]


def error_class(text: str) -> str:
    """Class of an error text.

    Returns
    -------
    str
        ``rate_limit``, ``transient_network``, ``timeout``, ``auth``, ``invalid_argument``, ``not_found`` or
        ``other``.
    """
    head = text[:2000]
    return _class_of(head if "429" in head else same_digits(head))


def same_digits(text: str) -> str:
    """The text with every ASCII digit a 0: errors that differ in a number are looked at once."""
    return text.translate(_ZEROS)


@lru_cache(maxsize=16_384)
def _class_of(text: str) -> str:
    lower = text.lower()
    return next((name for name, pattern in _CLASSES if pattern.search(lower)), "other")


_ZEROS: Final = str.maketrans("123456789", "0" * 9)


def outcome(
    fields: RecordFields, calls: Sequence[CallFields], *, min_chunk_len: int, verdict: str | None = None
) -> Outcome:
    """Weigh a whole record.

    Parameters
    ----------
    fields : RecordFields
        A human's verdict in it outweighs the rest: V and C fail, P and T pass.
    calls : sequence of CallFields
        In the order in which they happened.
    min_chunk_len : int
        An answer of this many characters is whole. One below ``min(200, min_chunk_len)`` fails, in between
        it counts neither way.
    verdict : str, optional
        One that was given later; outweighs the one in the record.

    Returns
    -------
    Outcome
        A failed call is no failure of the record when the agent recovered; ending on one is. What failed
        only for a transient reason (network, rate limit) counts neither way.
    """
    if verdict is None and fields.judgment is not None:
        verdict = fields.judgment.verdict
    chunk_len = fields.chunk_len or 0
    if verdict in {"P", "T"}:
        return Outcome.SUCCESS
    if verdict in {"V", "C"}:
        return Outcome.FAILURE
    if fields.violation is not None or _has_uncleared_flag(fields, calls):
        return Outcome.FAILURE
    if fields.override_calls and not all(override.succeeded for override in fields.override_calls):
        return Outcome.FAILURE
    if reasons := _reasons(fields, calls):
        transient = all(error_class(str(reason)) in TRANSIENT for reason in reasons)
        return Outcome.NEUTRAL if transient else Outcome.FAILURE
    if chunk_len < min(LOW_CHUNK_LEN, min_chunk_len):
        return Outcome.FAILURE
    return Outcome.SUCCESS if chunk_len >= min_chunk_len else Outcome.NEUTRAL


def _reasons(fields: RecordFields, calls: Sequence[CallFields]) -> list[Any]:
    """What the record gives as errors that were not recovered from."""
    reasons = [] if fields.error is None else [fields.error]
    if fields.tool_calls_omitted:
        return reasons if fields.omitted_error is None else [*reasons, fields.omitted_error]
    return reasons if not calls or is_ok(calls[-1]) else [*reasons, calls[-1].error]


def is_ok(call: CallFields) -> bool:
    """Whether a call did what it was asked for; older logs say so only by the absence of an error."""
    return call.error is None if call.ok is None else call.ok


def _has_uncleared_flag(fields: RecordFields, calls: Sequence[CallFields]) -> bool:
    """`coreloop.records.has_uncleared_flag`; of a record that was cut, what that said of the whole."""
    if fields.omitted_failure is not None:
        return fields.omitted_failure
    for call in calls:
        if call.extreme_flags:
            break
    else:  # nearly always; any() with a generator would cost more than the rest of the weighing
        return False
    overridden = {override.tool for override in fields.override_calls or () if override.succeeded}
    return has_uncleared_flag(
        ((call.name, bool(call.extreme_flags), bool(call.overrides_used) and is_ok(call)) for call in calls),
        overridden,
    )
