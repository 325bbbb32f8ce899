"""The kinds of lines, and whether a call is against one: what each reads of a call, and what it may say."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from operator import gt, itemgetter, lt
from typing import Any, Final, NamedTuple

from coreloop.learn.line import SHAPES, Advice, advice, recorded_path, written_path
from coreloop.learn.proposals.entry import MIN_CASES, StatementKind
from coreloop.learn.statements.cases import MAX_SUCCESS, bits_of, upper_bounds
from coreloop.learn.statements.logged_calls import CallPlace
from coreloop.learn.statements.values import TIMES, Value, Written, hash_of, is_written, measure

Subject = tuple[str, ...]
"""An argument's name, and what it is compared with: another argument, a field, a tool."""
Key = Any
"""What a kind reads about a subject in a call; None where the call shows nothing about it."""
Reads = Iterable[tuple[Subject, Key]]
KeyedCalls = tuple[Subject, Key, list[int]]
Groups = Mapping[Subject, Mapping[Key, list[int]]]
"""Numbers of calls by what a kind reads of them."""
KeyTest = Callable[[Key], bool | None]
"""Whether calls with a key deviate from a line; None where the line says nothing about them."""


class KeyTally(NamedTuple):
    """Calls with a key: how many succeeded, how many there are, and their numbers."""

    ok: int
    n: int
    calls: Sequence[int] = ()

    @property
    def works(self) -> bool:
        """Whether more than half succeeded."""
        return 2 * self.ok > self.n


@dataclass(frozen=True, slots=True)
class Known:
    """What a tool's source declares, and the errors of its calls.

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
    errors : sequence of int
        By call, its error; 0 if it worked.
    declares : callable
        Whether a state is a word of the tool's.
    """

    texts: Mapping[int, str]
    listed: Callable[[str], frozenset[frozenset[str]]]
    numbers: frozenset[float]
    tools: Collection[str]
    errors: Sequence[int] = ()
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
    of_calls : callable
        Places, names of arguments -> subjects with a key that no single value shows, and numbers of calls.
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
    of_calls: Callable[[Sequence[CallPlace], Sequence[str]], Iterable[KeyedCalls]] = lambda places, names: ()


def read_calls(places: Sequence[CallPlace], names: Sequence[str] = ()) -> Callable[[LineKind], Groups]:
    """Return what reads calls for a kind: each value once, which calls alike usually share.

    ``names`` are the arguments whose presence is compared; those that some calls lack, by default.
    """
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
        for subject, key, own in kind.of_calls(places, names):
            groups[subject][key] += own
        return groups

    return read


def slot(line: Advice, name: str) -> str:
    """The only item of a line's slot."""
    return dict(line.slots)[name][0]


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

_MAX_GROUPED: Final = {2: 12, 3: 6}
"""Arguments that some calls lack, by the size of groups: more have hundreds, which are as many tests."""
_GROUPED: Final = {"not_both": {0, 1}, "at_least_one": {1, 2, 3}, "exactly_one": {1}}
"""How many arguments of a group a call passes that follows the line."""
_PRESENT: Final[Mapping[str, Mapping[str | None, bool | None]]] = {
    "never_empty": {"empty": True, "present": False, None: None},
    "always_pass": {"empty": True, "present": False, None: True},
    "leave_out": {"empty": None, "present": True, None: False},
}


def _presence_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    for form in _PRESENT:
        if form != "never_empty" or "empty" in keys:
            yield advice(form, arguments=subject)


PRESENCE: Final = LineKind(
    "presence",
    frozenset(_PRESENT),
    _presence_candidates,
    lambda line: _PRESENT[line.form].__getitem__,
    lambda name, value: [((name,), "empty" if value.kind == "empty" else "present")],
)


def _groups_of(places: Sequence[CallPlace], names: Sequence[str]) -> Iterator[KeyedCalls]:
    passing: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    for number, place in enumerate(places):
        values = place.call.values.items()
        passing[frozenset(name for name, value in values if value.kind != "empty")].append(number)
    if not names:
        n = Counter(name for passed, own in passing.items() for name in passed for _ in own)
        names = [name for name, n_passed in n.most_common() if n_passed < len(places)]
    for size, most in _MAX_GROUPED.items():
        for group in combinations(sorted(names[:most]), size):
            yield from ((group, passed.intersection(group), own) for passed, own in passing.items())


