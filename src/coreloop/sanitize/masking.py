"""A text with labels in the place of private data; the same value has the same number."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from coreloop.sanitize.find import Hit, find_hits

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

Label = Callable[[str, str], str]
_ROUNDS: Final = 4
_NOISE: Final = re.compile(r"[\s\-.·()/]+")
_EXACT: Final = frozenset({"SECRET", "URL", "PATH"})


class Numbering:
    """Labels such as ``[EMAIL-3]``: numbered in the order in which values of a kind are first seen."""

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
        Companies to mask too, with their stock codes.

    Returns
    -------
    str
        With labels such as ``[EMAIL-1]``, numbered within this text.
    """
    return mask_text(text, Numbering(), names=names)


def mask_text(
    text: str, label: Label, *, names: "Names | None" = None, hits: tuple[Hit, ...] | None = None
) -> str:
    """Mask with labels of the caller's.

    Parameters
    ----------
    text : str
        Any text.
    label : callable
        From the kind and the value to what takes its place.
    names : Names, optional
        Companies.
    hits : tuple of Hit, optional
        What was found already.
    """
    found = find_hits(text, names=names) if hits is None else hits
    for _ in range(_ROUNDS):
        if not found:
            return text
        text = _replaced(text, found, label)
        found = find_hits(text, names=names)  # what is left may read otherwise without its neighbour
    return label("TEXT", text) if found else text


def _replaced(text: str, hits: tuple[Hit, ...], label: Label) -> str:
    pieces, last = [], 0
    for hit in hits:
        pieces += [text[last : hit.start], label(hit.kind, canonical(hit))]
        last = hit.end
    return "".join(pieces) + text[last:]


def canonical(hit: Hit) -> str:
    """What two ways of writing one value have in common."""
    return hit.value if hit.kind in _EXACT else _NOISE.sub("", hit.value).casefold()
