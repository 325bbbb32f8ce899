"""Value and bound: which values an argument takes, which one fails, how large a number may be."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from coreloop.learn.proposals.statement_lines import Advice, advice
from coreloop.learn.statements.kind import Key, KeyTally, Known, LineKind, Subject, bounds, hash_of, slot
from coreloop.learn.statements.logged_calls import CallPlace

_MAX_LISTED: Final = 8
_CLOSED: Final = 0.9
"""Share of the successful calls whose values a list must hold to be that of the argument."""


def _reads(place: CallPlace) -> Iterator[tuple[Subject, Key]]:
    for name, value in place.call.values.items():
        if value.number is not None and value.kind == "number":
            yield (name,), value.number
        elif value.kind in {"text", "boolean"}:
            yield (name,), ("hash", value.value)


def _candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    name = subject[0]
    declared = {known.texts[key[1]]: tally for key, tally in keys.items() if _is_declared(key, known)}
    for text in declared:
        yield advice("fails", pair=_pair(name, text))
    names = _all_values(name, declared, keys, known)
    if names:
        yield advice("one_of", argument=name, values=tuple(sorted(names)))
    numbers = {key: tally for key, tally in keys.items() if isinstance(key, float)}
    for form in ("at_most", "at_least"):
        for bound in bounds(numbers, known, upper=form == "at_most"):
            yield advice(form, argument=name, number=f"{bound:g}")


def _is_declared(key: Key, known: Known) -> bool:
    return isinstance(key, tuple) and key[1] in known.texts


def _pair(name: str, text: str) -> str:
    return f"{name}={text}" if text in {"true", "false"} else f'{name}="{text}"'


def _all_values(
    name: str, declared: Mapping[str, KeyTally], keys: Mapping[Key, KeyTally], known: Known
) -> Collection[str]:
    """All values of an argument: the shortest list in the source that has every value that worked.

    Without such a list, the values of the source that were tried, if all of them and no other value worked.
    """
    good = {text for text, tally in declared.items() if tally.ok}
    n_ok = sum(tally.ok for key, tally in keys.items() if isinstance(key, tuple))
    if not good or sum(declared[text].ok for text in good) < _CLOSED * n_ok:
        return ()
    fitting = sorted((values for values in known.listed(name) if values >= good), key=len)
    is_clear = fitting and (len(fitting) == 1 or len(fitting[0]) < len(fitting[1]))
    if is_clear:
        names: Collection[str] = fitting[0] - (declared.keys() - good)
    else:
        is_all = len(good) > 1 and sum(declared[text].ok for text in good) == n_ok
        names = good if is_all and all(tally.works for tally in declared.values()) else ()
    return names if len(names) <= _MAX_LISTED else ()


def _deviates(line: Advice, key: Key) -> bool | None:
    if line.form in {"at_most", "at_least"}:
        if not isinstance(key, float):
            return None
        bound = float(slot(line, "number"))
        return key > bound if line.form == "at_most" else key < bound
    if not isinstance(key, tuple):
        return None
    if line.form == "one_of":
        return key[1] not in map(hash_of, dict(line.slots)["values"])
    return bool(key[1] == hash_of(slot(line, "pair").partition("=")[2].strip('"')))


def _subject(line: Advice) -> Subject:
    if line.form == "fails":
        return (slot(line, "pair").partition("=")[0],)
    return (slot(line, "argument"),)


VALUE: Final = LineKind(
    "value", frozenset({"fails", "one_of", "at_most", "at_least"}), _reads, _subject, _candidates, _deviates
)
