"""What is said about one tool in one line: a table of forms, written and parsed in one place.

A form is a sentence with slots; every slot holds names or values of a closed vocabulary, never free text. No
line has a date or a rate: what speaks for it stands in the draft, in the trailers and in the pull request.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from coreloop.failures import CLASSES
from coreloop.text import FILLERS

_NAME: Final = r"[^\W\d]\w{0,63}"
_TOOL: Final = r"[^\W\d](?:[\w.:/-]{0,98}\w)?"  # no period at its end: a line has none either
_WORD: Final = r"[\w][\w-]{0,39}"
_VALUE: Final = rf'{_NAME}=(?:"[^"]{{1,80}}"|true|false)'
_PATH: Final = rf"{_TOOL}\(\)(?:\.{_NAME}|\.\*|\[\]){{0,12}}"  # get_product_details().variants.*.item_id


@dataclass(frozen=True, slots=True)
class _Slot:
    """What stands in a slot: the pattern of one item and, of several, what joins them and the last two."""

    item: str
    joint: str = ""
    last: str = ""

    @property
    def between(self) -> str:
        # each joint once: a pattern that can match in two ways takes exponential time to fail
        return "|".join(map(re.escape, dict.fromkeys(filter(None, (self.joint, self.last)))))

    @property
    def pattern(self) -> str:
        return (
            rf"(?:{self.item})(?:(?:{self.between})(?:{self.item}))*" if self.joint else rf"(?:{self.item})"
        )

    def join(self, items: tuple[str, ...]) -> str:
        *first, last = items
        return f"{self.joint.join(first)}{self.last or self.joint}{last}" if first else last

    def split(self, text: str) -> tuple[str, ...]:
        return tuple(re.split(self.between, text)) if self.joint else (text,)


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
"""What a Guide may say; a caveat may say anything but how a tool is chosen."""
CAVEAT_FORMS: Final = frozenset(_STATEMENTS) - {"first", "once", "use_for", "use_instead"} | {"fails"}
_SUBJECTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "source": ("source", ("argument",)),
    "from_result": ("source", ("argument",)),
    "first": ("first", ("tool",)),
    "use_instead": ("use_instead", ("keywords",)),
    "never_empty": ("never_empty", ("arguments",)),
    "call_before_same": ("order", ("tool", "argument")),
    "call_after_same": ("order", ("tool", "argument")),
    "not_right_after": ("right_after", ("tool",)),
    "one_of": ("values", ("argument",)),
}
"""By form: a kind, which forms that cannot hold together share, and the slots that tell what it is about."""
_OTHER_TOOL: Final = frozenset({"first", "use_instead", "call_before_same", "call_after_same"})
_FIELD: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Condition:
    """What sets the calls of a tool apart that fail: a form's name, and what stands in its slots."""

    form: str
    slots: tuple[tuple[str, tuple[str, ...]], ...]

    def __str__(self) -> str:
        return _written(_CONDITIONS[self.form], self.slots)


@dataclass(frozen=True, slots=True)
class Advice:
    """One line: a form's name, what stands in its slots and, of ``fails``, the conditions.

    Attributes
    ----------
    slots : tuple of (str, tuple of str)
        By the slots' names in the order of the sentence. Of ``fails``: ``class`` and, where something worked
        instead, ``call``.
    """

    form: str
    slots: tuple[tuple[str, tuple[str, ...]], ...] = ()
    conditions: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        if self.form != "fails":
            return f"- {_written(_STATEMENTS[self.form], self.slots)}"
        said = dict(self.slots)
        instead = f": {said['call'][0]}" if "call" in said else ""
        return f"- {' and '.join(map(str, self.conditions))} fails ({said['class'][0]}){instead}"

    def is_sound(self) -> bool:
        """Whether the line is one that coreloop writes: a value that is no plain word makes another."""
        return parse_advice(str(self)) == self

    def words(self) -> Iterator[tuple[str, str]]:
        """What it names: each slot's name with each of its items, the conditions' slots first."""
        for slots in (*(condition.slots for condition in self.conditions), self.slots):
            for name, items in slots:
                yield from ((name, item) for item in items)

    def named(self) -> "Named":
        """What it names, sorted by the closed vocabulary that must have it."""
        said = list(self.words())
        pairs = [_pair(item) for slot, item in said if slot == "pair"]
        calls = [(item.partition("(")[0], item) for slot, item in said if slot == "call"]
        given = [(tool, *_pair(pair)) for tool, call in calls for pair in re.findall(_VALUE, call)]
        return Named(
            arguments=_of(said, "argument", "arguments") + tuple(name for name, _ in pairs),
            values=_of(said, "values") + tuple(value for _, value in pairs if value),
            tools=_of(said, "tool")
            + tuple(path.partition("(")[0] for path in _of(said, "paths"))
            + tuple(tool for tool, _ in calls),
            keywords=_of(said, "keywords"),
            given=tuple(given),
        )

    def subject(self) -> tuple[str, ...]:
        """What it is about: of two lines about the same, one is too many."""
        kind, slots = _SUBJECTS.get(self.form, (self.form, ()))
        said = dict(self.slots)
        about = sorted(f"{one.form} {' '.join(one.slots[0][1])}" for one in self.conditions)
        return kind, *(" ".join(said[slot]) for slot in slots), *about

    def sends_to(self, tool: str) -> bool:
        """Whether it tells who calls a tool to call that very tool before, after or instead."""
        return self.form in _OTHER_TOOL and ("tool", (tool,)) in self.slots


