"""The classes of errors and the kinds of failures: their names, and the words that tell an error's class.

The standard library alone at import: the guard holds proposed lines against these names.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from coreloop.errors import UsageError

LABELS: Final = ("error", "violation", "chunk_len_low", "extreme_flags", "override_failed", "tool_error")
"""What may speak against a record."""

CLASSES: Final = (
    "transient_network",
    "rate_limit",
    "timeout",
    "auth",
    "invalid_argument",
    "not_found",
    "other",
)
"""What an error may be about; `error_class` tells which."""

TRANSIENT: Final = frozenset({"transient_network", "rate_limit"})
"""Classes that say nothing about how a tool was called."""

BITS: Final = {name: 1 << place for place, name in enumerate((*LABELS, *CLASSES))}
"""One bit for each label and class."""

MAX_ERROR_CHARS: Final = 2000
"""No more of an error's text is looked at."""

# In order: an error that names a status and a missing thing is about the status. A word that has a pattern
# counts only where that matches.
_WORDS: Final = (
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
_SIGNS: Final[list[tuple[str, str, re.Pattern[str] | None]]] = [
    (word, name, pattern)
    for name, words in _WORDS
    for word, pattern in (*((word, None) for word in words), *_PATTERNS.get(name, ()))
]


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
    found = _finder()(lower, overlapping=True)
    for index, _, _ in found if len(found) < 2 else sorted(found):
        _, name, pattern = _SIGNS[index]
        if pattern is None or pattern.search(lower):
            return name
    return "other"


@cache
def _finder() -> Callable[..., list[tuple[int, int, int]]]:
    from ahocorasick_rs import AhoCorasick  # only who reads errors needs it

    return AhoCorasick([word for word, _, _ in _SIGNS]).find_matches_as_indexes


def known_types(names: Iterable[str]) -> frozenset[str]:
    """The labels and classes that a user named.

    Raises
    ------
    UsageError
        One of them is neither.
    """
    wanted = frozenset(filter(None, (name.strip() for name in names)))
    unknown = sorted(wanted - set(BITS))
    if unknown:
        raise UsageError(f"{unknown[0]!r} is no failure type; known are {', '.join(BITS)}")
    return wanted


def bits_of(names: Collection[str]) -> int:
    """The bit set of labels and classes; unknown names are nothing."""
    return sum(BITS.get(name, 0) for name in set(names))


def names_of(bits: int, *, among: Sequence[str] = LABELS) -> tuple[str, ...]:
    """The labels, or classes, in a bit set."""
    return tuple(name for name in among if bits & BITS[name])
