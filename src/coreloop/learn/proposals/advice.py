"""The forms of a one-line statement about a tool: written and parsed here only.

A form is a sentence with slots; every slot holds names or values of a closed vocabulary, never free text. No
line has a date or a rate: the evidence is in the draft, in the trailers and in the pull request.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from coreloop.base.failures import CLASSES
from coreloop.base.text import FILLERS

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

    @property
    def between(self) -> str:
        # each separator once: a pattern that can match in two ways takes exponential time to fail
        return "|".join(map(re.escape, dict.fromkeys(filter(None, (self.separator, self.last_separator)))))

    @property
    def pattern(self) -> str:
        item = rf"(?:{self.item})"
        return rf"{item}(?:(?:{self.between}){item})*" if self.separator else item

    def join(self, items: tuple[str, ...]) -> str:
        *first, last = items
        return f"{self.separator.join(first)}{self.last_separator or self.separator}{last}" if first else last

    def split(self, text: str) -> tuple[str, ...]:
        return tuple(re.split(self.between, text)) if self.separator else (text,)


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
}
_CONDITIONS: Final[Mapping[str, str]] = {
    "over": "{argument} over {number}",
    "under": "{argument} under {number}",
    "value": "{pair}",
    "with": "with {arguments}",
    "without": "without {arguments}",
    "empty": "{arguments} empty",
    "after_same": "after {tool} (same {argument})",
    "before_same": "before {tool} (same {argument})",
    "right_after": "right after {tool}",
    "no_result": "{argument} from no earlier result",
    "not_from": "{argument} not from {paths}",
}
_STATEMENTS: Final[Mapping[str, str]] = {
    "source": "{argument}: from {paths}",
    "first": "First: {tool}",
    "once": "Call once per request",
    "use_for": "Use for: {keywords}",
    "use_instead": "For {keywords} use {tool}",
    "always_pass": "Always pass {arguments}",
    "leave_out": "Leave out {arguments}",
    "never_empty": "{arguments}: never empty",
    "call_before_same": "Call before {tool} (same {argument})",
    "call_after_same": "Call after {tool} (same {argument})",
    "not_right_after": "Do not call right after {tool}",
    "one_of": "{argument}: one of {values}",
    "from_result": "{argument}: only from an earlier result",
}
GUIDE_FORMS: Final = frozenset({"source", "first", "once", "use_for", "use_instead"})
"""Forms of a Guide."""
CAVEAT_FORMS: Final = frozenset(_STATEMENTS) - {"first", "once", "use_for", "use_instead"} | {"fails"}
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
}
"""By form: a kind, shared by the forms that exclude each other, and the slots that make up the subject."""
_OTHER_TOOL: Final = frozenset({"first", "use_instead", "call_before_same", "call_after_same"})
_FIELD: Final = re.compile(r"\{(\w+)\}")
_FIELD_NAME: Final = re.compile(r"\.(\w+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition under which calls of a tool fail: a form's name and the contents of its slots."""

    form: str
    slots: tuple[tuple[str, tuple[str, ...]], ...]

    def __str__(self) -> str:
        return _written(_CONDITIONS[self.form], self.slots)


