"""A string literal in a source text: map positions in its value to the source, and spell new text."""

import ast
import re
import warnings
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from coreloop.descriptions.source import UnprovenError

# The possessive repeat avoids exponential time on text that does not match. The group's own repeat is not
# possessive: in Python 3.11.2 such a group never matches.
_LITERAL = re.compile(
    r"(?P<prefix>[rRuU]?)(?P<quote>\"\"\"|'''|\"|')"
    r"(?P<body>(?:[^\\\"']++|\\.|(?!(?P=quote))[\"'])*)(?P=quote)",
    re.DOTALL,
)
_NEWLINE = re.compile(r"\r\n?")
_ESCAPE = re.compile(
    r"\\(?:\r\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^{}\\]*\}|.)|\r\n?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A plain string literal.

    Parameters
    ----------
    prefix, quote : str
        As written.
    start, end : int
        Offsets in the text of the part between the quotes.
    value : str
        Its value in Python.
    marks : tuple of (int, int)
        Offsets in ``value`` and in the text, after each escape and each line break that is spelled
        differently; between marks, both advance equally.
    """

    prefix: str
    quote: str
    start: int
    end: int
    value: str
    marks: tuple[tuple[int, int], ...]

    @property
    def raw(self) -> bool:
        return self.prefix in ("r", "R")

    @property
    def triple(self) -> bool:
        return len(self.quote) == 3

    def offset(self, position: int) -> int:
        """Offset in the text of an offset in the value (the end of one of its lines)."""
        number = bisect_left(self.marks, (position, 0))
        if number == len(self.marks) or self.marks[number][0] > position:
            number -= 1
        value, text = self.marks[number]
        return text + position - value

    def spell(self, lines: str, newline: str) -> str:
        """Spell text (line breaks LF) for the literal; `UnprovenError` if that is impossible."""
        if self.raw:
            return self._spell_raw(lines, newline)
        escaped = lines.replace("\\", "\\\\")
        if self.triple:
            return escaped.replace(self.quote, "\\" + "\\".join(self.quote)).replace("\n", newline)
        return escaped.replace(self.quote, "\\" + self.quote).replace("\n", "\\n")

    def _spell_raw(self, lines: str, newline: str) -> str:
        if not self.triple:
            raise UnprovenError(
                "the docstring is a raw string in single quotes, which cannot contain a line break"
            )
        if self.quote in lines:
            raise UnprovenError(
                "the docstring is a raw string, which cannot contain {quote}", quote=self.quote
            )
        return lines.replace("\n", newline)


def read_literal(text: str, start: int, end: int) -> StringLiteral:
    """Read the literal at ``text[start:end]``; `UnprovenError` for several joined literals."""
    match = _LITERAL.fullmatch(text, start, end)
    if not match:
        raise UnprovenError("the docstring consists of several literals")
    raw = match["prefix"] in ("r", "R")
    parts, marks = [], [(0, match.start("body"))]
    length, copied = 0, match.start("body")
    for unit in (_NEWLINE if raw else _ESCAPE).finditer(text, match.start("body"), match.end("body")):
        meaning = "\n" if unit.group()[0] == "\r" else _meaning(unit.group())
        parts += [text[copied : unit.start()], meaning]
        length += unit.start() - copied + len(meaning)
        copied = unit.end()
        marks.append((length, copied))
    parts.append(text[copied : match.end("body")])
    value = "".join(parts)
    return StringLiteral(
        match["prefix"], match["quote"], match.start("body"), match.end("body"), value, tuple(marks)
    )


@lru_cache(maxsize=1024)
def _meaning(escape: str) -> str:
    if escape[1] in "\r\n":
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(ast.literal_eval(f'"{escape}"'))
