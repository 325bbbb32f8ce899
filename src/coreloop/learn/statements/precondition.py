"""Precondition: another tool that must have worked before, with the same value."""

from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.learn.proposals.statement_lines import Advice, advice
from coreloop.learn.statements.kind import Key, KeyTally, Known, LineKind, Subject, slot
from coreloop.learn.statements.logged_calls import CallPlace


def _reads(place: CallPlace) -> Iterator[tuple[Subject, Key]]:
    call = place.call
    for earlier in place.earlier:
        if earlier.tool != call.tool:
            for name, value in call.values.items():
                same = earlier.values.get(name)
                if same is not None and value.value is not None and same.value == value.value:
                    yield (name, earlier.tool), True


def _candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    yield advice("call_first", argument=subject[0], tool=subject[1])


PRECONDITION: Final = LineKind(
    "precondition",
    frozenset({"call_first"}),
    _reads,
    lambda line: (slot(line, "argument"), slot(line, "tool")),
    _candidates,
    lambda line, key: key is None,
)