def _group_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    """The line, if each argument works alone: else it is about one of them."""
    alone = [keys.get(frozenset({name}), KeyTally(0, 0)) for name in subject]
    if all(tally.works and tally.n >= MIN_CASES for tally in alone):
        none, several = (_fail(keys, form) for form in ("at_least_one", "not_both"))
        if none:
            yield advice("exactly_one" if several else "at_least_one", group=subject)
        elif several and len(subject) == 2:
            yield advice("not_both", group=subject)


def _fail(keys: Mapping[Key, KeyTally], form: str) -> bool:
    """Whether calls against a line nearly always fail."""
    tallies = [tally for key, tally in keys.items() if len(key) not in _GROUPED[form]]
    n = sum(tally.n for tally in tallies)
    return n >= MIN_CASES and sum(tally.ok for tally in tallies) <= MAX_SUCCESS * n


def _group_test(line: Advice) -> KeyTest:
    return lambda key: None if key is None else len(key) not in _GROUPED[line.form]


GROUP: Final = LineKind("presence", frozenset(_GROUPED), _group_candidates, _group_test, of_calls=_groups_of)


# --- Value: which values an argument takes, alone or in a list, and which one fails.

_MAX_LISTED: Final = 8
_LISTED: Final = {"one_of": "text", "each_of": "list"}
"""Forms of a list, by which values it is of: texts, or those in lists."""
_CLOSED: Final = 0.9
"""Share of the successful calls whose values a list must hold to be that of the argument."""


def _value_of(name: str, value: Value) -> Reads:
    if value.kind == "list":
        return [((name,), ("list", *value.parts))] if value.parts else ()
    return [((name,), ("text", value.value))] if value.kind in {"text", "boolean"} else ()


def _value_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    name = subject[0]
    for form, kind in _LISTED.items():
        texts = _by_text(keys, kind)
        declared = {known.texts[text]: tally for text, tally in texts.items() if text in known.texts}
        for text in declared:
            value = text if text in {"true", "false"} else f'"{text}"'
            yield advice("fails", argument=name, value=value)
        names = _all_values(name, declared, sum(tally.ok for tally in texts.values()), known)
        if names:
            yield advice(form, argument=name, values=tuple(sorted(names)))


def _by_text(keys: Mapping[Key, KeyTally], kind: str) -> Mapping[int, KeyTally]:
    """The calls with each text, alone or in a list."""
    texts: dict[int, KeyTally] = {}
    for key, tally in keys.items():
        for text in key[1:] if key[0] == kind else ():
            before = texts.get(text, KeyTally(0, 0))
            texts[text] = KeyTally(before.ok + tally.ok, before.n + tally.n)
    return texts


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
    if line.form in _LISTED:
        listed, kind = {*map(hash_of, dict(line.slots)["values"])}, _LISTED[line.form]
        return lambda key: not listed.issuperset(key[1:]) if key and key[0] == kind else None
    failing = hash_of(slot(line, "value").strip('"'))
    return lambda key: failing in key[1:] if key else None


VALUE: Final = LineKind("value", frozenset({"fails", *_LISTED}), _value_candidates, _value_test, _value_of)


# --- Bound: how large a number may be, how long a list or a text.

_MEASURED: Final = {"at_most": "number", "at_least": "number", "items": "list", "characters": "text"}
"""Forms of bounds, by the kind of value."""
_ROUND: Final = frozenset(range(21)) | {
    *(factor * 10**power for factor in range(1, 10) for power in range(1, 5)),
    *(25, 75, 140, 150, 250, 255, 280, 365),
}
"""Bounds that people set, beside the numbers in a tool's source."""
_MIN_CHARACTERS: Final = 20
"""Shorter texts are values to choose from: what their length separates is which of them was chosen."""


def _measured(name: str, value: Value) -> Reads:
    number = measure(value)
    return [((name,), (value.kind, number))] if number is not None else ()


def _bound_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    """The bounds for the error that they part best: others are no sign of a bound."""
    for form, kind in _MEASURED.items():
        sign, numbers = -1 if form == "at_least" else 1, defaultdict[int, list[float]](list)
        for (of, number), tally in keys.items():
            for call in tally.calls if of == kind else ():
                numbers[known.errors[call]].append(sign * number)
        worked = sorted(numbers.pop(0, ()))
        preferred = [[sign * number for number in of] for of in (known.numbers, _ROUND)]
        groups = (sorted(failed) for failed in numbers.values() if len(failed) >= MIN_CASES)
        parted = (upper_bounds(worked, failed, *preferred) for failed in groups)
        for bound in max(parted, key=itemgetter(0), default=(0, ()))[1]:
            if form != "characters" or bound >= _MIN_CHARACTERS:
                yield advice(form, argument=subject[0], number=f"{sign * bound:g}")


