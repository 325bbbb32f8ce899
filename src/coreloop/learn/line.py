"""The lines that coreloop writes to docstrings: written, parsed and compared here only.

A form is a sentence with slots; every slot holds names or values of a closed vocabulary, never free text. No
line has a date or a rate: the evidence is in the draft, in the trailers and in the pull request. A file of
proposals and a docstring are untrusted: a line is accepted only if it parses to a value that writes it again.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, NamedTuple

from coreloop.base.git.trailers import SECTIONS
from coreloop.base.text import FILLERS

Language = Literal["en", "ko"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko")
_NAME: Final = r"[^\W\d]\w{0,63}"
_TOOL: Final = r"[^\W\d](?:[\w.:/-]{0,98}\w)?"  # no period at its end, since a line has none
_WORD: Final = r"[\w][\w-]{0,39}"
SIGNS: Final = "#$%&@*!+=?§€£"
"""Of them, one may be a prefix that no source declares: it is not private."""
_PATH: Final = rf"{_TOOL}\(\)(?:\.{_NAME}|\.\*|\[\]){{0,12}}"  # get_product_details().variants.*.item_id


class Form(NamedTuple):
    """A sentence with slots in two languages; ``subject`` is a name and the slots that make up a subject.

    Forms that exclude each other share the name; a docstring needs only one line about a subject.
    """

    en: str
    ko: str
    subject: str


FORMS: Final[Mapping[str, Form]] = {
    "always_pass": Form("Always pass {arguments}", "항상 전달: {arguments}", "always_pass"),
    "leave_out": Form("Leave out {arguments}", "전달하지 않음: {arguments}", "leave_out arguments"),
    "not_both": Form("Never pass {group} together", "함께 전달하지 않음: {group}", "group group"),
    "exactly_one": Form("Pass exactly one of {group}", "하나만 전달: {group}", "group group"),
    "at_least_one": Form("Pass at least one of {group}", "하나 이상 전달: {group}", "group group"),
    "never_empty": Form("{arguments}: never empty", "{arguments}: 비워 두지 않음", "never_empty arguments"),
    "one_of": Form("{argument}: one of {values}", "{argument}: 다음 중 하나 {values}", "values argument"),
    "each_of": Form(
        "{argument}: each one of {values}", "{argument}: 각각 {values} 중 하나", "values argument"
    ),
    "at_most": Form("{argument}: at most {number}", "{argument}: 최대 {number}", "over argument"),
    "at_least": Form("{argument}: at least {number}", "{argument}: 최소 {number}", "under argument"),
    "only_while": Form(
        "{argument}: only while {field} is {states}",
        "{argument}: {field} 값이 {states} 일 때만",
        "state argument field",
    ),
    "written": Form("{argument}: {shape}", "{argument}: {shape}", "shape argument"),
    "prefix": Form("{argument}: begins with {prefix}", "{argument}: 접두사 {prefix}", "shape argument"),
    "below": Form("{argument}: below {prefix}", "{argument}: {prefix} 아래", "shape argument"),
    "items": Form(
        "{argument}: at most {number} items", "{argument}: 최대 {number}개 항목", "length argument"
    ),
    "characters": Form(
        "{argument}: at most {number} characters", "{argument}: 최대 {number}자", "length argument"
    ),
    "before": Form("{argument}: before {other}", "{argument}: {other} 보다 앞", "before argument"),
    "call_first": Form(
        "Call {tool} first (same {argument})", "먼저 {tool} 호출 (같은 {argument})", "order tool argument"
    ),
    "source": Form("{argument}: from {paths}", "{argument}: 출처 {paths}", "source argument"),
    "fails": Form("{argument}={value} fails", "{argument}={value} 실패", "fails argument value"),
}
GUIDE_FORMS: Final = frozenset({"source"})
"""Forms of a Guide."""
_SHAPES: Final = Path(__file__).with_name("shapes.tsv").read_text("utf-8")
SHAPES: Final[Mapping[str, str]] = dict(line.split("\t") for line in _SHAPES.splitlines())
"""What the slot ``shape`` may hold, with its Korean."""
_ENGLISH: Final = {korean: english for english, korean in SHAPES.items()}
_ITEMS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("argument", "arguments", "field", "group", "other"), _NAME),
    **dict.fromkeys(("values", "states"), _WORD),
    "tool": _TOOL,
    "paths": _PATH,
    "number": r"-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,6})?",
    "value": r'(?:"[^"]{1,80}"|true|false)',
    "prefix": rf"(?:(?![./:-])[\w{SIGNS}./:-]{{1,13}}|~?(?:/[\w.-]{{1,40}}){{1,8}}/?)",
}
_SEPARATORS: Final[Mapping[str, Mapping[Language, tuple[str, str]]]] = {
    "arguments": {"en": (", ", " and "), "ko": (", ", ", ")},
    "group": {"en": (", ", " and "), "ko": (", ", ", ")},
    "values": {"en": (", ", ", "), "ko": (", ", ", ")},
    "paths": {"en": (" or ", " or "), "ko": (" 또는 ", " 또는 ")},
    "states": {"en": (" or ", " or "), "ko": (" 또는 ", " 또는 ")},
}
"""What stands between items, and before the last: Korean particles depend on the word before them."""
_ABOUT: Final = ("{argument}: ", "{arguments}: ")
_BETWEEN_CLAUSES: Final = "; "
_FIELD: Final = re.compile(r"\{(\w+)\}")
_FIELD_NAME: Final = re.compile(r"\.(\w+)")


class Named(NamedTuple):
    """A name in a line; an argument or a value of another tool than the docstring's has that ``tool``."""

    kind: Literal["tool", "argument", "value", "state", "field", "category"]
    name: str
    tool: str = ""


