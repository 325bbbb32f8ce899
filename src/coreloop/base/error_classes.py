"""Failure labels and error classes, and the words that decide an error's class.

Imports only the standard library: the guard checks proposed lines against these names.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache
from typing import Final

LABELS: Final = ("error", "violation", "chunk_len_low", "extreme_flags", "override_failed", "tool_error")
"""Reasons why a request counts as failed."""

CLASSES: Final = (
    "transient_network",
    "rate_limit",
    "timeout",
    "auth",
    "invalid_argument",
    "not_found",
    "other",
)
"""Classes of errors; see `error_class`."""

TRANSIENT: Final = frozenset({"transient_network", "rate_limit"})
"""Classes that say nothing about how a tool was called."""

BITS: Final = {name: 1 << place for place, name in enumerate((*LABELS, *CLASSES))}
"""One bit for each label and class."""

STATED: Final = ("invalid_argument: ", "not_found: ")
"""Begin the errors that an adapter wrote, which knows the class: an argument may be called ``timeout``."""

MAX_ERROR_CHARS: Final = 2000
"""The part of an error's text that is classified."""

# Order matters: an error that names a status and a missing resource is about the status.
_WORDS: Final = (
    ("rate_limit", ("too many requests", "quota exceeded", "요청 한도")),
    (
        "transient_network",
        (
            *(f"connection {problem}" for problem in ("reset", "refused", "aborted", "closed", "error")),
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
# Words that count only if their pattern matches too.
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

CLASS_WORDS: Final = frozenset(word for phrase, _, _ in _SIGNS for word in phrase.split())
"""The single words of what decides a class: ``not``, ``found``."""


@lru_cache(maxsize=16_384)  # each text is classified for its call, its record and the record's outcome
def error_class(text: str) -> str:
    """Classify an error text.

    Returns
    -------
    str
        ``rate_limit``, ``transient_network``, ``timeout``, ``auth``, ``invalid_argument``, ``not_found`` or
        ``other``.
    """
    if text.startswith(STATED):
        return text.partition(":")[0]
    lower = text[:MAX_ERROR_CHARS].lower()
    matches = _finder()(lower, overlapping=True)
    for index, _, _ in matches if len(matches) < 2 else sorted(matches):
        _, name, pattern = _SIGNS[index]
        if pattern is None or pattern.search(lower):
            return name
    return "other"


@cache
def _finder() -> Callable[..., list[tuple[int, int, int]]]:
    from ahocorasick_rs import AhoCorasick  # not needed by the guard

    return AhoCorasick([word for word, _, _ in _SIGNS]).find_matches_as_indexes


def bits_of(names: Collection[str]) -> int:
    """Return the bit set of labels and classes; unknown names are ignored."""
    return sum(BITS.get(name, 0) for name in set(names))


def names_of(bits: int, *, among: Sequence[str] = LABELS) -> tuple[str, ...]:
    """Return the labels, or classes, in a bit set."""
    return tuple(name for name in among if bits & BITS[name])