def _bound_test(line: Advice) -> KeyTest:
    kind, bound = _MEASURED[line.form], float(slot(line, "number"))
    is_outside = lt if line.form == "at_least" else gt
    return lambda key: is_outside(key[1], bound) if key and key[0] == kind else None


BOUND: Final = LineKind("value", frozenset(_MEASURED), _bound_candidates, _bound_test, _measured)


# --- Shape: how a value is written, and which of two values comes first.


def _shape_of(name: str, value: Value) -> Reads:
    if value.kind in {"empty", "unknown"}:
        return ()
    return [((name,), Written(value.kind, value.shape, value.letters, value.parts))]


def _order_of(places: Sequence[CallPlace], names: Sequence[str]) -> Iterator[KeyedCalls]:
    for at, place in enumerate(places):
        values = place.call.values.items()
        dated = [(name, value.shape, value.number) for name, value in values if value.number is not None]
        for (name, shape, number), (other, other_shape, other_number) in combinations(dated, 2):
            if (shape in TIMES) == (other_shape in TIMES):
                yield (name, other), number < other_number, [at]
                yield (other, name), other_number < number, [at]


def _shape_candidates(subject: Subject, keys: Mapping[Key, KeyTally], known: Known) -> Iterator[Advice]:
    name = subject[0]
    if len(subject) == 2:
        yield advice("before", argument=name, other=subject[1])
        return
    for shape in SHAPES:
        if {*map(is_written(shape), keys)} >= {True, False}:
            yield advice("written", argument=name, shape=shape)
    starts = {start for value in keys for start in value.parts} & known.texts.keys()
    texts = map(known.texts.__getitem__, starts)  # the widest folder forbids least
    for start in sorted(texts, key=lambda text: len(text) if "/" in text else -len(text)):
        yield advice("below" if "/" in start else "prefix", argument=name, prefix=start)


def _shape_test(line: Advice) -> KeyTest:
    has = _follows(line)
    return lambda key: None if key is None or (answer := has(key)) is None else not answer


def _follows(line: Advice) -> KeyTest:
    if line.form == "before":
        return bool
    if line.form == "written":
        return is_written(slot(line, "shape"))
    start = hash_of(slot(line, "prefix"))
    return lambda key: start in key.parts if key.kind == "text" else None


_SHAPE_FORMS: Final = frozenset({"before", "written", "prefix", "below"})
SHAPE: Final = LineKind("shape", _SHAPE_FORMS, _shape_candidates, _shape_test, _shape_of, _order_of)


# --- Precondition: another tool that must have worked before, with the same value.


def _precondition_of(places: Sequence[CallPlace], names: Sequence[str]) -> Iterator[KeyedCalls]:
    """Calls after one of another tool with the same value; False, which is no side, if it failed.

    A value with which others failed, and none worked, is unknown: no order is the cause.
    """
    tools = {call.tool for place in places for call in place.request.calls[: place.index]}
    for number, place in enumerate(places):
        calls = place.request.calls
        others = [call for call in calls[: place.index] if call.tool != place.call.tool]
        known = {value.value for call in calls if call.ok for value in call.values.values()}
        for name, value in place.call.values.items():
            for call in others if value.value is not None else ():
                if name in call.values and call.values[name].value == value.value:
                    yield (name, call.tool), call.ok and not call.retry, [number]
                    if value.value not in known:
                        yield from (((name, tool), False, [number]) for tool in tools)


PRECONDITION: Final = LineKind(
    "precondition",
    frozenset({"call_first"}),
    lambda subject, keys, known: [advice("call_first", argument=subject[0], tool=subject[1])],
    lambda line: {None: True, True: False, False: None}.__getitem__,
    of_calls=_precondition_of,
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


DIRECT: Final = (STATE, PRESENCE, GROUP, VALUE, BOUND, SHAPE)
LAST: Final = (PRECONDITION, SOURCE)
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
            first = *sorted(part.items("group")), *part.items("argument", "arguments")
            subject = *first, *part.items("field", "other", "tool")
            against |= sides_of(kind.test(part), groups(kind).get(subject, {}), n)[0]
    return against


def is_against(line: Advice, place: CallPlace) -> bool:
    """Whether a call is against a line."""
    return calls_against(line, read_calls([place], sorted(line.arguments)), 1) > 0