MEANINGS: Final = re.compile(r" \([^()]*\)")
"""What a person may add to a line's values in parentheses: ``eco (cheapest)``, not ``eco(cheapest)``."""


@dataclass(frozen=True, slots=True)
class Advice:
    """A line about a tool: a form's name, its slots' items, and more clauses about the same argument."""

    form: str
    slots: tuple[tuple[str, tuple[str, ...]], ...] = ()
    language: Language = "en"
    more: tuple["Advice", ...] = ()

    def __str__(self) -> str:
        texts = {name: _join(name, items, self.language) for name, items in self.slots}
        sentence = FORMS[self.form][LANGUAGES.index(self.language)].format(**texts)
        clauses = (str(clause).partition(": ")[2] for clause in self.more)
        return _BETWEEN_CLAUSES.join((f"- {sentence}", *clauses))

    def clauses(self) -> tuple["Advice", ...]:
        """Each clause as a line of its own."""
        return (replace(self, more=()), *self.more)

    def argument(self) -> str | None:
        """The argument that the line begins with, so that clauses about it can be joined; else None."""
        items = replace(self, more=()).items("argument", "arguments")
        return items[0] if FORMS[self.form].en.startswith(_ABOUT) and len(items) == 1 else None

    def items(self, *slots: str) -> tuple[str, ...]:
        """What some slots of the line and of its other clauses hold."""
        return tuple(
            item for line in self.clauses() for name, items in line.slots if name in slots for item in items
        )

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments that it names."""
        return self.items("argument", "arguments", "group", "other")

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that it names."""
        return self.items("tool") + tuple(path.partition("(")[0] for path in self.items("paths"))

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The fields of each path of a result."""
        return tuple(tuple(_FIELD_NAME.findall(path.partition("()")[2])) for path in self.items("paths"))

    def names(self) -> Iterator[Named]:
        """The names and values in the line, each with the vocabulary that must contain it."""
        yield from (Named("argument", name) for name in self.arguments)
        yield from (Named("value", text) for text in self.items("values", "prefix") if text not in SIGNS)
        yield from (Named("state", text) for text in self.items("states"))
        yield from (Named("value", text.strip('"')) for text in self.items("value") if text[0] == '"')
        fields = (name for path in self.paths for name in path)
        yield from (Named("field", name) for name in (*fields, *self.items("field")))
        yield from (Named("tool", name) for name in self.tools)

    def subject(self) -> tuple[str, ...]:
        """The subject of the line; a docstring needs only one line about a subject."""
        name, *slots = FORMS[self.form].subject.split()
        items = dict(self.slots)
        return name, *(" ".join(items[slot]) for slot in slots)


def advice(form: str, **slots: str | tuple[str, ...]) -> Advice:
    """Make a line from its slots, given by name in any order."""
    given = {name: (items,) if isinstance(items, str) else items for name, items in slots.items()}
    return Advice(form, tuple((name, given[name]) for name in _FIELD.findall(FORMS[form].en)))


def joined(lines: Iterable[Advice]) -> Advice:
    """One line of clauses about the same argument."""
    first, *more = lines
    return replace(first, more=tuple(more))


def in_language(line: Advice, language: Language) -> Advice:
    """The same line in another language."""
    return replace(line, language=language, more=tuple(in_language(clause, language) for clause in line.more))


def parse_advice(line: str) -> Advice | None:
    """Parse a line about a tool; None if it has none of the forms, or contains invisible characters."""
    if not line.isprintable() or not FILLERS.isdisjoint(line):
        return None
    value = next(filter(None, (_parse(line, language) for language in LANGUAGES)), None)
    return value if value is not None and str(value) == line else None


def _parse(line: str, language: Language) -> Advice | None:
    subject, *clauses = line.split(_BETWEEN_CLAUSES)
    argument = subject.partition(": ")[0]
    parts = [_clause(text, language) for text in (subject, *(f"{argument}: {clause}" for clause in clauses))]
    lines = [part for part in parts if part is not None]
    slots = [items for part in lines for _, items in part.slots]
    if len({*lines}) < len(parts) or any(len({*items}) < len(items) for items in slots):
        return None
    if clauses and None in {part.argument() for part in lines}:
        return None
    return joined(lines)


def _clause(text: str, language: Language) -> Advice | None:
    for form, wording in FORMS.items():  # compiled at the first line, so that the guard starts sooner
        match = re.fullmatch(f"- {_pattern(wording[LANGUAGES.index(language)], language)}", text)
        if match is not None:
            names = _FIELD.findall(wording.en)
            return Advice(
                form, tuple((name, _split(name, match[name], language)) for name in names), language
            )
    return None


@cache
def _pattern(sentence: str, language: Language) -> str:
    parts = _FIELD.split(sentence)  # text and names of slots alternate
    return "".join(
        f"(?P<{part}>{_slot(part, language)})" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )


def _slot(name: str, language: Language) -> str:
    """Matches what `_join` writes."""
    shapes = map(re.escape, SHAPES if language == "en" else SHAPES.values())
    item = f"(?:{'|'.join(shapes) if name == 'shape' else _ITEMS[name]})"
    if name not in _SEPARATORS:
        return item
    further = "{1,2}" if name == "group" else "*"
    return f"{item}(?:(?:{_between(name, language)}){item}){further}"


@cache
def _between(name: str, language: Language) -> str:
    # each separator once: a pattern that can match in two ways takes exponential time to fail
    return "|".join(map(re.escape, dict.fromkeys(_SEPARATORS[name][language])))


def _join(name: str, items: tuple[str, ...], language: Language) -> str:
    """The items of a slot as text."""
    *first, last = items if language == "en" else (SHAPES.get(item, item) for item in items)
    separator, last_separator = _SEPARATORS.get(name, {}).get(language, ("", ""))
    return f"{separator.join(first)}{last_separator}{last}" if first else last


def _split(name: str, text: str, language: Language) -> tuple[str, ...]:
    items = re.split(_between(name, language), text) if name in _SEPARATORS else [text]
    return tuple(items if language == "en" else (_ENGLISH.get(item, item) for item in items))


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


def statement_key(*parts: str) -> str:
    """A key that is stable across runs: 16 hex digits of SHA-256 of tool, line and section, or the like."""
    return sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def keys_of(tool: str, line: str, *sections: str) -> frozenset[str]:
    """The keys of the proposals that a line about a tool may stand for, in either language.

    ``sections`` are those of the proposal; any, by default.
    """
    own = parse_advice(line)
    texts = {line} if own is None else {str(in_language(own, language)) for language in LANGUAGES}
    named = sections or tuple(SECTIONS.values())
    return frozenset(statement_key(tool, text, section) for text in texts for section in named)


# --- The lines of a sequence: when to use it, and its calls.

ELIDED: Final = "…"
"""Placeholder for arguments that are not named."""
_ARGUMENT: Final = rf'(?:{_NAME}(?:="[^"]*"|=<{_NAME}>)?|{ELIDED})'  # company | axis="수익성" | axis=<axis>
_CALL: Final = rf"[^\W\d][\w.:/-]{{0,99}}\((?:{_ARGUMENT}(?:, {_ARGUMENT})*)?\)"
_CALLS: Final = rf"{_CALL}(?: -> {_CALL})*"
_OF_CATEGORY: Final = {"en": "- When: questions of category {}.", "ko": "- 쓸 때: {} 분류의 질문."}
_CALLING: Final = {"en": "- Call: {}.", "ko": "- 호출: {}."}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a pattern, with the argument names of its most common form."""

    name: str
    selectors: dict[str, str]
    arg_keys: tuple[str, ...]

    def __str__(self) -> str:
        chosen = ", ".join(f"{key}={value}" for key, value in self.selectors.items())
        return f"{self.name}({chosen})" if chosen else self.name


