"""Views: undisguised versions of a text whose characters map back to the original.

Rules match on views; cuts are made in the original. Of 10,530 planted values (2026-11-24), 2,547
more leak without the readings (24 %).
"""

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final


@dataclass(frozen=True, slots=True)
class View:
    """A rewritten text.

    Attributes
    ----------
    text : str
        The text to match on.
    starts, ends : list of int
        Original offsets of each character of ``text``.
    is_joined : bool
        Whether line breaks were closed.
    """

    text: str
    starts: list[int]
    ends: list[int]
    is_joined: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a match to offsets of the original."""
        return self.starts[start], max(self.ends[start:end])


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
    r"%[0-7][0-9A-Fa-f]|%[c-fC-F][0-9A-Fa-f](?:%[89abAB][0-9A-Fa-f]){1,3}|&(?:#[xX]?[0-9a-fA-F]{1,7};?|[A-Za-z][A-Za-z0-9]{1,31};)|"
    r"(?<!\\)\\++u[dD][89abAB][0-9A-Fa-f]{2}\\++u[dD][c-fC-F][0-9A-Fa-f]{2}|"
    r"(?<!\\)\\++(?:u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2})"
)
_ROUNDS: Final = 4  # chosen: text escaped more than four times is no longer read by anybody
_WORD: Final = r"(?:[A-Z]?[a-z]+|[A-Z]+(?:_[A-Z]+)*[0-9]{0,4})"
# "hong.gil\ndong@example.com", not "Analyst\nmarta@acme.io" and not "key\n- next"
_BREAK: Final = re.compile(
    rf"(?<=[0-9A-Za-z@._+/-])[ \t]*\n[ \t]*(?!-\s|{_WORD}(?![0-9A-Za-z@._+/-]))(?=[0-9a-zA-Z@._+/-])"
)
_WORD_BEFORE: Final = re.compile(rf"(?<![0-9A-Za-z@._+/-]){_WORD}\Z")
_MAX_WORD_CHARS: Final = 24  # chosen: longer runs of letters are no words
_LINE_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\++[nrt])+")
SHORT_LABEL: Final = re.compile(r"\[[A-Z]{2,9}-0\]")
_LABEL: Final = re.compile(r"\[([A-Z]{2,9})-(?:[1-9][0-9]{0,4}|[0-9]{30,40}|[a-p]{48})\]")


def readings(text: str) -> Iterable[View | None]:
    """Return the readings of a text: unchanged (None), decoded, and with line breaks closed."""
    if "\n" not in text and _PLAIN.fullmatch(text):
        return (None,)
    return _readings(text)


def _readings(text: str) -> Iterator[View | None]:
    yield None
    clear = _clear(_identity(text)) if _may_differ(text) else None
    if clear is not None:
        yield clear
    if _BREAK.search(text if clear is None else clear.text):
        yield _without_breaks(clear or _identity(text))
    if "\\" in text and _LINE_ESCAPE.search(text):
        broken = _rewrite(_identity(text), _LINE_ESCAPE, lambda match: "\n")
        yield _clear(broken) or broken
        yield _without_breaks(broken)


def _without_breaks(view: View) -> View:
    """Close the line breaks in words and numbers: a wrapped address, a key of two lines."""
    return replace(_rewrite(view, _BREAK, _closed_break), is_joined=True)


def _closed_break(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - _MAX_WORD_CHARS) : match.start()]
    return match[0] if _WORD_BEFORE.search(before) else ""


def plain_text(text: str) -> str:
    """Return the undisguised text, which is equal for all spellings of a value."""
    clear = _clear(_identity(text)) if _may_differ(text) else None
    return text if clear is None else clear.text


def short_labels(text: str) -> str:
    """Shorten all labels to the same width.

    Some rules depend on the distance of words, and labels are longer during an export than in its result.
    """
    return _LABEL.sub(_short_label, text) if "[" in text else text


def with_short_labels(text: str) -> View:
    """Return `short_labels` as a view."""
    return _rewrite(_identity(text), _LABEL, _short_label)


def _short_label(match: re.Match[str]) -> str:
    return f"[{match[1]}-0]"


def _may_differ(text: str) -> bool:
    return _UNUSUAL.search(text) is not None or _ESCAPED.search(text) is not None


def _clear(view: View) -> View | None:
    """Remove the disguises of a view; None if there are none."""
    text = view.text
    if _UNUSUAL.search(text):
        view = _folded(view)
    for _ in range(_ROUNDS):
        if not _ESCAPED.search(view.text):
            break
        view = _folded(_rewrite(view, _ESCAPE, lambda match: _decoded(match[0])))
    return None if view.text == text else view


def _folded(view: View) -> View:
    view = _rewrite(view, _INVISIBLE, lambda match: "")
    return _rewrite(view, _CLUSTER, lambda match: fold(match[0]))


def _identity(text: str) -> View:
    return View(text, list(range(len(text))), list(range(1, len(text) + 1)))


def _rewrite(view: View, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> View:
    """Replace matches; each new character stands for the whole match."""
    text, starts, ends = [], [], []
    last = 0
    for match in pattern.finditer(view.text):
        begin, end = match.span()
        new = replace(match)
        text += [view.text[last:begin], new]
        starts += [*view.starts[last:begin], *[view.starts[begin]] * len(new)]
        ends += [*view.ends[last:begin], *[view.ends[end - 1]] * len(new)]
        last = end
    if not last:
        return view
    text.append(view.text[last:])
    return View("".join(text), starts + view.starts[last:], ends + view.ends[last:])


@lru_cache(maxsize=1024)
def _decoded(escape: str) -> str:
    if escape.startswith("%"):
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")
    if escape.startswith("&"):
        return html.unescape(escape)
    high, _, low = escape.lstrip("\\")[1:].partition("\\")
    number = int(high.strip("{}"), 16)
    if low:
        number = 0x10000 + ((number - 0xD800) << 10) + int(low.lstrip("\\")[1:], 16) - 0xDC00
    return chr(number) if number < 0x110000 else escape


@lru_cache(maxsize=4096)
def fold(cluster: str) -> str:
    """Fold a character with its marks, or the letters of a syllable, into the plain text it reads as."""
    return "".join(map(_fold_char, unicodedata.normalize("NFKC", cluster)))


def _fold_char(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    category = unicodedata.category(char)
    if category == "Pd" or char == "−":
        return "-"
    if category in {"Zl", "Zp"}:
        return "\n"
    if category[0] == "Z":
        return " "
    if category == "Mn" and char < "\u0370":
        return ""
    if "\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff":
        base = unicodedata.normalize("NFD", char)[0]
        return base if base.isascii() else char
    return char


_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{11,}={0,2}")
_IDENTIFIER: Final = re.compile(r"[0-9a-fA-F-]+|[a-z0-9_/-]+|[A-Z_/-]+")
_LINE_ENDS: Final = str.maketrans("\n\r\t", "   ")
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{11,}")


def may_be_encoded(compact: str) -> bool:
    """Whether a text without white space can contain base64: a long run that is not an identifier."""
    runs = _RUN.findall(compact)
    return bool(runs) and not all(map(_IDENTIFIER.fullmatch, runs))


def decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the content of base64 text, and the content of that content."""
    for match in _ENCODED.finditer(text):
        inner = _from_base64(match[0])
        if inner is not None:
            yield match.start(), match.end(), inner
            again = _from_base64(inner.strip()) if _ENCODED.fullmatch(inner.strip()) else None
            if again is not None:
                yield match.start(), match.end(), again


def _from_base64(token: str) -> str | None:
    bare = token.rstrip("=")
    if len(bare) % 4 == 1 or (bare == token and _IDENTIFIER.fullmatch(bare)):
        return None
    try:
        data = base64.b64decode(
            bare.replace("-", "+").replace("_", "/") + "=" * (-len(bare) % 4), validate=True
        )
        text = data.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if text.translate(_LINE_ENDS).isprintable() else None
