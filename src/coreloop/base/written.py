"""Texts of our files, which are English, said in Korean: which message a text was, and its values."""

import string
from functools import cache
from typing import Final

from coreloop.base.messages import catalogue, in_korean
from coreloop.base.particles import korean_format

_MAX_CHARS: Final = 1_000
"""Longer than any message; what a user wrote is not searched."""


class _Written(str):
    """A value that is formatted already."""

    __slots__ = ()

    def __format__(self, format_spec: str) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)


def read_back(text: str) -> str:
    """Return an English text in Korean, or as it is if no message of the catalogue with values is like it."""
    if len(text) > _MAX_CHARS:
        return text
    for template, literals, names in _templates():
        values = _values(text, literals, names)
        if values is None and template.startswith("{n} "):
            values = _values(text.removesuffix("s"), literals, names)
        if values is not None:
            written = {name: _Written(_translated(value)) for name, value in values.items()}
            return korean_format(catalogue()[template], written)
    return text


def _translated(value: str) -> str:
    """A sentence of ours in Korean; a single word may be the name of a tool."""
    return in_korean(value) if " " in value else value


@cache
def _templates() -> list[tuple[str, list[str], list[str]]]:
    """The messages with values: their text between the values, and the values' names; the longest first."""
    parsed = [(template, *_parsed(template)) for template in catalogue()]
    fitting = [
        (template, literals, names)
        for template, literals, names in parsed
        if names and all(map(str.isidentifier, names)) and any(map(str.isalpha, "".join(literals)))
    ]
    return sorted(fitting, key=lambda one: -sum(map(len, one[1])))


def _parsed(template: str) -> tuple[list[str], list[str]]:
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError:  # a text with braces
        return [], []
    names = [name for _, name, _, _ in parts if name is not None]
    return [*(literal for literal, _, _, _ in parts), ""][: len(names) + 1], names


def _values(text: str, literals: list[str], names: list[str]) -> dict[str, str] | None:
    first, *between, last = literals
    if len(text) <= len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return None
    values, rest = {}, text[len(first) : len(text) - len(last)]
    for name, literal in zip(names, between, strict=False):
        values[name], found, rest = rest.partition(literal) if literal else ("", "adjacent", rest)
        if not found:
            return None
    values[names[-1]] = rest
    is_number = "n" not in values or values["n"].replace(",", "").isdecimal()
    return values if rest and is_number else None
