"""Presence: an argument that must be passed, left out, or never be empty."""

from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.learn.proposals.statement_lines import Advice, advice
from coreloop.learn.statements.kind import Key, KeyTally, Known, LineKind, Subject
from coreloop.learn.statements.logged_calls import CallPlace

_DEVIATES: Final[Mapping[str, Mapping[str | None, bool | None]]] = {
    "never_empty": {"empty": True, "present": False, None: None},
    "always_pass": {"empty": True, "present": False, None: True},
    "leave_out": {"empty": None, "present": True, None: False},
}


def _reads(place: CallPlace) -> Iterator[tuple[Subject, Key]]:
    for name, value in place.call.values.items():
        yield (name,), "empty" if value.kind == "empty" else "present"


def _candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    if "empty" in keys:
        yield advice("never_empty", arguments=subject)
    yield advice("always_pass", arguments=subject)
    yield advice("leave_out", arguments=subject)


PRESENCE: Final = LineKind(
    "presence",
    frozenset(_DEVIATES),
    _reads,
    lambda line: dict(line.slots)["arguments"][:1],
    _candidates,
    lambda line, key: _DEVIATES[line.form][key],
)
