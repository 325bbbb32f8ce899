"""The form that every proposed line must have, held against the figures of its own entry.

A proposals file lies on a disk between two commands, so what it says is not believed: a line is one that
coreloop writes, with this entry's tools, arguments, values and counts, or it is refused.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.mine.signals import CLASSES
from coreloop.proposals.vocabulary import Step

_NAME: Final = r"[^\W\d]\w{0,63}"
_ARGUMENT: Final = rf'(?:{_NAME}(?:="[^"]*"|=<{_NAME}>)?|…)'
_CALL: Final = rf"[^\W\d][\w.:/-]{{0,99}}\((?:{_ARGUMENT}(?:, {_ARGUMENT})*)?\)"
_CALLS: Final = rf"{_CALL}(?: -> {_CALL})*"
_NAMES: Final = rf"{_NAME}(?:(?:, {_NAME})* and {_NAME})?"
_WHEN: Final = re.compile(
    r"- When: questions (?:of no category|of category (\S+)|on (.+) \(category (\S+)\))\."
)
_GUIDE_CALL: Final = re.compile(rf"- Call: ({_CALLS})\.")
_FAILED: Final = rf"(\d+) of (\d+) calls failed \(({'|'.join(CLASSES)})\)"
_APART: Final = re.compile(
    rf"- Fails: called with(?:out)? ({_NAMES}): {_FAILED}; with(?:out)? (?:it|them) (\d+) of (\d+)\."
)
_THIS_WAY: Final = re.compile(rf"- Fails: ({_CALL}): {_FAILED}(?:; called otherwise (\d+) of (\d+))?\.")
_WORKING: Final = re.compile(rf"- Fails: ({_CALLS}): (\d+) of (\d+) requests succeeded\.")


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it is written: the tool, and each argument with its value, None where none is written."""

    name: str
    arguments: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Failing:
    """What a Fails line says.

    Attributes
    ----------
    calls : tuple of Call
        The steps; empty where it is about arguments.
    unit : str
        ``calls`` or ``requests``.
    failed, of : int
        How many of how many.
    """

    calls: tuple[Call, ...]
    unit: str
    failed: int
    of: int


def read_when(line: str) -> tuple[str, tuple[str, ...]] | None:
    """Category, "" for none, and keywords of a When line; None where it is no such line."""
    found = _WHEN.fullmatch(line)
    if found is None:
        return None
    plain, words, named = found.groups()
    return plain or named or "", tuple(words.split(", ")) if words else ()


def read_calls(line: str) -> tuple[Call, ...] | None:
    """The steps of a Call line; None where it is no such line."""
    found = _GUIDE_CALL.fullmatch(line)
    return _written(found[1]) if found is not None else None


def read_failing(line: str) -> Failing | None:
    """The parts of a Fails line; None where it is no such line."""
    if working := _WORKING.fullmatch(line):
        of = int(working[3])
        return Failing(_written(working[1]), "requests", of - int(working[2]), of)
    if apart := _APART.fullmatch(line):
        return Failing((), "calls", int(apart[2]), int(apart[3]))
    if this_way := _THIS_WAY.fullmatch(line):
        return Failing(_written(this_way[1]), "calls", int(this_way[2]), int(this_way[3]))
    return None


def _written(calls: str) -> tuple[Call, ...]:
    return tuple(map(_call, re.findall(_CALL, calls)))  # a value may hold an arrow or a comma


def _call(written: str) -> Call:
    name, _, rest = written.partition("(")
    pairs = (one.partition("=") for one in re.findall(_ARGUMENT, rest.removesuffix(")")))
    return Call(name, tuple((argument, value if sign else None) for argument, sign, value in pairs))


def is_when(line: str, *, category: str, keywords: Collection[str]) -> bool:
    """Whether a line is the When of a category, with keywords that coreloop.yaml has for it."""
    found = _WHEN.fullmatch(line)
    if found is None:
        return False
    plain, words, named = found.groups()
    if words is None:
        return plain in {None, category}
    return named == category and set(words.split(", ")) <= set(keywords)


def is_call(line: str, steps: Sequence[Step]) -> bool:
    """Whether a line is the Call of these steps, in their order."""
    found = _GUIDE_CALL.fullmatch(line)
    return found is not None and _are_steps(found[1], steps)


def is_failing_call(
    line: str,
    step: Step,
    *,
    others: Iterable[str],
    error_class: str | None,
    counts: tuple[int, int, int, int],
) -> bool:
    """Whether a line says how one way of calling fails.

    Parameters
    ----------
    line : str
        The bullet.
    step : Step
        The tool, its selectors and arguments.
    others : iterable of str
        Arguments of the calls that succeed.
    error_class : str or None
        Of the failures.
    counts : tuple of int
        Failures, calls, failures of the other calls, other calls.
    """
    apart, this_way = _APART.fullmatch(line), _THIS_WAY.fullmatch(line)
    found = apart or this_way
    if found is None:
        return False
    figures = tuple(int(figure) for figure in found.group(2, 3, 5, 6) if figure is not None)
    if found[4] != error_class or figures != counts[: len(figures)]:
        return False
    if apart is not None:
        return set(re.split(r", | and ", apart[1])) <= {*step.arg_keys, *others}
    return _are_steps(found[1], (step,))


def is_failing_sequence(line: str, steps: Sequence[Step], *, succeeded: int, requests: int) -> bool:
    """Whether a line says how one way of working fails."""
    found = _WORKING.fullmatch(line)
    if found is None or not _are_steps(found[1], steps):
        return False
    return (int(found[2]), int(found[3])) == (succeeded, requests)


def _are_steps(written: str, steps: Sequence[Step]) -> bool:
    calls = re.findall(_CALL, written)  # a value may hold an arrow or a comma
    return len(calls) == len(steps) and all(map(_is_step, calls, steps))


def _is_step(written: str, step: Step) -> bool:
    name, _, rest = written.partition("(")
    arguments = re.findall(_ARGUMENT, rest.removesuffix(")"))
    return name == step.name and all(_is_argument(one, step) for one in arguments)


def _is_argument(written: str, step: Step) -> bool:
    name, _, value = written.partition("=")
    if not value:
        return written == "…" or name in step.arg_keys
    return name in step.selectors and value in {f'"{step.selectors[name]}"', f"<{name}>"}
