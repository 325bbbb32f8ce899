"""The forms of a one-line statement about a tool: written and parsed here only.

A form is a sentence with slots; every slot holds names or values of a closed vocabulary, never free text. No
line has a date or a rate: the evidence is in the draft, in the trailers and in the pull request.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from coreloop.base.error_classes import CLASSES
from coreloop.base.text import FILLERS
from coreloop.learn.statements.line_sentences import (
    BOTH,
    CONDITIONS,
    FAILS,
    LANGUAGES,
    SHAPES,
    WORDINGS,
    Language,
    Wording,
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
    "keywords": _Slot(r"[^\W_](?:[\w &+/.-]{0,38}\w)?", ", "),
    "values": _Slot(_WORD, ", "),
    "number": _Slot(r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?"),
    "pair": _Slot(_VALUE),
    "class": _Slot("|".join(CLASSES)),
    "call": _Slot(rf"{_TOOL}(?:\((?:{_VALUE}(?:, {_VALUE})*)?\))?"),
    "field": _Slot(_NAME),
    "other": _Slot(_NAME),
    "states": _Slot(_WORD, " or "),
    "shape": _Slot("|".join(map(re.escape, SHAPES)), korean_item="|".join(map(re.escape, SHAPES.values()))),
    "prefix": _Slot(r"[\w][\w./:-]{0,11}"),
}
GUIDE_FORMS: Final = frozenset({"source", "first", "once", "use_for", "use_instead"})
"""Forms of a Guide."""
CAVEAT_FORMS: Final = frozenset(WORDINGS) - {"first", "once", "use_for", "use_instead"} | {"fails"}
"""Forms of a caveat: all but those about the choice of a tool."""
_SUBJECTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "source": ("source", ("argument",)),
    "from_result": ("source", ("argument",)),
    "first": ("first", ("tool",)),
    "use_instead": ("use_instead", ("keywords",)),
    "leave_out": ("leave_out", ("arguments",)),
    "never_empty": ("never_empty", ("arguments",)),
    "call_before_same": ("order", ("tool", "argument")),
    "call_after_same": ("order", ("tool", "argument")),
    "not_right_after": ("right_after", ("tool",)),
    "one_of": ("values", ("argument",)),
    "only_while": ("state", ("argument", "field")),
    "at_most": ("over", ("argument",)),
    "at_least": ("under", ("argument",)),
    "written": ("shape", ("argument",)),
    "prefix": ("shape", ("argument",)),
    "items": ("length", ("argument",)),
    "characters": ("length", ("argument",)),
    "before": ("before", ("argument",)),
    "call_first": ("order", ("tool", "argument")),
}
"""By form: a kind, shared by the forms that exclude each other, and the slots that make up the subject."""
_OTHER_TOOL: Final = frozenset({"first", "use_instead", "call_before_same", "call_after_same", "call_first"})
_ABOUT: Final = ("{argument}: ", "{arguments}: ")
_BETWEEN_CLAUSES: Final = "; "
_FIELD: Final = re.compile(r"\{(\w+)\}")
_FIELD_NAME: Final = re.compile(r"\.(\w+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition under which calls of a tool fail: a form's name and the contents of its slots."""

    form: str
    slots: tuple[tuple[str, tuple[str, ...]], ...]

    def __str__(self) -> str:
        return self.written("en")

    def written(self, language: Language) -> str:
        """The condition as text."""
        return _written(CONDITIONS[self.form].sentence(language), self.slots, language)


