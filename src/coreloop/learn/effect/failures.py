"""The failure that a line of a description names: which failed calls are counted for it."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from coreloop.base.encoding import ELIDED
from coreloop.learn.effect.calls import Call, Request, comparable
from coreloop.learn.proposals.advice import Advice, Condition, parse_advice, written_path

_QUESTION: Final = "question"


@dataclass(frozen=True, slots=True)
class Place:
    """A call in its request: the calls before it, and all names of tools, to read recorded paths."""

    request: Request
    index: int
    tools: Collection[str]

    @property
    def call(self) -> Call:
        """The call."""
        return self.request.calls[self.index]

    @property
    def earlier(self) -> Sequence[Call]:
        """The calls before it."""
        return self.request.calls[: self.index]


_Test = Callable[[Place], bool]


@dataclass(frozen=True, slots=True)
class NamedFailure:
    """What is counted for a change.

    Attributes
    ----------
    lines : tuple of str
        The lines that name it; empty if all failures of the tool are counted.
    """

    lines: tuple[str, ...] = ()
    _tests: tuple[_Test, ...] = ()

    def counts(self, place: Place) -> bool:
        """Whether a call failed in the way that is counted."""
        return not place.call.ok and (not self._tests or self.is_against(place))

    def is_against(self, place: Place) -> bool:
        """Whether a call, failed or not, is one that a line says to fail."""
        return any(test(place) for test in self._tests)


ALL_FAILURES: Final = NamedFailure()


def named_failure(lines: Iterable[str]) -> NamedFailure:
    """The failure that lines name together; all failures if one of them names none that a call shows.

    Parameters
    ----------
    lines : iterable of str
        Lines that a change added.
    """
    lines = tuple(lines)
    advice = [parse_advice(line) for line in lines]
    tests = [_test(line) if line is not None else None for line in advice]
    known = tuple(test for test in tests if test is not None)
    return NamedFailure(lines, known) if known and len(known) == len(lines) else ALL_FAILURES


def _test(advice: Advice) -> _Test | None:
    """Whether a call deviates from a line; None where calls do not show it."""
    slots = dict(advice.slots)
    if advice.form == "fails":
        return _all_of([_condition(part) for part in advice.conditions], slots.get("class", ("",))[0])
    names, tool = slots.get("arguments", ()), slots.get("tool", ("",))[0]
    name = slots.get("argument", ("",))[0]
    tests: dict[str, _Test] = {
        "always_pass": lambda place: not all(place.call.has(item) for item in names),
        "leave_out": lambda place: any(place.call.has(item) for item in names),
        "never_empty": lambda place: any(place.call.is_empty(item) for item in names),
        "one_of": lambda place: _is_other(place.call, name, slots["values"]),
        "from_result": lambda place: _is_from_nowhere(place.call, name),
        "source": lambda place: _is_not_from(place, name, slots["paths"]),
        "call_after_same": lambda place: (
            place.call.text_of(name) is not None and not _is_after(place, tool, name)
        ),
        "call_before_same": lambda place: _is_after(place, tool, name),
        "not_right_after": lambda place: _is_right_after(place, tool),
        "first": lambda place: not any(call.tool == tool and call.ok for call in place.earlier),
        "once": lambda place: any(call.tool == place.call.tool for call in place.earlier),
    }
    return tests.get(advice.form)


def _condition(condition: Condition) -> _Test | None:
    slots = dict(condition.slots)
    name, names = slots.get("argument", ("",))[0], slots.get("arguments", ())
    tool, number = slots.get("tool", ("",))[0], slots.get("number", ("0",))[0]
    tests: dict[str, _Test] = {
        "over": lambda place: _number(place.call, name, above=float(number)),
        "under": lambda place: _number(place.call, name, below=float(number)),
        "value": lambda place: _has_value(place.call, *_pair(slots["pair"][0])),
        "with": lambda place: all(place.call.has(item) for item in names),
        "without": lambda place: not any(place.call.has(item) for item in names),
        "empty": lambda place: all(place.call.is_empty(item) for item in names),
        "after_same": lambda place: _is_after(place, tool, name),
        "before_same": lambda place: (
            place.call.text_of(name) is not None and not _is_after(place, tool, name)
        ),
        "right_after": lambda place: _is_right_after(place, tool),
        "no_result": lambda place: _is_from_nowhere(place.call, name),
        "not_from": lambda place: _is_not_from(place, name, slots["paths"]),
    }
    return tests.get(condition.form)


def _all_of(tests: Sequence[_Test | None], error_class: str) -> _Test | None:
    known = [test for test in tests if test is not None]
    if not known or len(known) < len(tests):
        return None
    return lambda place: (
        (place.call.ok or error_class in {"", place.call.error_class}) and all(test(place) for test in known)
    )


def _number(call: Call, name: str, *, above: float | None = None, below: float | None = None) -> bool:
    value = call.arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value > above if above is not None else below is not None and value <= below


def _pair(written: str) -> tuple[str, str]:
    """Name and value of ``team="billing"`` or ``open=true``."""
    name, _, value = written.partition("=")
    return name, value.strip('"')


def _has_value(call: Call, name: str, text: str) -> bool:
    return call.text_of(name) == comparable(text)


def _is_other(call: Call, name: str, values: Sequence[str]) -> bool:
    value: Any = call.arguments.get(name)
    return call.has(name) and value != ELIDED and call.text_of(name) not in map(comparable, values)


def _is_from_nowhere(call: Call, name: str) -> bool:
    return name in call.sources and not call.sources[name]


def _is_not_from(place: Place, name: str, paths: Sequence[str]) -> bool:
    sources = place.call.sources.get(name)
    if sources is None or set(sources) == {_QUESTION}:
        return False
    return not any(written_path(path, place.tools) in paths for path in sources if path != _QUESTION)


def _is_after(place: Place, tool: str, name: str) -> bool:
    """Whether a successful call of a tool had the same value before."""
    value = place.call.text_of(name)
    return value is not None and any(
        call.tool == tool and call.ok and call.text_of(name) == value for call in place.earlier
    )


def _is_right_after(place: Place, tool: str) -> bool:
    return place.index > 0 and place.earlier[-1].tool == tool
