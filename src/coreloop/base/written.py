"""Texts of our files, which are English, said in Korean: which message a text was, and its values."""

import string
from collections.abc import Callable, Mapping
from typing import Final

from coreloop.base.particles import korean_format

_MAX_CHARS: Final = 1_000
"""Longer than any message; what a user wrote is not searched."""
_MIN_LETTERS: Final = 10
"""Fewer do not tell a message: ``{calls} in {days}`` is like any sentence."""


class _Written(str):
    """A value that is formatted already."""

    __slots__ = ()

    def __format__(self, format_spec: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)


class Reader:
    """Reads texts back.

    Parameters
    ----------
    catalogue : mapping of str to str
        English messages and their Korean.
    translate : callable
        Says a value that is a sentence in Korean.
    """

    def __init__(self, catalogue: Mapping[str, str], translate: Callable[[str], str]) -> None:
        parsed = [(template, *_parsed(template)) for template in catalogue]
        telling = [one for one in parsed if _is_telling(*one)]
        self._templates = sorted(telling, key=lambda one: -sum(map(len, one[1])))
        self._catalogue, self._translate = catalogue, translate

    def read(self, text: str) -> str:
        """Return an English text in Korean, or as it is if no message with values is like it."""
        if len(text) > _MAX_CHARS:
            return text
        for template, literals, names in self._templates:
            values = _values(text, literals, names)
            if values is None and template.startswith("{n} "):
                values = _values(text.removesuffix("s"), literals, names)
            if values is not None:
                written = {name: _Written(self._said(value)) for name, value in values.items()}
                return korean_format(self._catalogue[template], written)
        return text

    def _said(self, value: str) -> str:
        """A sentence of ours in Korean; a single word may be the name of a tool."""
        return self._translate(value) if " " in value else value


def _parsed(template: str) -> tuple[list[str], list[str]]:
    """Its text between the values, and the values' names."""
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError:  # a text with braces
        return [], []
    names = [name for _, name, _, _ in parts if name is not None]
    return [*(literal for literal, _, _, _ in parts), ""][: len(names) + 1], names


def _is_telling(template: str, literals: list[str], names: list[str]) -> bool:
    n_letters = sum(map(str.isalpha, "".join(literals)))
    is_known = n_letters >= _MIN_LETTERS or template.startswith("{n} ")
    return bool(names) and all(map(str.isidentifier, names)) and is_known


def _values(text: str, literals: list[str], names: list[str]) -> dict[str, str] | None:
    first, *between, last = literals
    if len(text) <= len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return None
    values, rest = dict[str, str](), text[len(first) : len(text) - len(last)]
    for name, literal in zip(names, between, strict=False):
        values[name], found, rest = rest.partition(literal) if literal else ("", "adjacent", rest)
        if not found:
            return None
    values[names[-1]] = rest
    is_number = "n" not in values or values["n"].replace(",", "").isdecimal()
    return values if rest and is_number else None