@dataclass(frozen=True, slots=True)
class Advice:
    """One line: a form's name, the contents of its slots and, for ``fails``, the conditions.

    Attributes
    ----------
    slots : tuple of (str, tuple of str)
        By the slots' names in the order of the sentence. For ``fails``: ``class``, if it is known, and
        ``call``, if another call worked instead.
    more : tuple of Advice
        Further clauses about the same argument: ``order_id: only while …; from …``.
    """

    form: str
    slots: tuple[tuple[str, tuple[str, ...]], ...] = ()
    conditions: tuple[Condition, ...] = ()
    language: Language = "en"
    more: tuple["Advice", ...] = ()

    def __str__(self) -> str:
        clauses = (str(clause).partition(": ")[2] for clause in self.more)
        return _BETWEEN_CLAUSES.join((f"- {self._sentence()}", *clauses))

    def _sentence(self) -> str:
        if self.form != "fails":
            return _written(WORDINGS[self.form].sentence(self.language), self.slots, self.language)
        slots = dict(self.slots)
        error_class = f" ({slots['class'][0]})" if "class" in slots else ""
        instead = f": {slots['call'][0]}" if "call" in slots else ""
        conditions = BOTH.sentence(self.language).join(
            part.written(self.language) for part in self.conditions
        )
        return f"{conditions} {FAILS.sentence(self.language)}{error_class}{instead}"

    def clauses(self) -> tuple["Advice", ...]:
        """Each clause as a line of its own."""
        return (replace(self, more=()), *self.more)

    def argument(self) -> str | None:
        """The argument that the line begins with, so that clauses about it can be joined; else None."""
        is_clause = self.form != "fails" and WORDINGS[self.form].en.startswith(_ABOUT)
        items = dict(self.slots).get("argument") or dict(self.slots).get("arguments", ())
        return items[0] if is_clause and len(items) == 1 else None

    def is_sound(self) -> bool:
        """Whether the line parses back to this value; a slot with unsuitable text does not."""
        return parse_advice(str(self)) == self

    def words(self) -> Iterator[tuple[str, str]]:
        """Each slot's name with each of its items, the conditions' slots first."""
        for slots in (*(condition.slots for condition in self.conditions), self.slots):
            for name, items in slots:
                yield from ((name, item) for item in items)
        for clause in self.more:
            yield from clause.words()

    def named(self) -> "Named":
        """The names and values in the line, by the closed vocabulary that must contain them."""
        words = list(self.words())
        pairs = [_pair(item) for slot, item in words if slot == "pair"]
        calls = [(item.partition("(")[0], item) for slot, item in words if slot == "call"]
        given = [(tool, *_pair(pair)) for tool, call in calls for pair in re.findall(_VALUE, call)]
        return Named(
            arguments=_items(words, "argument", "arguments", "other") + tuple(name for name, _ in pairs),
            values=_items(words, "values", "states", "prefix") + tuple(value for _, value in pairs if value),
            tools=_items(words, "tool")
            + tuple(path.partition("(")[0] for path in _items(words, "paths"))
            + tuple(tool for tool, _ in calls),
            keywords=_items(words, "keywords"),
            given=tuple(given),
            fields=tuple(
                tuple(_FIELD_NAME.findall(path.partition("()")[2])) for path in _items(words, "paths")
            )
            + tuple((field,) for field in _items(words, "field")),
        )

    def subject(self) -> tuple[str, ...]:
        """The subject of the line; a docstring needs only one line about a subject."""
        if self.form == "fails" and [part.form for part in self.conditions] in (["over"], ["under"]):
            return self.conditions[0].form, *dict(self.conditions[0].slots)["argument"]
        kind, slots = _SUBJECTS.get(self.form, (self.form, ()))
        items = dict(self.slots)
        conditions = sorted(f"{part.form} {' '.join(part.slots[0][1])}" for part in self.conditions)
        return kind, *(" ".join(items[slot]) for slot in slots), *conditions

    def sends_to(self, tool: str) -> bool:
        """Whether the line, in a tool's docstring, recommends that very tool before, after or instead."""
        return self.form in _OTHER_TOOL and ("tool", (tool,)) in self.slots


@dataclass(frozen=True, slots=True)
class Named:
    """The names and values in a line.

    Attributes
    ----------
    arguments, values : tuple of str
        Of the tool that the line is about; a value without its quotes.
    tools : tuple of str
        Other tools, and the tool itself if a path starts at its result.
    keywords : tuple of str
        Of a category.
    given : tuple of (str, str, str)
        Tool, argument and value of the call that works instead; the value is "" for true and false.
    fields : tuple of tuple of str
        By path, the names of the result's fields.
    """

    arguments: tuple[str, ...]
    values: tuple[str, ...]
    tools: tuple[str, ...]
    keywords: tuple[str, ...]
    given: tuple[tuple[str, str, str], ...]
    fields: tuple[tuple[str, ...], ...] = ()