def target_step(steps: tuple[Step, ...]) -> Step:
    """The step whose tool a pattern documents: the last with a selector, else the last."""
    return next((step for step in reversed(steps) if step.selectors), steps[-1])


@dataclass(frozen=True, slots=True)
class AdvisedCall:
    """A call in a line: the tool, and each argument with its value or None.

    A value is spelled as in the line: ``"수익성"`` with its quotes, or the placeholder ``<axis>``.
    """

    name: str
    arguments: tuple[tuple[str, str | None], ...] = ()

    def __str__(self) -> str:
        written = (name if value is None else f"{name}={value}" for name, value in self.arguments)
        return f"{self.name}({', '.join(written)})"

    def chosen(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """The selectors with a value, and their order, as `coreloop.base.records.step` takes them."""
        chosen = {name: value.strip('"') for name, value in self.arguments if value and value.startswith('"')}
        return chosen, tuple(chosen)


def _fits(name: str, value: str | None, step: Step) -> bool:
    if value is None:
        return name == ELIDED or name in step.arg_keys
    return name in step.selectors and value in {f'"{step.selectors[name]}"', f"<{name}>"}


def calls_fit(calls: Sequence[AdvisedCall], steps: Sequence[Step]) -> bool:
    """Whether calls contain only the tools, the arguments and the values of recorded steps, in order."""
    return [call.name for call in calls] == [step.name for step in steps] and all(
        _fits(*argument, step) for call, step in zip(calls, steps, strict=True) for argument in call.arguments
    )


@dataclass(frozen=True, slots=True)
class SequenceLine:
    """A line of a sequence: the calls that it recommends or, without any, the category of its questions."""

    language: Language = "en"
    category: str = ""
    calls: tuple[AdvisedCall, ...] = ()

    def __str__(self) -> str:
        if self.calls:
            return _CALLING[self.language].format(" -> ".join(map(str, self.calls)))
        return _OF_CATEGORY[self.language].format(self.category)

    def names(self) -> Iterator[Named]:
        """The category, or the tools, and the arguments and values of their calls."""
        if self.category:
            yield Named("category", self.category)
        for call in self.calls:
            yield Named("tool", call.name)
            for argument, given in call.arguments:
                if argument != ELIDED:
                    yield Named("argument", argument, call.name)
                if given is not None and given != f"<{argument}>":
                    yield Named("value", given.strip('"'), call.name)


def parse_line(line: str) -> SequenceLine | None:
    """Parse a line of a sequence; None if coreloop does not write such a line."""
    for language in LANGUAGES:
        if match := re.fullmatch(_with_slot(_OF_CATEGORY[language], r"(\S+)"), line):
            return SequenceLine(language, match[1])
        if match := re.fullmatch(_with_slot(_CALLING[language], f"({_CALLS})"), line):
            value = SequenceLine(language, calls=tuple(map(_call, re.findall(_CALL, match[1]))))
            return value if str(value) == line else None
    return None


def _with_slot(sentence: str, pattern: str) -> str:
    return re.escape(sentence).replace(r"\{\}", pattern)


def _call(written: str) -> AdvisedCall:
    name, _, rest = written.partition("(")  # a value may contain an arrow or a comma
    pairs = (argument.partition("=") for argument in re.findall(_ARGUMENT, rest.removesuffix(")")))
    return AdvisedCall(name, tuple((key, value if sign else None) for key, sign, value in pairs))
