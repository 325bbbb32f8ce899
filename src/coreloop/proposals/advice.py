"""What is said about one tool in one line: a table of forms, written and parsed in one place.

A form is a sentence with slots; every slot holds names or values of a closed vocabulary, never free text. No
line has a date or a rate: what speaks for it stands in the draft, in the trailers and in the pull request.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from coreloop.failures import CLASSES

_NAME: Final = r"[^\W\d]\w{0,63}"
_TOOL: Final = r"[^\W\d][\w.:/-]{0,99}"
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
        return rf"(?:{re.escape(self.joint)}|{re.escape(self.last or self.joint)})"

    @property
    def pattern(self) -> str:
        return rf"(?:{self.item})(?:{self.between}(?:{self.item}))*" if self.joint else rf"(?:{self.item})"

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
    "call_before": "Call before {tool}",
    "call_before_same": "Call before {tool} (same {argument})",
    "call_after": "Call after {tool}",
    "call_after_same": "Call after {tool} (same {argument})",
    "not_right_after": "Do not call right after {tool}",
    "one_of": "{argument}: one of {values}",
    "from_result": "{argument}: only from an earlier result",
}
GUIDE_FORMS: Final = frozenset({"source", "first", "once", "use_for", "use_instead"})
"""What a Guide may say; a caveat may say anything but how a tool is chosen."""
CAVEAT_FORMS: Final = frozenset(_STATEMENTS) - {"first", "once", "use_for", "use_instead"} | {"fails"}
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

    def tools(self) -> tuple[str, ...]:
        """The tools that it names."""
        named = {"tool": lambda item: item, "call": _before_bracket, "paths": _before_bracket}
        return tuple(dict.fromkeys(named[name](item) for name, item in self.words() if name in named))

    def arguments(self) -> tuple[str, ...]:
        """The arguments of its own tool that it names."""
        named = [item for name, item in self.words() if name in {"argument", "arguments"}]
        pairs = [item.partition("=")[0] for name, item in self.words() if name == "pair"]
        return tuple(dict.fromkeys([*named, *pairs]))

    def words(self) -> Iterator[tuple[str, str]]:
        """What it names: each slot's name with each of its items, the conditions' slots first."""
        for slots in (*(condition.slots for condition in self.conditions), self.slots):
            for name, items in slots:
                yield from ((name, item) for item in items)


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
    """The value that writes a line; None for a line of no form."""
    for form, pattern in _COMPILED.items():
        found = pattern.fullmatch(line)
        if found is not None:
            value = _fails(found) if form == "fails" else Advice(form, _read(_STATEMENTS[form], found))
            return value if value is not None and str(value) == line else None
    return None


def _before_bracket(call: str) -> str:
    return call.partition("(")[0]


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


def _fails(found: re.Match[str]) -> Advice | None:
    conditions = tuple(_condition(one[0]) for one in re.finditer(_ANY_CONDITION, found["conditions"]))
    if None in conditions:
        return None
    read = tuple(one for one in conditions if one is not None)
    return fails(read, found["class"], found["call"])


def _condition(text: str) -> Condition | None:
    for form, sentence in _CONDITIONS.items():
        found = re.fullmatch(_pattern(sentence), text)
        if found is not None:
            return Condition(form, _read(sentence, found))
    return None


_ANY_CONDITION: Final = "|".join(
    f"(?:{_pattern(sentence, named=False)})" for sentence in _CONDITIONS.values()
)
_FAILS: Final = (
    rf"- (?P<conditions>(?:{_ANY_CONDITION})(?: and (?:{_ANY_CONDITION}))?) fails "
    rf"\((?P<class>{_SLOTS['class'].item})\)(?:: (?P<call>{_SLOTS['call'].item}))?"
)
_COMPILED: Final = {
    **{form: re.compile(f"- {_pattern(sentence)}") for form, sentence in _STATEMENTS.items()},
    "fails": re.compile(_FAILS),
}