def statement_key(tool: str, line: str, section: str) -> str:
    """A key that is stable across runs: 16 hex digits of SHA-256 of tool, line and section."""
    return sha256(f"{tool}\n{line}\n{section}".encode("utf-8", "replace")).hexdigest()[:16]


def condition(form: str, **slots: str | tuple[str, ...]) -> Condition:
    """Make a condition from its slots, given by name in any order."""
    return Condition(form, _in_order(CONDITIONS[form].en, slots))


def advice(form: str, **slots: str | tuple[str, ...]) -> Advice:
    """Make a line from its slots, given by name in any order."""
    return Advice(form, _in_order(WORDINGS[form].en, slots))


def fails(conditions: tuple[Condition, ...], error_class: str, instead: str | None = None) -> Advice:
    """Make the line of conditions under which calls fail; the class may be "", the call that worked None."""
    slots = (("class", error_class), ("call", instead))
    return Advice("fails", tuple((name, (item,)) for name, item in slots if item), conditions)


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
    for form, pattern in _PATTERNS[
        language
    ].items():  # compiled at the first line, so that the guard starts sooner
        match = re.fullmatch(pattern, text)
        if match is not None:
            if form == "fails":
                return _fails(match, language)
            return Advice(form, _read(WORDINGS[form], match, language), language=language)
    return None


def _in_order(
    sentence: str, slots: Mapping[str, str | tuple[str, ...]]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    given = {name: (items,) if isinstance(items, str) else items for name, items in slots.items()}
    return tuple((name, given[name]) for name in _FIELD.findall(sentence))


def _written(sentence: str, slots: tuple[tuple[str, tuple[str, ...]], ...], language: Language) -> str:
    return sentence.format(**{name: _SLOTS[name].join(items, language) for name, items in slots})


def _pattern(sentence: str, language: Language, *, named: bool = True) -> str:
    parts = _FIELD.split(sentence)  # text and names of slots alternate
    group = "(?P<{}>{})" if named else "(?:{1})"
    return "".join(
        group.format(part, _SLOTS[part].pattern(language)) if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )


def _read(
    wording: Wording, match: re.Match[str], language: Language
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The slots in the order of the English sentence, whatever the language."""
    return tuple((name, _SLOTS[name].split(match[name], language)) for name in _FIELD.findall(wording.en))


def _fails(match: re.Match[str], language: Language) -> Advice:
    texts = (match[group] for group in ("first", "second") if match[group] is not None)
    conditions = tuple(_condition(text, language) for text in texts)
    return replace(fails(conditions, match["class"] or "", match["call"]), language=language)


def _condition(text: str, language: Language) -> Condition:
    form, match = next(
        (form, match)
        for form, wording in CONDITIONS.items()
        if (match := re.fullmatch(_pattern(wording.sentence(language), language), text))
    )
    return Condition(form, _read(CONDITIONS[form], match, language))


def _pair(written: str) -> tuple[str, str]:
    """Name and value of ``team="billing"``; the value is "" for true and false."""
    name, _, value = written.partition("=")
    return name, value.strip('"') if value.startswith('"') else ""


def _items(words: Iterable[tuple[str, str]], *slots: str) -> tuple[str, ...]:
    return tuple(item for slot, item in words if slot in slots)


def _patterns(language: Language) -> dict[str, str]:
    """By form, what matches its lines."""
    condition = "|".join(
        f"(?:{_pattern(wording.sentence(language), language, named=False)})"
        for wording in CONDITIONS.values()
    )
    # Matched together: "with a and without b" is two conditions, and "with a and b" is one.
    error_class, call = _SLOTS["class"].item, _SLOTS["call"].item
    failing = (
        rf"- (?P<first>{condition})(?:{BOTH.sentence(language)}(?P<second>{condition}))? "
        rf"{FAILS.sentence(language)}(?: \((?P<class>{error_class})\))?(?:: (?P<call>{call}))?"
    )
    sentences = {form: wording.sentence(language) for form, wording in WORDINGS.items()}
    return {
        **{form: f"- {_pattern(sentence, language)}" for form, sentence in sentences.items()},
        "fails": failing,
    }


_PATTERNS: Final = {language: _patterns(language) for language in LANGUAGES}
