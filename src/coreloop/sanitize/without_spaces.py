"""Closings: a text without the white space that may split its words or numbers.

Of 10,530 planted values (2026-11-24), 563 more leak without joined lines (5.3 %), 9 without closed
pieces (0.09 %, but 0.18 % of the disguised values and 2 % of those of ``tests/planted``).
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import chain, takewhile
from typing import Final, Literal

from coreloop.sanitize.undisguised import View

Gaps = list[tuple[int, int]]
Closing = Literal["joined", "pieces"]

# Finds 43 more of 10,530 planted values (0.4 %, 2026-11-24).
_SPELLED: Final = re.compile(r"(?<![A-Za-z0-9])[^\s가-힣](?:[ \t\n]{1,5}[^\s가-힣]){5,}(?![A-Za-z0-9])")
_SPACED_SIGN: Final = re.compile(r"(?<=[0-9A-Za-z]) [-.:/@] (?=[0-9A-Za-z])")
_BREAK: Final = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")
_WORD: Final = re.compile(r"[A-Za-z]{3}|[가-힣]{2}")
# Closing every other break finds 0.4 % more of the broken keys of tests/planted.
_FEW_BREAKS: Final = 6
_PIECE: Final = "[^ 가-힣]"
_PIECE_GAPS: Final = (" ", "  ")
_SPACES: Final = re.compile(" +")
_LOWERCASE: Final = re.compile("[A-Za-z][a-z]+")


class Closed:
    """A text without some of its white space, with a mapping back; cheaper than a `View`.

    Parameters
    ----------
    text : str
        The text with its gaps.
    gaps : list of (int, int)
        Spans to remove, in order.
    base : View, optional
        The view of the text, or None if it is the original.
    """

    __slots__ = ("_base", "_gone", "_places", "text")

    def __init__(self, text: str, gaps: Gaps, base: View | None) -> None:
        self._base = base
        self._places: list[int] = []
        self._gone: list[int] = []
        parts, last, gone = [], 0, 0
        for start, end in gaps:
            parts.append(text[last:start])
            self._places.append(start - gone)
            gone += end - start
            self._gone.append(gone)
            last = end
        self.text = "".join([*parts, text[last:]])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a match to offsets of the original."""
        first, behind = self._place(start), self._place(end - 1) + 1
        return (first, behind) if self._base is None else self._base.span(first, behind)

    def _place(self, at: int) -> int:
        n_before = bisect_right(self._places, at)
        return at + self._gone[n_before - 1] if n_before else at


def closings(view: View | None, visible: str, *, pieces: bool) -> Iterator[tuple[Closed, Closing]]:
    """Yield each distinct variant of a reading without the white space that may split words or numbers.

    Parameters
    ----------
    view : View, optional
        The reading, or None for the unchanged text.
    visible : str
        Its text.
    pieces : bool
        Also close runs of equally long pieces, to which only rules with `Rule.joins` apply.
    """
    seen = {visible}
    for gaps, kind in _gaps(visible, pieces=pieces):
        closed = Closed(visible, gaps, view)
        if closed.text not in seen:
            seen.add(closed.text)
            yield closed, kind


@cache  # compiled on demand: 10 ms, 5 % of the start-up time of a promotion
def _pieces(gap: str) -> tuple[re.Pattern[str], ...]:
    """Patterns of runs of equally long pieces with this gap between them, by length."""
    return tuple(
        re.compile(
            rf"(?<![A-Za-z0-9]){_PIECE}{{{size}}}{gap}{_PIECE}{{{size}}}(?:{gap}{_PIECE}{{{size}}}){{{more},}}"
            rf"(?:{gap}{_PIECE}{{1,{size - 1}}})?(?![A-Za-z0-9_-])"
        )
        for size, more in ((2, 1), (4, 1), (8, 0), (16, 0))
    )


def _gaps(visible: str, *, pieces: bool) -> Iterator[tuple[Gaps, Closing]]:
    """Yield the gaps to close, with and without the words next to a run."""
    if "\n" in visible:
        for gaps in _breaks(visible):
            yield gaps, "joined"
    if " " not in visible:
        return
    if runs := _runs(_SPELLED, visible):
        for head, tail in ((0, 0), (2, 0), (0, 2), (2, 2)):
            yield _spaces(runs, visible, head, tail), "joined"
    markers = _runs(_SPACED_SIGN, visible)
    if len(markers) > 1:
        yield [gap for at, end in markers for gap in ((at, at + 1), (end - 1, end))], "joined"
    if not pieces:
        return
    for pattern in chain(*(_pieces(gap) for gap in _PIECE_GAPS if gap in visible)):
        if runs := _runs(pattern, visible):
            for gaps in _between(runs, visible):
                yield gaps, "pieces"


def _breaks(visible: str) -> Iterator[Gaps]:
    """Yield all line breaks, those before no word, and, if there are few, every other one."""
    breaks = _runs(_BREAK, visible)
    yield breaks
    if len(breaks) > 2:
        yield [gap for gap in breaks if not _WORD.match(visible, gap[1])]
    if 1 < len(breaks) <= _FEW_BREAKS:
        yield breaks[::2]
        yield breaks[1::2]


def _runs(pattern: re.Pattern[str], text: str, start: int = 0, end: int = sys.maxsize) -> Gaps:
    return [match.span() for match in pattern.finditer(text, start, end)]


def _spaces(runs: Gaps, text: str, head: int, tail: int) -> Gaps:
    """Return the white space of runs, without some characters at their ends."""
    places = (at for start, end in runs for at in range(start + head, end - tail))
    return [(at, at + 1) for at in places if text[at].isspace()]


def _between(runs: Gaps, text: str) -> Iterator[Gaps]:
    """Yield the gaps of runs without the first few: words before a value may be as long as its pieces."""
    found = [_runs(_SPACES, text, *run) for run in runs]
    for n in range(4):
        yield [gap for gaps in found for gap in gaps[n:]]
    n_words = [len([*takewhile(_LOWERCASE.fullmatch, text[start:end].split())]) for start, end in runs]
    for less in (0, 1):
        yield [gap for gaps, n in zip(found, n_words, strict=True) for gap in gaps[max(n - less, 0) :]]
