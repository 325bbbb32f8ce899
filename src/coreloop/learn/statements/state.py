"""State: a call works only while a field of the object that it names has certain values."""

from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.learn.proposals.statement_lines import Advice, advice
from coreloop.learn.statements.kind import Key, KeyTally, Known, LineKind, Subject, slot
from coreloop.learn.statements.logged_calls import CallPlace

_MAX_STATES: Final = 3
_OTHER: Final = "other value"
"""The field was seen with a value that the source does not compare with; has a space, so it is no literal."""


def _reads(place: CallPlace) -> Iterator[tuple[Subject, Key]]:
    for name, value in place.call.values.items():
        for field, literal in value.saw.items():
            yield (name, field), _OTHER if literal is None else literal


def _candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    works = tuple(sorted(key for key, tally in keys.items() if key and tally.works))
    if works and _OTHER not in works and len(works) <= _MAX_STATES:
        yield advice("only_while", argument=subject[0], field=subject[1], states=works)


STATE: Final = LineKind(
    "state",
    frozenset({"only_while"}),
    _reads,
    lambda line: (slot(line, "argument"), slot(line, "field")),
    _candidates,
    lambda line, key: None if key is None else key not in dict(line.slots)["states"],
)