@dataclass(frozen=True, slots=True)
class Named:
    """What a line names.

    Attributes
    ----------
    arguments, values : tuple of str
        Of the tool that the line is about; a value without its quotes.
    tools : tuple of str
        Others, and the tool itself where its own results are meant.
    keywords : tuple of str
        Of a category.
    given : tuple of (str, str, str)
        Tool, argument and value of the call that works instead; the value is "" for true and false.
    """

    arguments: tuple[str, ...]
    values: tuple[str, ...]
    tools: tuple[str, ...]
    keywords: tuple[str, ...]
    given: tuple[tuple[str, str, str], ...]


def statement_key(tool: str, line: str, section: str) -> str:
    """The same on every night: 16 hex digits of SHA-256 of tool, line and section."""
    return sha256(f"{tool}\n{line}\n{section}".encode("utf-8", "replace")).hexdigest()[:16]


def condition(form: str, **slots: str | tuple[str, ...]) -> Condition:
    """A condition from its slots, given by name in any order."""
    return Condition(form, _in_order(_CONDITIONS[form], slots))


def advice(form: str, **slots: str | tuple[str, ...]) -> Advice:
    """A line from its slots, given by name in any order."""
    return Advice(form, _in_order(_STATEMENTS[form], slots))


def fails(conditions: tuple[Condition, ...], error_class: str, instead: str | None = None) -> Advice:
    """The line of conditions under which calls fail, and the call that worked instead."""
    call = (("call", (instead,)),) if instead is not None else ()
    return Advice("fails", (("class", (error_class,)), *call), conditions)


def written_path(recorded: str, tools: Collection[str]) -> str | None:
    """A recorded place (``get_user_details.orders[]``) as a line has it (``get_user_details().orders[]``).

    Parameters
    ----------
    recorded : str
        From a call's ``args_from``.
    tools : collection of str
        Names of tools. The longest that fits is the place's, since names may hold dots.

    Returns
    -------
    str or None
        None where no tool fits, or a field is no plain name.
    """
    tool = max((name for name in tools if recorded.startswith(name)), key=len, default="")
    path = f"{tool}(){recorded[len(tool) :]}"
    return path if tool and re.fullmatch(_PATH, path) else None


def parse_advice(line: str) -> Advice | None:
    """The value that writes a line; None for a line of no form, or with letters that nobody sees."""
    if not line.isprintable() or not FILLERS.isdisjoint(line):
        return None
    for form, pattern in _COMPILED.items():
        found = pattern.fullmatch(line)
        if found is not None:
            value = _fails(found) if form == "fails" else Advice(form, _read(_STATEMENTS[form], found))
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
    parts = _FIELD.split(sentence)  # text and names of slots in turns
    group = "(?P<{}>{})" if named else "(?:{1})"
    return "".join(
        group.format(part, _SLOTS[part].pattern) if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    )


def _read(sentence: str, found: re.Match[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, _SLOTS[name].split(found[name])) for name in _FIELD.findall(sentence))


def _fails(found: re.Match[str]) -> Advice:
    conditions = tuple(_condition(found[place]) for place in ("one", "two") if found[place] is not None)
    return fails(conditions, found["class"], found["call"])


def _condition(text: str) -> Condition:
    form, found = next(
        (form, found) for form, pattern in _COMPILED_CONDITIONS.items() if (found := pattern.fullmatch(text))
    )
    return Condition(form, _read(_CONDITIONS[form], found))


def _pair(written: str) -> tuple[str, str]:
    """Name and value of ``team="billing"``; the value is "" for true and false."""
    name, _, value = written.partition("=")
    return name, value.strip('"') if value.startswith('"') else ""


def _of(said: Iterable[tuple[str, str]], *slots: str) -> tuple[str, ...]:
    return tuple(item for slot, item in said if slot in slots)


_COMPILED_CONDITIONS: Final = {form: re.compile(_pattern(sentence)) for form, sentence in _CONDITIONS.items()}
_ANY_CONDITION: Final = "|".join(
    f"(?:{_pattern(sentence, named=False)})" for sentence in _CONDITIONS.values()
)
# Both in one match: "with a and without b" is two conditions, and "with a and b" is one.
_FAILS: Final = (
    rf"- (?P<one>{_ANY_CONDITION})(?: and (?P<two>{_ANY_CONDITION}))? fails "
    rf"\((?P<class>{_SLOTS['class'].item})\)(?:: (?P<call>{_SLOTS['call'].item}))?"
)
_COMPILED: Final = {
    **{form: re.compile(f"- {_pattern(sentence)}") for form, sentence in _STATEMENTS.items()},
    "fails": re.compile(_FAILS),
}
