"""The kinds of lines, and whether a call is against one: what each reads of a call, and what it may say."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, combinations
from operator import gt, lt
from typing import Any, Final, NamedTuple

from coreloop.learn.line import Advice, advice, recorded_path, written_path
from coreloop.learn.proposals.entry import StatementKind
from coreloop.learn.statements.cases import bits_of
from coreloop.learn.statements.logged_calls import CallPlace
from coreloop.learn.statements.values import Value, hash_of

Subject = tuple[str, ...]
"""An argument's name, and what it is compared with: another argument, a field, a tool."""
Key = Any
"""What a kind reads about a subject in a call; None where the call shows nothing about it."""
Reads = Iterable[tuple[Subject, Key]]
Groups = Mapping[Subject, Mapping[Key, list[int]]]
"""Numbers of calls by what a kind reads of them."""
KeyTest = Callable[[Key], bool | None]
"""Whether calls with a key deviate from a line; None where the line says nothing about them."""
ROUND: Final = frozenset(range(21)) | {
    *(factor * 10**power for factor in range(1, 10) for power in range(1, 5)),
    *(25, 75, 140, 150, 250, 255, 280, 365),
}
"""Bounds that people set, beside the numbers in a tool's source."""
_MAX_BOUNDS: Final = 10  # of an argument that are tried: each is a hypothesis that costs the others power
AS_GOOD: Final = 1.25
"""A better reason may be wrong about a quarter more calls."""


class KeyTally(NamedTuple):
    """Calls with a key: how many succeeded, and how many there are."""

    ok: int
    n: int

    @property
    def works(self) -> bool:
        """Whether more than half succeeded."""
        return 2 * self.ok > self.n


@dataclass(frozen=True, slots=True)
class Known:
    """What a tool's source declares.

    Attributes
    ----------
    texts : mapping of int to str
        Declared values by hash; other values are never written.
    listed : callable
        Sets of values that the source lists, by argument.
    numbers : frozenset of float
        Numbers in the source.
    tools : collection of str
        Names of all tools, to read the paths of sources.
    declares : callable
        Whether a state is a word of the tool's.
    """

    texts: Mapping[int, str]
    listed: Callable[[str], frozenset[frozenset[str]]]
    numbers: frozenset[float]
    tools: Collection[str]
    declares: Callable[[str], bool] = lambda state: True


@dataclass(frozen=True, slots=True)
class LineKind:
    """A kind of line.

    Attributes
    ----------
    name : str
        As in proposals' files.
    forms : frozenset of str
        The forms of its lines.
    of_value : callable
        Argument, value -> subjects with a key.
    of_call : callable
        Place -> subjects with a key that no single value shows.
    candidates : callable
        Subject, tally of each key, source -> lines.
    test : callable
        Line -> test of a key.
    """

    name: StatementKind
    forms: frozenset[str]
    candidates: Callable[[Subject, Mapping[Key, KeyTally], Known], Iterable[Advice]]
    test: Callable[[Advice], KeyTest]
    of_value: Callable[[str, Value], Reads] = lambda name, value: ()
    of_call: Callable[[CallPlace], Reads] | None = None


