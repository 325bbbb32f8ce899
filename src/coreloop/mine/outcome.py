"""What a record says about its pattern: success, failure, or nothing; and the class of an error."""

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final

from ahocorasick_rs import AhoCorasick

from coreloop.mine.decode import CallFields, CountedFields, PlainRecord
from coreloop.records import has_uncleared_flag

LOW_CHUNK_LEN: Final = 200
MAX_ERROR_CHARS: Final = 2000
TRANSIENT: Final = frozenset({"transient_network", "rate_limit"})


class Outcome(IntEnum):
    """Success and failure count in a pattern's rate; neutral does not."""

    SUCCESS = 1
    FAILURE = 0
    NEUTRAL = -1


_BY_VERDICT: Final[Mapping[str, Outcome]] = {
    "P": Outcome.SUCCESS,
    "T": Outcome.SUCCESS,
    "V": Outcome.FAILURE,
    "C": Outcome.FAILURE,
}

# In order: an error that names a status and a missing thing is about the status. A word that has a pattern
# counts only where that matches.
_CLASSES: Final = (
    ("rate_limit", ("too many requests", "quota exceeded", "요청 한도")),
    (
        "transient_network",
        (
            *(f"connection {what}" for what in ("reset", "refused", "aborted", "closed", "error")),
            *("connecterror", "connectionerror", "econnreset", "econnrefused", "network is unreachable"),
            *("name resolution", "getaddrinfo", "bad gateway", "service unavailable", "gateway time"),
            *("temporarily unavailable", "remote end closed", "broken pipe", "overloaded", "네트워크"),
        ),
    ),
    (
        "timeout",
        (
            *("timeout", "time out", "time-out", "timed out", "timedout", "timed-out", "deadline exceeded"),
            *("시간초과", "시간 초과"),
        ),
    ),
    (
        "auth",
        (
            *("unauthorized", "unauthorised", "forbidden", "access denied", "authenticat", "인증", "권한"),
            *("permission denied", "permissiondenied", "permission error", "permissionerror"),
        ),
    ),
    (
        "invalid_argument",
        (
            *("validation error", "required argument", "required positional argument", "field required"),
            *("required keyword-only argument", "unexpected keyword", "invalid", "typeerror", "valueerror"),
            *("should ", "must ", "cannot be", "expecting", "not valid", "not a valid", "unknown axis"),
            *("잘못된", "필수", "지원하지 않"),
        ),
    ),
    (
        "not_found",
        (
            *("not found", "no such", "does not exist", "unknown ", "keyerror", "lookuperror"),
            *("없습니다", "없는 ", "찾을 수 없"),
        ),
    ),
)
_PATTERNS: Final = {
    "rate_limit": (
        ("rate", re.compile(r"rate.?limit")),
        ("429", re.compile(r"\bstatus(?: code)?:? ?429\b|^429\b")),
    ),
    "transient_network": (("연결", re.compile(r"연결.{0,6}(?:실패|끊|거부)")),),
    "auth": (("api", re.compile(r"api.?key")),),
}
_WORDS: Final = [
    (word, name, pattern)
    for name, words in _CLASSES
    for word, pattern in (*((word, None) for word in words), *_PATTERNS.get(name, ()))
]
_FIND_WORDS: Final = AhoCorasick([word for word, _, _ in _WORDS]).find_matches_as_indexes


@lru_cache(maxsize=16_384)  # each text is asked about for its call, its record and the record's outcome
def error_class(text: str) -> str:
    """Class of an error text.

    Returns
    -------
    str
        ``rate_limit``, ``transient_network``, ``timeout``, ``auth``, ``invalid_argument``, ``not_found`` or
        ``other``.
    """
    lower = text[:MAX_ERROR_CHARS].lower()
    found = _FIND_WORDS(lower, overlapping=True)
    for index, _, _ in found if len(found) < 2 else sorted(found):
        _, name, pattern = _WORDS[index]
        if pattern is None or pattern.search(lower):
            return name
    return "other"


def outcome(
    fields: CountedFields, calls: Sequence[CallFields], *, min_chunk_len: int, verdict: str | None = None
) -> Outcome:
    """Weigh a whole record.

    Parameters
    ----------
    fields : CountedFields
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
    if verdict is not None or not isinstance(fields, PlainRecord):
        told = _told(fields, calls, verdict)
        if told is not None:
            return told
    if fields.error is not None or fields.tool_calls_omitted or (calls and not calls[-1].ok):
        reasons = _reasons(fields, calls)
        if reasons:
            transient = all(error_class(str(reason)) in TRANSIENT for reason in reasons)
            return Outcome.NEUTRAL if transient else Outcome.FAILURE
    chunk_len = fields.chunk_len or 0
    if chunk_len >= min_chunk_len:
        return Outcome.SUCCESS
    return Outcome.FAILURE if chunk_len < LOW_CHUNK_LEN else Outcome.NEUTRAL


def _told(fields: CountedFields, calls: Sequence[CallFields], verdict: str | None) -> Outcome | None:
    """What a human's verdict or a mark says of a record; nothing of most."""
    if verdict is None and fields.judgment is not None:
        verdict = fields.judgment.verdict
    if verdict is not None and verdict in _BY_VERDICT:
        return _BY_VERDICT[verdict]
    if fields.violation is not None or fields.omitted_failure:
        return Outcome.FAILURE
    # omitted_failure, of a record that was cut, speaks of the whole
    if fields.omitted_failure is None and _has_uncleared_flag(fields, calls):
        return Outcome.FAILURE
    if fields.override_calls and not all(override.succeeded for override in fields.override_calls):
        return Outcome.FAILURE
    return None


def _reasons(fields: CountedFields, calls: Sequence[CallFields]) -> list[Any]:
    """What the record gives as errors that were not recovered from."""
    reasons = [] if fields.error is None else [fields.error]
    if fields.tool_calls_omitted:
        return reasons if fields.omitted_error is None else [*reasons, fields.omitted_error]
    return reasons if not calls or is_ok(calls[-1]) else [*reasons, calls[-1].error]


def is_ok(call: CallFields) -> bool:
    """Whether a call did what it was asked for; older logs say so only by the absence of an error."""
    return call.error is None if call.ok is None else call.ok


def _has_uncleared_flag(fields: CountedFields, calls: Sequence[CallFields]) -> bool:
    """`coreloop.records.has_uncleared_flag`."""
    overridden = {override.tool for override in fields.override_calls or () if override.succeeded}
    return has_uncleared_flag(
        ((call.name, bool(call.extreme_flags), bool(call.overrides_used) and is_ok(call)) for call in calls),
        overridden,
    )
