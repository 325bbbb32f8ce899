"""The forms of a one-line statement about a tool: written and parsed here only.

A form is a sentence with slots; every slot holds names or values of a closed vocabulary, never free text. No
line has a date or a rate: the evidence is in the draft, in the trailers and in the pull request.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import Final

from coreloop.base.text import FILLERS
from coreloop.learn.statements.line_sentences import (
    LANGUAGES,
    SHAPES,
    WORDINGS,
    Language,
)

_NAME: Final = r"[^\W\d]\w{0,63}"
_TOOL: Final = r"[^\W\d](?:[\w.:/-]{0,98}\w)?"  # no period at its end, since a line has none
_WORD: Final = r"[\w][\w-]{0,39}"
_VALUE: Final = rf'{_NAME}=(?:"[^"]{{1,80}}"|true|false)'
_PATH: Final = rf"{_TOOL}\(\)(?:\.{_NAME}|\.\*|\[\]){{0,12}}"  # get_product_details().variants.*.item_id


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot: the pattern of an item, the separator of several items, and that before the last item."""

    item: str
    separator: str = ""
    last_separator: str = ""
    korean_item: str = ""

    def _separators(self, language: Language) -> tuple[str, str]:
        """The separator, and the one before the last item."""
        both = self.separator, self.last_separator or self.separator
        return both if language == "en" else (_KOREAN.get(both[0], both[0]), _KOREAN.get(both[1], both[1]))

    def _between(self, language: Language) -> str:
        # each separator once: a pattern that can match in two ways takes exponential time to fail
        return "|".join(map(re.escape, dict.fromkeys(self._separators(language))))

    def pattern(self, language: Language) -> str:
        """Matches what `join` writes."""
        item = rf"(?:{self.item if language == 'en' else self.korean_item or self.item})"
        return rf"{item}(?:(?:{self._between(language)}){item})*" if self.separator else item

    def join(self, items: tuple[str, ...], language: Language) -> str:
        """The items as text."""
        written = items if language == "en" else tuple(SHAPES.get(item, item) for item in items)
        *first, last = written
        separator, last_separator = self._separators(language)
        return f"{separator.join(first)}{last_separator}{last}" if first else last

    def split(self, text: str, language: Language) -> tuple[str, ...]:
        """The items of a text."""
        items = tuple(re.split(self._between(language), text)) if self.separator else (text,)
        return items if language == "en" else tuple(_ENGLISH.get(item, item) for item in items)


_KOREAN: Final[Mapping[str, str]] = {" and ": ", ", " or ": " 또는 "}
"""Separators: Korean particles depend on the word before them, so a comma stands for "and"."""
_ENGLISH: Final = {korean: english for english, korean in SHAPES.items()}
_SLOTS: Final[Mapping[str, _Slot]] = {
    "argument": _Slot(_NAME),
    "arguments": _Slot(_NAME, ", ", " and "),
    "tool": _Slot(_TOOL),
    "paths": _Slot(_PATH, " or "),
    "values": _Slot(_WORD, ", "),
    "number": _Slot(r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?"),
    "pair": _Slot(_VALUE),
    "field": _Slot(_NAME),
    "other": _Slot(_NAME),
    "states": _Slot(_WORD, " or "),
    "shape": _Slot("|".join(map(re.escape, SHAPES)), korean_item="|".join(map(re.escape, SHAPES.values()))),
    "prefix": _Slot(r"[\w][\w./:-]{0,11}"),
}
GUIDE_FORMS: Final = frozenset({"source"})
"""Forms of a Guide."""
_SUBJECTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "source": ("source", ("argument",)),
    "leave_out": ("leave_out", ("arguments",)),
    "never_empty": ("never_empty", ("arguments",)),
    "with_fails": ("leave_out", ("arguments",)),
    "empty_fails": ("never_empty", ("arguments",)),
    "one_of": ("values", ("argument",)),
    "only_while": ("state", ("argument", "field")),
    "at_most": ("over", ("argument",)),
    "over_fails": ("over", ("argument",)),
    "at_least": ("under", ("argument",)),
    "written": ("shape", ("argument",)),
    "prefix": ("shape", ("argument",)),
    "items": ("length", ("argument",)),
    "characters": ("length", ("argument",)),
    "before": ("before", ("argument",)),
    "call_first": ("order", ("tool", "argument")),
    "fails": ("fails", ("pair",)),
    "without_fails": ("always_pass", ()),
}
"""By form: a kind, shared by the forms that exclude each other, and the slots that make up the subject."""
_ABOUT: Final = ("{argument}: ", "{arguments}: ")
_BETWEEN_CLAUSES: Final = "; "
_FIELD: Final = re.compile(r"\{(\w+)\}")
_FIELD_NAME: Final = re.compile(r"\.(\w+)")