def read_calls(places: Sequence[CallPlace]) -> Callable[[LineKind], Groups]:
    """Return what reads calls for a kind: each value once, which calls alike usually share."""
    values: dict[int, Value] = {}
    numbers: defaultdict[str, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, place in enumerate(places):
        for name, value in place.call.values.items():
            values[id(value)] = value
            numbers[name][id(value)].append(number)

    @cache
    def read(kind: LineKind) -> Groups:
        groups: defaultdict[Subject, defaultdict[Key, list[int]]] = defaultdict(lambda: defaultdict(list))
        for name, of_name in numbers.items():
            for value, own in of_name.items():
                for subject, key in kind.of_value(name, values[value]):
                    groups[subject][key] += own
        if kind.of_call is not None:
            for number, place in enumerate(places):
                for subject, key in dict(kind.of_call(place)).items():
                    groups[subject][key].append(number)
        return groups

    return read


def slot(line: Advice, name: str) -> str:
    """The only item of a line's slot."""
    return dict(line.slots)[name][0]


def bounds(tallies: Mapping[float, KeyTally], known: Known, *, upper: bool) -> list[float]:
    """Numbers of the source, and up to ten round ones, that part what worked from what failed.

    A bound is one of them only if it is about as few calls wrong as the best of all numbers: a round number
    below the true one would forbid what works, and one above it would allow what fails. Of several with the
    same numbers on their sides, the one next to what worked: what lies beyond was never tried. More tests
    find less, due to the correction for their number.
    """
    values, by_side = sorted(tallies), dict[int, float]()
    if not values:
        return []
    inside = [bound for bound in ROUND | known.numbers if values[0] <= bound <= values[-1]]
    for bound in sorted(inside, key=lambda bound: (bound in known.numbers, -bound if upper else bound)):
        by_side[(bisect_right if upper else bisect_left)(values, bound)] = bound
    wrong = _wrong_calls([tallies[value] for value in values], upper=upper)
    limit = AS_GOOD * min(wrong[1:-1], default=0) + 1
    fitting = sorted(side for side in by_side if wrong[side] <= limit)
    in_source = [by_side[side] for side in fitting if by_side[side] in known.numbers]
    rest = [side for side in fitting if by_side[side] not in known.numbers]
    return [*in_source, *(by_side[side] for side in sorted(rest, key=wrong.__getitem__)[:_MAX_BOUNDS])]


def _wrong_calls(tallies: Sequence[KeyTally], *, upper: bool) -> list[int]:
    """About how many calls a bound before each number, and after the last, is wrong."""
    failed = [0, *accumulate(tally.n - tally.ok for tally in tallies)]
    worked = [0, *accumulate(tally.ok for tally in tallies)]
    inside, outside = (failed, worked) if upper else (worked, failed)
    return [before + outside[-1] - after for before, after in zip(inside, outside, strict=True)]


# --- State: a call works only while a field of the object that it names has certain values.

_MAX_STATES: Final = 3
_OTHER: Final = "other value"
"""The field was seen with another text; has a space, so it is no word."""


def _state_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    works = tuple(sorted(key for key, tally in keys.items() if key and tally.works))
    if works and len(works) <= _MAX_STATES and all(map(known.declares, works)):
        yield advice("only_while", argument=subject[0], field=subject[1], states=works)


STATE: Final = LineKind(
    "state",
    frozenset({"only_while"}),
    _state_candidates,
    lambda line: lambda key: None if key is None else key not in dict(line.slots)["states"],
    lambda name, value: [((name, at), _OTHER if text is None else text) for at, text in value.saw.items()],
)


# --- Presence: an argument that must be passed, left out, or never be empty.

_MAX_PAIRED: Final = 12  # arguments of a call: more have hundreds of pairs, which are as many tests
_PRESENT: Final[Mapping[str, Mapping[str | None, bool | None]]] = {
    "never_empty": {"empty": True, "present": False, None: None},
    "always_pass": {"empty": True, "present": False, None: True},
    "leave_out": {"empty": None, "present": True, None: False},
}


def _presence_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    if "empty" in keys:
        yield advice("never_empty", arguments=subject)
    yield advice("always_pass", arguments=subject)
    yield advice("leave_out", arguments=subject)


PRESENCE: Final = LineKind(
    "presence",
    frozenset(_PRESENT),
    _presence_candidates,
    lambda line: _PRESENT[line.form].__getitem__,
    lambda name, value: [((name,), "empty" if value.kind == "empty" else "present")],
)


def _pairs_of(place: CallPlace) -> Reads:
    names = sorted(name for name, value in place.call.values.items() if value.kind != "empty")
    for pair in combinations(names if len(names) <= _MAX_PAIRED else (), 2):
        yield pair, True


def _pair_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    yield advice("not_both", argument=subject[0], other=subject[1])


PAIR: Final = LineKind(
    "presence",
    frozenset({"not_both"}),
    _pair_candidates,
    lambda line: lambda key: key is not None,
    of_call=_pairs_of,
)


# --- Value and bound: which values an argument takes, which one fails, how large a number may be.

_MAX_LISTED: Final = 8
_CLOSED: Final = 0.9
"""Share of the successful calls whose values a list must hold to be that of the argument."""


def _value_of(name: str, value: Value) -> Reads:
    if value.number is not None and value.kind == "number":
        return [((name,), value.number)]
    return [((name,), ("hash", value.value))] if value.kind in {"text", "boolean"} else ()


def _value_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    name = subject[0]
    texts = {key: tally for key, tally in keys.items() if isinstance(key, tuple)}
    declared = {known.texts[key[1]]: tally for key, tally in texts.items() if key[1] in known.texts}
    for text in declared:
        value = text if text in {"true", "false"} else f'"{text}"'
        yield advice("fails", argument=name, value=value)
    names = _all_values(name, declared, sum(tally.ok for tally in texts.values()), known)
    if names:
        yield advice("one_of", argument=name, values=tuple(sorted(names)))
    numbers = {key: tally for key, tally in keys.items() if isinstance(key, float)}
    for form in ("at_most", "at_least"):
        for bound in bounds(numbers, known, upper=form == "at_most"):
            yield advice(form, argument=name, number=f"{bound:g}")


def _all_values(name: str, declared: Mapping[str, KeyTally], n_ok: int, known: Known) -> Collection[str]:
    """All values of an argument: the shortest list in the source that has every value that worked.

    Without such a list, the values of the source that were tried, if all of them and no other value worked.
    """
    good = {text for text, tally in declared.items() if tally.ok}
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


def _value_test(line: Advice) -> KeyTest:
    if line.form in {"at_most", "at_least"}:
        bound, is_outside = float(slot(line, "number")), gt if line.form == "at_most" else lt
        return lambda key: is_outside(key, bound) if isinstance(key, float) else None
    if line.form == "one_of":
        listed = {*map(hash_of, dict(line.slots)["values"])}
        return lambda key: key[1] not in listed if isinstance(key, tuple) else None
    failing = hash_of(slot(line, "value").strip('"'))
    return lambda key: key[1] == failing if isinstance(key, tuple) else None


VALUE: Final = LineKind(
    "value",
    frozenset({"fails", "one_of", "at_most", "at_least"}),
    _value_candidates,
    _value_test,
    _value_of,
)


# --- Shape: how a value is written, how long it is, and which of two values comes first.


class _Written(NamedTuple):
    """A value without its content."""

    kind: str
    shape: str | None
    letters: str | None
    length: int | None
    prefix: int | None


_SCALARS: Final = frozenset({"text", "number", "boolean"})
_IS: Final[Mapping[str, Callable[[_Written], bool | None]]] = {
    "as YYYY-MM-DD": lambda value: value.shape == "date" if value.kind in _SCALARS else None,
    "as HH:MM": lambda value: value.shape == "clock" if value.kind in _SCALARS else None,
    "as Area/City": lambda value: value.shape == "zone" if value.kind == "text" else None,
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


def _shape_of(name: str, value: Value) -> Reads:
    if value.kind in {"empty", "unknown"}:
        return ()
    return [((name,), _Written(value.kind, value.shape, value.letters, value.length, value.prefix))]


def _order_of(place: CallPlace) -> Reads:
    values = place.call.values.items()
    dated = [(name, value.shape, value.number) for name, value in values if value.number is not None]
    for (name, shape, number), (other, other_shape, other_number) in combinations(dated, 2):
        if (shape in _TIMES) == (other_shape in _TIMES):
            yield (name, other), number < other_number
            yield (other, name), other_number < number


def _shape_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    name = subject[0]
    if len(subject) == 2:
        yield advice("before", argument=name, other=subject[1])
        return
    for wording, test in _IS.items():
        if {*map(test, keys)} >= {True, False}:
            yield advice("written", argument=name, shape=wording)
    for prefix in {value.prefix for value in keys} & known.texts.keys():
        yield advice("prefix", argument=name, prefix=known.texts[prefix])
    for form, kind, least in (("items", "list", 0), ("characters", "text", _MIN_CHARACTERS)):
        for bound in bounds(_by_length(keys, kind), known, upper=True):
            if bound >= least:
                yield advice(form, argument=name, number=f"{bound:g}")


def _by_length(values: Mapping[_Written, KeyTally], kind: str) -> dict[float, KeyTally]:
    lengths: dict[float, KeyTally] = {}
    for value, tally in values.items():
        if value.kind == kind and value.length and _is_long(value):
            before = lengths.get(value.length, KeyTally(0, 0))
            lengths[value.length] = KeyTally(before.ok + tally.ok, before.n + tally.n)
    return lengths


def _is_long(value: _Written) -> bool:
    """Length is said of lists and of free text only: that of a word or an id is a sign of something else."""
    return value.length is not None and (value.kind == "list" or value.shape == "text")


def _shape_test(line: Advice) -> KeyTest:
    has = _follows(line)
    return lambda key: None if key is None or (answer := has(key)) is None else not answer


def _follows(line: Advice) -> KeyTest:
    if line.form == "before":
        return bool
    if line.form == "written":
        return _IS[slot(line, "shape")]
    if line.form == "prefix":
        prefix = hash_of(slot(line, "prefix"))
        return lambda key: key.prefix == prefix if key.kind == "text" else None
    is_list, most = line.form == "items", float(slot(line, "number"))
    return lambda key: key.length <= most if _is_long(key) and (key.kind == "list") is is_list else None


SHAPE: Final = LineKind(
    "shape",
    frozenset({"before", "written", "prefix", "items", "characters"}),
    _shape_candidates,
    _shape_test,
    _shape_of,
    _order_of,
)


# --- Precondition: another tool that must have worked before, with the same value.


def _precondition_of(place: CallPlace) -> Iterator[tuple[Subject, Key]]:
    call = place.call
    for earlier in place.earlier:
        if earlier.tool != call.tool:
            for name, value in call.values.items():
                same = earlier.values.get(name)
                if same is not None and value.value is not None and same.value == value.value:
                    yield (name, earlier.tool), True


PRECONDITION: Final = LineKind(
    "precondition",
    frozenset({"call_first"}),
    lambda subject, keys, known: [advice("call_first", argument=subject[0], tool=subject[1])],
    lambda line: lambda key: key is None,
    of_call=_precondition_of,
)


# --- Source: the field of an earlier result that an argument's value must come from.

_QUESTION: Final = "question"
"""Where a value came from that the user gave: no side of a contrast, since an agent cannot choose it."""


def _source_of(name: str, value: Value) -> Reads:
    if value.sources is None or set(value.sources) == {_QUESTION}:
        return ()
    return [((name,), frozenset(value.sources) - {_QUESTION})]


def _source_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    """The field that holds most values of successful calls: another is a sign of something else."""
    counts = Counter[str]()
    for paths, tally in keys.items():
        counts.update(dict.fromkeys(paths, tally.ok))
    most = sorted(counts, key=lambda path: (-counts[path], len(path), path))  # a set has no order of its own
    paths = (written_path(recorded, known.tools) for recorded in most)
    path = next(filter(None, paths), None)
    if path is not None:
        yield advice("source", argument=subject[0], paths=path)


def _source_test(line: Advice) -> KeyTest:
    paths = {*map(recorded_path, line.items("paths"))}
    return lambda key: None if key is None else key.isdisjoint(paths)


SOURCE: Final = LineKind("source", frozenset({"source"}), _source_candidates, _source_test, _source_of)


DIRECT: Final = (STATE, PRESENCE, VALUE, SHAPE)
LAST: Final = (PAIR, PRECONDITION, SOURCE)
"""Tested on what the others leave: beside them they named false causes and displaced true lines."""


def kind_of(line: Advice) -> LineKind | None:
    """The kind of a line, or None for one that is no longer proposed."""
    return next((kind for kind in (*DIRECT, *LAST) if line.form in kind.forms), None)


def sides_of(test: KeyTest, keys: Mapping[Key, Sequence[int]], n: int) -> tuple[int, int]:
    """The calls that deviate from a line, and those that follow it; the key None is of all other calls."""
    numbers: dict[bool | None, list[int]] = {True: [], False: [], None: []}
    for key, of_key in keys.items():
        numbers[test(key)] += of_key
    sides = {answer: bits_of(own, n) if own else 0 for answer, own in numbers.items()}
    sides[test(None)] |= ((1 << n) - 1) & ~(sides[True] | sides[False] | sides[None])
    return sides[True], sides[False]


def calls_against(line: Advice, groups: Callable[[LineKind], Groups], n: int) -> int:
    """The set of calls, of ``n``, that are against a line."""
    kind, against, names = kind_of(line), 0, line.items("arguments")
    if kind is not None:
        for part in [replace(line, slots=(("arguments", (name,)),)) for name in names] or [line]:
            subject = (part.arguments[0], *part.items("field", "other", "tool"))
            against |= sides_of(kind.test(part), groups(kind).get(subject, {}), n)[0]
    return against


def is_against(line: Advice, place: CallPlace) -> bool:
    """Whether a call is against a line."""
    return calls_against(line, read_calls([place]), 1) > 0
