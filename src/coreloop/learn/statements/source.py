"""Source: the field of an earlier result that an argument's value must come from."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.learn.proposals.statement_lines import Advice, advice, written_path
from coreloop.learn.statements.kind import Key, KeyTally, Known, LineKind, Subject, slot
from coreloop.learn.statements.logged_calls import CallPlace

_QUESTION: Final = "question"
"""Where a value came from that the user gave: no side of a contrast, since an agent cannot choose it."""


def _reads(place: CallPlace) -> Iterator[tuple[Subject, Key]]:
    tools = frozenset(call.tool for call in place.request.calls)
    for name, value in place.call.values.items():
        if value.sources is not None and set(value.sources) != {_QUESTION}:
            written = (written_path(path, tools) for path in value.sources if path != _QUESTION)
            yield (name,), frozenset(filter(None, written))


def _candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    """The field that holds most values of successful calls: another is a sign of something else."""
    counts = Counter[str]()
    for paths, tally in keys.items():
        counts.update(dict.fromkeys(paths or (), tally.ok))
    for path, _ in counts.most_common(1):
        yield advice("source", argument=subject[0], paths=path)


SOURCE: Final = LineKind(
    "source",
    frozenset({"source"}),
    _reads,
    lambda line: (slot(line, "argument"),),
    _candidates,
    lambda line, key: None if key is None else key.isdisjoint(dict(line.slots)["paths"]),
)
