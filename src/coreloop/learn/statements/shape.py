"""Shape: how a value is written, how long it is, and which of two values comes first."""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations
from typing import Final

from coreloop.learn.proposals.statement_lines import Advice, advice
from coreloop.learn.statements.kind import Key, KeyTally, Known, LineKind, Subject, bounds, hash_of, slot
from coreloop.learn.statements.logged_calls import CallPlace, Value

_SCALARS: Final = frozenset({"text", "number", "boolean"})
_IS: Final[Mapping[str, Callable[[Value], bool | None]]] = {
    "as YYYY-MM-DD": lambda value: value.shape == "date" if value.kind in _SCALARS else None,
    "a whole number": lambda value: value.shape == "whole" if value.kind in _SCALARS else None,
    "an absolute path": lambda value: value.shape == "absolute path" if value.kind == "text" else None,
    "in upper case": lambda value: value.letters == "upper" if value.letters else None,
    "in lower case": lambda value: value.letters == "lower" if value.letters else None,
    "a list": lambda value: value.kind == "list" if value.kind in {*_SCALARS, "list"} else None,
    "no word such as null": lambda value: value.shape != "null word" if value.kind == "text" else None,
}
"""Shapes by their wording: whether a value has it; None where the question makes no sense."""
_MIN_CHARACTERS: Final = 20
"""Shorter texts are values to choose from: what their length separates is which of them was chosen."""
_TIMES: Final = frozenset({"date", "time"})


def _reads(place: CallPlace) -> Iterator[tuple[Subject, Key]]:
    values = place.call.values
    for name, value in values.items():
        if value.kind not in {"empty", "unknown"}:
            yield (
                (name,),
                Value(
                    value.kind,
                    shape=value.shape,
                    letters=value.letters,
                    length=value.length,
                    prefix=value.prefix,
                ),
            )
    dated = [(name, value.number) for name, value in values.items() if value.number is not None]
    for (name, number), (other, other_number) in combinations(dated, 2):
        if number is not None and other_number is not None and _are_alike(values[name], values[other]):
            yield (name, other), number < other_number
            yield (other, name), other_number < number


def _are_alike(value: Value, other: Value) -> bool:
    return (value.shape in _TIMES) == (other.shape in _TIMES)


def _candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    name = subject[0]
    if len(subject) == 2:
        yield advice("before", argument=name, other=subject[1])
        return
    values = {key: tally for key, tally in keys.items() if key is not None}
    for wording, test in _IS.items():
        if {test(value) for value in values} >= {True, False}:
            yield advice("written", argument=name, shape=wording)
    for prefix in {value.prefix for value in values} & known.texts.keys():
        yield advice("prefix", argument=name, prefix=known.texts[prefix])
    for form, kinds in (("items", ("list",)), ("characters", ("text",))):
        for bound in bounds(_by_length(values, kinds), known, upper=True):
            if form == "characters" and bound < _MIN_CHARACTERS:
                continue
            yield advice(form, argument=name, number=f"{bound:g}")


def _by_length(values: Mapping[Value, KeyTally], kinds: Collection[str]) -> dict[float, KeyTally]:
    lengths: dict[float, KeyTally] = {}
    for value, tally in values.items():
        if value.kind in kinds and value.length and _is_long(value):
            before = lengths.get(value.length, KeyTally(0, 0))
            lengths[value.length] = KeyTally(before.ok + tally.ok, before.n + tally.n)
    return lengths


def _is_long(value: Value) -> bool:
    """Length is said of lists and of free text only: that of a word or an id is a sign of something else."""
    return value.length is not None and (value.kind == "list" or value.shape == "text")


def _deviates(line: Advice, key: Key) -> bool | None:
    if key is None:
        return None
    if line.form == "before":
        return not key
    if line.form == "written":
        has = _IS[slot(line, "shape")](key)
        return None if has is None else not has
    if line.form == "prefix":
        return key.prefix != hash_of(slot(line, "prefix")) if key.kind == "text" else None
    if not _is_long(key) or (key.kind == "list") is not (line.form == "items"):
        return None
    return bool(key.length > float(slot(line, "number")))


def _subject(line: Advice) -> Subject:
    names = (slot(line, "argument"),)
    return (*names, slot(line, "other")) if line.form == "before" else names


SHAPE: Final = LineKind(
    "shape",
    frozenset({"before", "written", "prefix", "items", "characters"}),
    _reads,
    _subject,
    _candidates,
    _deviates,
)
