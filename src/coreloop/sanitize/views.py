"""Views: undisguised versions of a text whose characters map back to the original.

Rules match on views; cuts are made in the original. Of 10,538 planted values (2026-11-23), 2,512
more leak without the readings (24 %), 567 without joined lines (5.4 %), and 9 without closed pieces (0.1 %;
0.7 % of the 9,870 of ``tests/planted``).
"""

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Final, Literal

from coreloop.sanitize.confusables import fold

Gaps = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class View:
    """A rewritten text.

    Attributes
    ----------
    text : str
        The text to match on.
    starts, ends : list of int
        Original offsets of each character of ``text``.
    """

    text: str
    starts: list[int]
    ends: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a match to offsets of the original."""
        return self.starts[start], max(self.ends[start:end])


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


# Printable ASCII, Hangul syllables and a few unambiguous signs: nearly every text.
_PLAIN: Final = re.compile(r"[\x20-\x24'-\x5b\x5d-\x7e\n\t가-힣…「」『』《》₩]*")
_UNUSUAL: Final = re.compile(r"[^\x20-\x7e\n\t가-힣…「」『』《》₩]")
_INVISIBLE: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_CLUSTER: Final = re.compile(
    r"[\u1100-\u115e\ua960-\ua97c][\u1161-\u11a7\ud7b0-\ud7c6][\u11a8-\u11ff\ud7cb-\ud7fb]?|[가-힣][\u11a8-\u11ff]|"
    r"[^\u0300-\u036f\n][\u0300-\u036f\u3099\u309a]+|[^\x20-\x7e\n\t가-힣]"
)
_ESCAPED: Final = re.compile(r"%[0-9A-Fa-f]{2}|&#?[A-Za-z0-9]{2,}|\\(?:u[0-9A-Fa-f{]|U0|x[0-9A-Fa-f]{2})")
_ESCAPE: Final = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|&(?:#[xX]?[0-9a-fA-F]{1,7};?|[A-Za-z][A-Za-z0-9]{1,31};)|"
    r"(?<!\\)\\++u[dD][89abAB][0-9A-Fa-f]{2}\\++u[dD][c-fC-F][0-9A-Fa-f]{2}|"
    r"(?<!\\)\\++(?:u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2})"
)
_ROUNDS: Final = 4
# Finds 46 more of 10,538 planted values (0.4 %, 2026-11-23).
_SPELLED: Final = re.compile(r"(?<![A-Za-z0-9])[^\s가-힣](?:[ \t\n]{1,5}[^\s가-힣]){5,}(?![A-Za-z0-9])")
_SPACED_SIGN: Final = re.compile(r"(?<=[0-9A-Za-z]) [-.:/@] (?=[0-9A-Za-z])")
_BREAK: Final = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")
# O and l as digits: 146 more of 10,538 planted values (1.4 %, 2026-11-23).
_LIKE_DIGITS: Final = re.compile(r"[0-9OoIl|(][0-9OoIl|\-. ()]{7,34}[0-9OoIl|]")
_DIGITS_BY_LETTERS: Final = re.compile(
    rf"(?:(?<![A-Za-z])|(?<=(?<![A-Za-z])[A-Z][A-Z]))(?=[^\n]{{0,30}}?[OoIl|]){_LIKE_DIGITS.pattern}(?![A-Za-z])"
)
_WORD: Final = re.compile(r"[A-Za-z]{3}|[가-힣]{2}")
_PIECE: Final = "[^ 가-힣]"
_FEW_BREAKS: Final = 6  # each alone finds 2 more of the 9,870; both are credentials, which must not leak
_PIECE_GAPS: Final = (" ", "  ")
_TAGS: Final = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_TAGGED: Final = re.compile(r"[\U000e0020-\U000e007e]|\\u[dD][bB]40|%[fF]3%[aA]0|&#(?:9177|[xX]0*[eE]00)")
_LINE_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\++[nrt])+")
_SPACES: Final = re.compile(" +")
_LETTER_BY_DIGIT: Final = re.compile(r"[0-9][-. ]?[OoIl|]|[OoIl|][-. ]?[0-9]")
_AS_DIGITS: Final = str.maketrans("OoIl|", "00111")
_LABEL: Final = re.compile(r"\[([A-Z]{2,9})-(?:[1-9][0-9]{0,4}|[0-9]{30,40}|[a-p]{48})\]")


Closing = Literal["joined", "pieces"]


def closings(view: View | None, shown: str, *, pieces: bool) -> Iterator[tuple[Closed, Closing]]:
    """Yield each distinct variant of a reading without the white space that may split words or numbers.

    Parameters
    ----------
    view : View, optional
        The reading, or None for the unchanged text.
    shown : str
        Its text.
    pieces : bool
        Also close runs of equally long pieces, to which only rules with `Rule.joins` apply.
    """
    seen = {shown}
    for gaps, kind in _gaps(shown, pieces=pieces):
        closed = Closed(shown, gaps, view)
        if closed.text not in seen:
            seen.add(closed.text)
            yield closed, kind


def letters_as_digits(view: View | None, shown: str) -> View | None:
    """Replace letters between digits by the digits they resemble; None if there are none."""
    if not all(pattern.search(shown) for pattern in (_LIKE_DIGITS, _LETTER_BY_DIGIT, _DIGITS_BY_LETTERS)):
        return None
    return _rewrite(view or _identity(shown), _DIGITS_BY_LETTERS, _letters_as_digits)


def rewritten(
    view: View | None,
    shown: str,
    pattern: re.Pattern[str],
    replace: Callable[[re.Match[str]], list[tuple[str, int, int]]],
) -> View:
    """Replace matches in a reading by characters with their own offsets within the match."""
    return _rewrite(view or _identity(shown), pattern, replace)


def readings(text: str) -> Iterator[View | None]:
    """Yield the readings of a text: unchanged (None), undisguised, and with tags or escapes decoded."""
    yield None
    if _PLAIN.fullmatch(text):
        return
    clear = _clear(_identity(text)) if _may_differ(text) else None
    if clear is not None:
        yield clear
    tagged = _TAGGED.search(text) is not None
    if tagged:
        yield _clear(_identity(text), tags=True) or _identity(text)
    if "\\" in text and _LINE_ESCAPE.search(text):
        broken = _rewrite(_identity(text), _LINE_ESCAPE, lambda match: "\n")
        yield _clear(broken) or broken
        if tagged:
            yield _clear(broken, tags=True) or broken


def plain_text(text: str) -> str:
    """Return the undisguised text, which is equal for all spellings of a value."""
    clear = _clear(_identity(text)) if _may_differ(text) else None
    return text if clear is None else clear.text


def with_short_labels(text: str) -> View | None:
    """Shorten all labels to the same width; None if the text has no label.

    Some rules depend on the distance of words, and labels are longer during an export than in its result.
    """
    if "[" not in text or not _LABEL.search(text):
        return None
    return _rewrite(_identity(text), _LABEL, lambda match: f"[{match[1]}-0]")


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


def _gaps(shown: str, *, pieces: bool) -> Iterator[tuple[Gaps, Closing]]:
    """Yield the gaps to close, with and without the words next to a run."""
    if "\n" in shown:
        for gaps in _breaks(shown):
            yield gaps, "joined"
    if " " not in shown:
        return
    if runs := _runs(_SPELLED, shown):
        for head, tail in ((0, 0), (2, 0), (0, 2), (2, 2)):
            yield _spaces(runs, shown, head, tail), "joined"
    signs = _runs(_SPACED_SIGN, shown)
    if len(signs) > 1:
        yield [gap for at, end in signs for gap in ((at, at + 1), (end - 1, end))], "joined"
    if not pieces:
        return
    for pattern in chain(*(_pieces(gap) for gap in _PIECE_GAPS if gap in shown)):
        if runs := _runs(pattern, shown):
            yield _inner(runs, shown), "pieces"


def _breaks(shown: str) -> Iterator[Gaps]:
    """Yield all line breaks, those before no word, and, if there are few, each of them separately."""
    breaks = _runs(_BREAK, shown)
    yield breaks
    if len(breaks) > 2:
        yield [gap for gap in breaks if not _WORD.match(shown, gap[1])]
    if 1 < len(breaks) <= _FEW_BREAKS:
        yield from ([gap] for gap in breaks)


def _runs(pattern: re.Pattern[str], text: str) -> Gaps:
    return [match.span() for match in pattern.finditer(text)]


def _spaces(runs: Gaps, text: str, head: int, tail: int) -> Gaps:
    """Return the white space of runs, without some characters at their ends."""
    places = (at for start, end in runs for at in range(start + head, end - tail))
    return [(at, at + 1) for at in places if text[at].isspace()]


def _inner(runs: Gaps, text: str) -> Gaps:
    """Return the gaps of runs."""
    return [match.span() for start, end in runs for match in _SPACES.finditer(text, start, end)]


def _may_differ(text: str) -> bool:
    return _UNUSUAL.search(text) is not None or _ESCAPED.search(text) is not None


def _clear(view: View, *, tags: bool = False) -> View | None:
    """Remove the disguises of a view; None if there are none."""
    text = view.text
    if _UNUSUAL.search(text):
        view = _folded(view, tags=tags)
    for _ in range(_ROUNDS):
        if not _ESCAPED.search(view.text):
            break
        view = _folded(_rewrite(view, _ESCAPE, _decoded), tags=tags)
    return None if view.text == text else view


def _folded(view: View, *, tags: bool) -> View:
    if tags:
        view = View(view.text.translate(_TAGS), view.starts, view.ends)
    view = _rewrite(view, _INVISIBLE, lambda match: "")
    return _rewrite(view, _CLUSTER, lambda match: fold(match[0]))


def _identity(text: str) -> View:
    return View(text, list(range(len(text))), list(range(1, len(text) + 1)))


def _rewrite(
    view: View, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str | list[tuple[str, int, int]]]
) -> View:
    """Replace matches by a text, or by characters with their own offsets within the match."""
    text, starts, ends = [], [], []
    last = 0
    for match in pattern.finditer(view.text):
        begin, end = match.span()
        text.append(view.text[last:begin])
        starts += view.starts[last:begin]
        ends += view.ends[last:begin]
        new = replace(match)
        pieces = [(char, 0, end - begin) for char in new] if isinstance(new, str) else new
        for char, first, behind in pieces:
            text.append(char)
            starts.append(view.starts[begin + first])
            ends.append(view.ends[begin + behind - 1])
        last = end
    if not last:
        return view
    text.append(view.text[last:])
    return View("".join(text), starts + view.starts[last:], ends + view.ends[last:])


def _decoded(match: re.Match[str]) -> str | list[tuple[str, int, int]]:
    escape = match[0]
    if escape.startswith("%"):
        return _percent_decoded(escape)
    if escape.startswith("&"):
        return html.unescape(escape)
    high, _, low = escape.lstrip("\\")[1:].partition("\\")
    number = int(high.strip("{}"), 16)
    if low:
        number = 0x10000 + ((number - 0xD800) << 10) + int(low.lstrip("\\")[1:], 16) - 0xDC00
    return chr(number) if number < 0x110000 else escape


def _percent_decoded(escape: str) -> list[tuple[str, int, int]]:
    data = bytes.fromhex(escape.replace("%", ""))
    for encoding in ("utf-8", "cp949"):
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        encoding, text = "latin-1", data.decode("latin-1")
    pieces, at = [], 0
    for char in text:
        size = 3 * len(char.encode(encoding))
        pieces.append((char, at, at + size))
        at += size
    return pieces


def _letters_as_digits(match: re.Match[str]) -> list[tuple[str, int, int]]:
    return [(char.translate(_AS_DIGITS), at, at + 1) for at, char in enumerate(match[0])]
