"""Who says what a source says: pages of one site, and copies of one text, have one origin."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from coreloop.research.knowledge import ReadSource
from coreloop.search.source import Source

COPIED_FROM: Final = 0.6
"""Share of the shorter text's runs of words in the other, from which one is a copy."""
_RUN_WORDS: Final = 5
_COUNTRY_LETTERS: Final = 2
_SHORT_LABEL: Final = 3


def origin_of(source: Source, earlier: Iterable[ReadSource]) -> str:
    """Return the site of a page or the location of a file; of a copy, the origin of what was read first."""
    copied = next((read for read in earlier if is_copy(source.text, read.source.text)), None)
    return copied.origin if copied else site_of(source.location)


def is_copy(text: str, other: str) -> bool:
    """Whether most of the shorter text stands in the other, word for word."""
    here, there = _runs(text), _runs(other)
    shorter = min(len(here), len(there))
    return shorter > 0 and len(here & there) >= COPIED_FROM * shorter


def _runs(text: str) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    return {tuple(words[place : place + _RUN_WORDS]) for place in range(len(words) - _RUN_WORDS + 1)}


def site_of(location: str) -> str:
    """``news.example.co.kr`` and ``www.example.co.kr`` are ``example.co.kr``; a file is its own site."""
    host = urlsplit(location).hostname if "://" in location else None
    if not host:
        return location
    labels = host.split(".")
    is_national = len(labels[-1]) == _COUNTRY_LETTERS and len(labels) > 1 and len(labels[-2]) <= _SHORT_LABEL
    return ".".join(labels[-3:] if is_national else labels[-2:])
