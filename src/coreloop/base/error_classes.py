"""Failure labels and error classes; the words in error_words.tsv decide an error's class.

Imports only the standard library: the guard checks proposed lines against these names.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
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


def _read_signs() -> Iterator[tuple[str, str, re.Pattern[str] | None]]:
    """Words and their class; a word with a pattern counts only if that matches, too."""
    lines = Path(__file__).with_name("error_words.tsv").read_text("utf-8").splitlines()[1:]
    for name, word, pattern in (line.split("\t") for line in lines):
        yield word, name, re.compile(pattern) if pattern else None


# Order matters: an error that names a status and a missing resource is about the status.
_SIGNS: Final = list(_read_signs())

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