@dataclass(frozen=True, slots=True)
class Advice:
    """One line: a form's name, the contents of its slots and, for ``fails``, the conditions.

    Attributes
    ----------
    slots : tuple of (str, tuple of str)
        By the slots' names in the order of the sentence. For ``fails``: ``class``, if it is known, and
        ``call``, if another call worked instead.
    """

    form: str
    slots: tuple[tuple[str, tuple[str, ...]], ...] = ()
    conditions: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        if self.form != "fails":
            return f"- {_written(_STATEMENTS[self.form], self.slots)}"
        slots = dict(self.slots)
        error_class = f" ({slots['class'][0]})" if "class" in slots else ""
        instead = f": {slots['call'][0]}" if "call" in slots else ""
        return f"- {' and '.join(map(str, self.conditions))} fails{error_class}{instead}"

    def is_sound(self) -> bool:
        """Whether the line parses back to this value; a slot with unsuitable text does not."""
        return parse_advice(str(self)) == self

    def words(self) -> Iterator[tuple[str, str]]:
        """Each slot's name with each of its items, the conditions' slots first."""
        for slots in (*(condition.slots for condition in self.conditions), self.slots):
            for name, items in slots:
                yield from ((name, item) for item in items)

    def named(self) -> "Named":
        """The names and values in the line, by the closed vocabulary that must contain them."""
        words = list(self.words())
        pairs = [_pair(item) for slot, item in words if slot == "pair"]
        calls = [(item.partition("(")[0], item) for slot, item in words if slot == "call"]
        given = [(tool, *_pair(pair)) for tool, call in calls for pair in re.findall(_VALUE, call)]
        return Named(
            arguments=_items(words, "argument", "arguments") + tuple(name for name, _ in pairs),
            values=_items(words, "values") + tuple(value for _, value in pairs if value),
            tools=_items(words, "tool")
            + tuple(path.partition("(")[0] for path in _items(words, "paths"))
            + tuple(tool for tool, _ in calls),
            keywords=_items(words, "keywords"),
            given=tuple(given),
            fields=tuple(
                tuple(_FIELD_NAME.findall(path.partition("()")[2])) for path in _items(words, "paths")
            ),
        )

    def subject(self) -> tuple[str, ...]:
        """The subject of the line; a docstring needs only one line about a subject."""
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
    return Condition(form, _in_order(_CONDITIONS[form], slots))


def advice(form: str, **slots: str | tuple[str, ...]) -> Advice:
    """Make a line from its slots, given by name in any order."""
    return Advice(form, _in_order(_STATEMENTS[form], slots))


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
    for form, pattern in _PATTERNS.items():  # compiled at the first line, so that the guard starts sooner
        match = re.fullmatch(pattern, line)
        if match is not None:
            value = _fails(match) if form == "fails" else Advice(form, _read(_STATEMENTS[form], match))
            return value if str(value) == line else None
    return None


def _in_order(
    sentence: str, slots: Mapping[str, str | tuple[str, ...]]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    given = {name: (items,) if isinstance(items, str) else items for name, items in slots.items()}
    return tuple((name, given[name]) for name in _FIELD.findall(sentence))


def _written(sentence: str, slots: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    return sentence.format(**{name: _SLOTS[name].join(items) for name, items in slots})


def _pattern(sentence: str, *, named: bool = True) -> str:
    parts = _FIELD.split(sentence)  # text and names of slots alternate
    group = "(?P<{}>{})" if named else "(?:{1})"
    return "".join(
        group.format(part, _SLOTS[part].pattern) if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )


def _read(sentence: str, match: re.Match[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, _SLOTS[name].split(match[name])) for name in _FIELD.findall(sentence))


def _fails(match: re.Match[str]) -> Advice:
    conditions = tuple(_condition(match[group]) for group in ("first", "second") if match[group] is not None)
    return fails(conditions, match["class"] or "", match["call"])


def _condition(text: str) -> Condition:
    form, match = next(
        (form, match)
        for form, pattern in _CONDITION_PATTERNS.items()
        if (match := re.fullmatch(pattern, text))
    )
    return Condition(form, _read(_CONDITIONS[form], match))


def _pair(written: str) -> tuple[str, str]:
    """Name and value of ``team="billing"``; the value is "" for true and false."""
    name, _, value = written.partition("=")
    return name, value.strip('"') if value.startswith('"') else ""


def _items(words: Iterable[tuple[str, str]], *slots: str) -> tuple[str, ...]:
    return tuple(item for slot, item in words if slot in slots)


_CONDITION_PATTERNS: Final = {form: _pattern(sentence) for form, sentence in _CONDITIONS.items()}
_ANY_CONDITION: Final = "|".join(
    f"(?:{_pattern(sentence, named=False)})" for sentence in _CONDITIONS.values()
)
# Matched together: "with a and without b" is two conditions, and "with a and b" is one.
_FAILS: Final = (
    rf"- (?P<first>{_ANY_CONDITION})(?: and (?P<second>{_ANY_CONDITION}))? fails"
    rf"(?: \((?P<class>{_SLOTS['class'].item})\))?(?:: (?P<call>{_SLOTS['call'].item}))?"
)
_PATTERNS: Final = {
    **{form: f"- {_pattern(sentence)}" for form, sentence in _STATEMENTS.items()},
    "fails": _FAILS,
}
