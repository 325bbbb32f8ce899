"""The lines of sequences (Guides and caveats) as values: written, parsed and compared here only.

A proposals file and a docstring in a pull request are untrusted input. A line is accepted only if it parses
to a value that writes exactly this line, and the value fits its evidence.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.learn.proposals.step import Step
from coreloop.learn.statements.line_sentences import CALL, NO_CATEGORY, OF_CATEGORY, Language

ELIDED: Final = "…"
"""Placeholder for arguments that are not named."""
_NAME: Final = r"[^\W\d]\w{0,63}"
_ARGUMENT: Final = rf'(?:{_NAME}(?:="[^"]*"|=<{_NAME}>)?|{ELIDED})'  # company | axis="수익성" | axis=<axis>
_CALL: Final = rf"[^\W\d][\w.:/-]{{0,99}}\((?:{_ARGUMENT}(?:, {_ARGUMENT})*)?\)"
_CALLS: Final = rf"{_CALL}(?: -> {_CALL})*"


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

    def fits(self, step: Step) -> bool:
        """Whether it contains only the tool, the arguments and the values of a recorded step."""
        return self.name == step.name and all(_fits(name, value, step) for name, value in self.arguments)


def _fits(name: str, value: str | None, step: Step) -> bool:
    if value is None:
        return name == ELIDED or name in step.arg_keys
    return name in step.selectors and value in {f'"{step.selectors[name]}"', f"<{name}>"}


def calls_fit(calls: Sequence[AdvisedCall], steps: Sequence[Step]) -> bool:
    """Whether calls match recorded steps, in order."""
    return len(calls) == len(steps) and all(call.fits(step) for call, step in zip(calls, steps, strict=True))


@dataclass(frozen=True, slots=True)
class When:
    """The questions that a Guide applies to; ``category`` is ``""`` for questions of no category."""

    category: str
    language: Language = "en"

    def __str__(self) -> str:
        wording = OF_CATEGORY if self.category else NO_CATEGORY
        return f"- {wording.sentence(self.language).format(category=self.category)}"


@dataclass(frozen=True, slots=True)
class AdvisedCalls:
    """The steps that a Guide recommends."""

    calls: tuple[AdvisedCall, ...]
    language: Language = "en"

    def __str__(self) -> str:
        return f"- {CALL.sentence(self.language).format(calls=' -> '.join(map(str, self.calls)))}"


Line = When | AdvisedCalls


def parse_line(line: str) -> Line | None:
    """Parse a line; None if coreloop does not write such a line."""
    for form, read in _FORMS.items():  # compiled at the first line, so that the guard starts sooner
        match = re.fullmatch(form, line)
        if match is not None:
            value = read(match)
            return value if str(value) == line else None
    return None


def _calls(written: str) -> tuple[AdvisedCall, ...]:
    return tuple(map(_call, re.findall(_CALL, written)))  # a value may contain an arrow or a comma


def _call(written: str) -> AdvisedCall:
    name, _, rest = written.partition("(")
    pairs = (argument.partition("=") for argument in re.findall(_ARGUMENT, rest.removesuffix(")")))
    return AdvisedCall(name, tuple((key, value if sign else None) for key, sign, value in pairs))


_FORMS: Final[Mapping[str, Callable[[re.Match[str]], Line]]] = {
    r"- When: questions of (?:no category|category (\S+))\.": lambda match: When(match[1] or ""),
    r"- 쓸 때: (?:분류 없는|(\S+) 분류의) 질문\.": lambda match: When(match[1] or "", "ko"),
    rf"- Call: ({_CALLS})\.": lambda match: AdvisedCalls(_calls(match[1])),
    rf"- 호출: ({_CALLS})\.": lambda match: AdvisedCalls(_calls(match[1]), "ko"),
}
