"""Replace private data in a text with labels; equal values get equal numbers."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from coreloop.sanitize.find_in_text import Hit, find_hits

if TYPE_CHECKING:
    from coreloop.sanitize.company_names import Names

Label = Callable[[str, str], str]
_ROUNDS: Final = 4  # chosen: what still hides data after four rounds is replaced whole
_NOISE: Final = re.compile(r"[\s\-.·()/]+")
_EXACT: Final = frozenset({"SECRET", "URL", "PATH"})


class Numbering:
    """Labels such as ``[EMAIL-3]``, numbered per kind in order of first appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def __call__(self, kind: str, value: str) -> str:
        numbers = self._numbers.setdefault(kind, {})
        return f"[{kind}-{numbers.setdefault(value, len(numbers) + 1)}]"


def sanitize_text(text: str, *, names: "Names | None" = None) -> str:
    """Mask the private data of a text.

    Parameters
    ----------
    text : str
        Any text.
    names : Names, optional
        Companies to mask as well, with their stock codes.

    Returns
    -------
    str
        The text with labels such as ``[EMAIL-1]``, numbered within this text.
    """
    return mask_text(text, Numbering(), names=names)


def mask_text(
    text: str, label: Label, *, names: "Names | None" = None, hits: tuple[Hit, ...] | None = None
) -> str:
    """Mask a text with the labels of the caller.

    Parameters
    ----------
    text : str
        Any text.
    label : callable
        Maps a kind and a value to the label.
    names : Names, optional
        Companies to mask as well.
    hits : tuple of Hit, optional
        Known findings; by default they are searched.
    """
    if hits is None:
        hits = find_hits(text, names=names)
    for _ in range(_ROUNDS):
        if not hits:
            return text
        text = _replaced(text, hits, label)
        hits = find_hits(text, names=names)  # the rest may match other rules without its neighbours
    return label("TEXT", text) if hits else text


def _replaced(text: str, hits: tuple[Hit, ...], label: Label) -> str:
    pieces, last = [], 0
    for hit in hits:
        pieces += [text[last : hit.start], label(hit.kind, canonical(hit))]
        last = hit.end
    return "".join(pieces) + text[last:]


def canonical(hit: Hit) -> str:
    """Normalize a value so that its different spellings are equal."""
    return hit.value if hit.kind in _EXACT else _NOISE.sub("", hit.value).casefold()