@dataclass(frozen=True, slots=True)
class Advice:
    """One line: a form's name, the contents of its slots, and more clauses about the same argument."""

    form: str
    slots: tuple[tuple[str, tuple[str, ...]], ...] = ()
    language: Language = "en"
    more: tuple["Advice", ...] = ()

    def __str__(self) -> str:
        clauses = (str(clause).partition(": ")[2] for clause in self.more)
        return _BETWEEN_CLAUSES.join((f"- {self._sentence()}", *clauses))

    def _sentence(self) -> str:
        texts = {name: _SLOTS[name].join(items, self.language) for name, items in self.slots}
        return WORDINGS[self.form].sentence(self.language).format(**texts)

    def clauses(self) -> tuple["Advice", ...]:
        """Each clause as a line of its own."""
        return (replace(self, more=()), *self.more)

    def argument(self) -> str | None:
        """The argument that the line begins with, so that clauses about it can be joined; else None."""
        is_clause = WORDINGS[self.form].en.startswith(_ABOUT)
        items = dict(self.slots).get("argument") or dict(self.slots).get("arguments", ())
        return items[0] if is_clause and len(items) == 1 else None

    def is_sound(self) -> bool:
        """Whether the line parses back to this value; a slot with unsuitable text does not."""
        return parse_advice(str(self)) == self

    def items(self, *slots: str) -> tuple[str, ...]:
        """What some slots of the line and of its other clauses hold."""
        return tuple(
            item for line in self.clauses() for name, items in line.slots if name in slots for item in items
        )

    def named(self) -> "Named":
        """The names and values in the line, by the closed vocabulary that must contain them."""
        pairs = [item.partition("=") for item in self.items("pair")]
        paths = self.items("paths")
        return Named(
            arguments=self.items("argument", "arguments", "other") + tuple(name for name, _, _ in pairs),
            values=self.items("values", "states", "prefix")
            + tuple(value.strip('"') for _, _, value in pairs if value.startswith('"')),
            tools=self.items("tool") + tuple(path.partition("(")[0] for path in paths),
            fields=tuple(tuple(_FIELD_NAME.findall(path.partition("()")[2])) for path in paths)
            + tuple((field,) for field in self.items("field")),
        )

    def subject(self) -> tuple[str, ...]:
        """The subject of the line; a docstring needs only one line about a subject."""
        kind, slots = _SUBJECTS.get(self.form, (self.form, ()))
        items = dict(self.slots)
        return kind, *(" ".join(items[slot]) for slot in slots)

    def sends_to(self, tool: str) -> bool:
        """Whether the line, in a tool's docstring, recommends that very tool before."""
        return ("tool", (tool,)) in self.slots


@dataclass(frozen=True, slots=True)
class Named:
    """The names and values in a line; `fields` are the paths of results' fields."""

    arguments: tuple[str, ...]
    values: tuple[str, ...]
    tools: tuple[str, ...]
    fields: tuple[tuple[str, ...], ...] = ()


def statement_key(*parts: str) -> str:
    """A key that is stable across runs: 16 hex digits of SHA-256 of tool, line and section, or the like."""
    return sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def advice(form: str, **slots: str | tuple[str, ...]) -> Advice:
    """Make a line from its slots, given by name in any order."""
    given = {name: (items,) if isinstance(items, str) else items for name, items in slots.items()}
    return Advice(form, tuple((name, given[name]) for name in _FIELD.findall(WORDINGS[form].en)))


def written_path(recorded: str, tools: Collection[str]) -> str | None:
    """Convert a recorded path (``get_user_details.orders[]``) to a line's (``get_user_details().orders[]``).

    Parameters
    ----------
    recorded : str
        From a call's ``args_from``.
    tools : collection of str
        Names of tools. The longest that is a prefix is the path's tool, since names may contain dots.

    Returns
    -------
    str or None
        None if no tool fits, or a field is not a plain name.
    """
    tool = max((name for name in tools if recorded.startswith(name)), key=len, default="")
    path = f"{tool}(){recorded[len(tool) :]}"
    return path if tool and re.fullmatch(_PATH, path) else None


def recorded_path(written: str) -> str:
    """The reverse of `written_path`."""
    return written.replace("()", "", 1)


def parse_advice(line: str) -> Advice | None:
    """Parse a line; None if it has none of the forms, or contains invisible characters."""
    if not line.isprintable() or not FILLERS.isdisjoint(line):
        return None
    value = next(filter(None, (_parse(line, language) for language in LANGUAGES)), None)
    return value if value is not None and str(value) == line else None


def joined(lines: Iterable[Advice]) -> Advice:
    """One line of clauses about the same argument."""
    first, *more = lines
    return replace(first, more=tuple(more))


def in_language(line: Advice, language: Language) -> Advice:
    """The same line in another language."""
    return replace(line, language=language, more=tuple(in_language(clause, language) for clause in line.more))


def _parse(line: str, language: Language) -> Advice | None:
    subject, *clauses = line.split(_BETWEEN_CLAUSES)
    argument = subject.partition(": ")[0]
    parts = [_clause(text, language) for text in (subject, *(f"{argument}: {clause}" for clause in clauses))]
    lines = [part for part in parts if part is not None]
    if len(lines) < len(parts) or (clauses and None in {part.argument() for part in lines}):
        return None
    return joined(lines)


def _clause(text: str, language: Language) -> Advice | None:
    for form, wording in WORDINGS.items():  # compiled at the first line, so that the guard starts sooner
        match = re.fullmatch(f"- {_pattern(wording.sentence(language), language)}", text)
        if match is not None:
            slots = tuple(
                (name, _SLOTS[name].split(match[name], language)) for name in _FIELD.findall(wording.en)
            )
            return Advice(form, slots, language)
    return None


@cache
def _pattern(sentence: str, language: Language) -> str:
    parts = _FIELD.split(sentence)  # text and names of slots alternate
    return "".join(
        f"(?P<{part}>{_SLOTS[part].pattern(language)})" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )
