"""Source: the field of an earlier result that an argument's value must come from."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.learn.proposals.statement_lines import Advice, advice, recorded_path, written_path
from coreloop.learn.statements.kind import Key, KeyTally, Known, LineKind, Subject, slot
from coreloop.learn.statements.logged_calls import CallPlace

_QUESTION: Final = "question"
"""Where a value came from that the user gave: no side of a contrast, since an agent cannot choose it."""


def _reads(place: CallPlace) -> Iterator[tuple[Subject, Key]]:
    for name, value in place.call.values.items():
        if value.sources is not None and set(value.sources) != {_QUESTION}:
            yield (name,), frozenset(value.sources) - {_QUESTION}


def _candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    """The field that holds most values of successful calls: another is a sign of something else."""
    counts = Counter[str]()
    for paths, tally in keys.items():
        counts.update(dict.fromkeys(paths or (), tally.ok))
    paths = (written_path(recorded, known.tools) for recorded, _ in counts.most_common())
    path = next(filter(None, paths), None)
    if path is not None:
        yield advice("source", argument=subject[0], paths=path)


SOURCE: Final = LineKind(
    "source",
    frozenset({"source"}),
    _reads,
    lambda line: (slot(line, "argument"),),
    _candidates,
    lambda line, key: None if key is None else key.isdisjoint(map(recorded_path, line.items("paths"))),
)
