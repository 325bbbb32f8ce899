"""What was found of each tool -> statements, with three lines a tool, and the table of errors.

The table has each tool's errors without values, what they cost, and who can mend them, and before them the
arguments that tools do not have, in calls that worked all the same.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, reduce
from itertools import product
from operator import or_
from statistics import mode
from typing import Any, Final

from coreloop.base.error_classes import TRANSIENT
from coreloop.base.error_classes import error_class as error_class_of
from coreloop.base.messages import number_of
from coreloop.base.project.tools import Tool
from coreloop.learn.line import Advice, Language, in_language, joined, statement_key
from coreloop.learn.mine.window import moment
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.entry import CAVEATS, MIN_CASES, ErrorRow, Mender, Sides, Statement, task_of
from coreloop.learn.statements.cases import NumberedCalls, bits_of, has_several, iter_places, rates_of
from coreloop.learn.statements.kinds import BOUND, calls_against, is_against, read_calls
from coreloop.learn.statements.logged_calls import CallPlace, CaseLog, LoggedRequest
from coreloop.learn.statements.search import LineHypothesis, MergedSides, ToolSearch, evidence_calls
from coreloop.learn.statements.values import Value, hash_of, measure
from coreloop.learn.statistics import newcombe_interval, wilson_interval
from coreloop.observe.argument_sources import is_name
from coreloop.observe.reading.error_texts import unwrapped

Places = tuple[tuple[int, int], ...]
"""File and offset of the requests whose calls deviate from a statement and failed."""
MAX_LINES: Final = 3
"""Lines of a tool: more were never all true on four logs, and a model reads them at every call."""


def to_statements(
    searches: Sequence[ToolSearch], log: CaseLog, *, language: Language = "en"
) -> list[tuple[Statement, Places]]:
    """Make the statements of all tools, by calls wasted per 1,000 requests."""
    groups: dict[object, tuple[ToolSearch, list[LineHypothesis]]] = {}
    for search in searches:
        for number, line in enumerate(search.said):  # those about the same argument are one
            groups.setdefault((search.tool, line.line.argument() or number), (search, []))[1].append(line)
    found = [_statement(search, group, log, language) for search, group in groups.values()]
    found.sort(key=lambda one: (-one[0].wasted, one[0].key))
    n_lines = Counter[str]()
    best = []
    for statement, places in found:
        n_lines[statement.tool] += 1
        if n_lines[statement.tool] <= MAX_LINES:
            best.append((statement, places))
    return best


def _statement(
    search: ToolSearch, group: Sequence[LineHypothesis], log: CaseLog, language: Language
) -> tuple[Statement, Places]:
    calls = search.calls
    deviate = reduce(or_, (part.deviate for part in group))
    follow = reduce(or_, (part.follow for part in group)) & ~deviate
    advice = joined(part.line for part in group)
    line = str(in_language(advice, language))
    rates = [rates_of(*calls.counts(side, calls.cases)) for side in (follow, deviate)]
    low, high = newcombe_interval(sum(rates[0]), len(rates[0]), sum(rates[1]), len(rates[1]))
    failed = [search.places[place].request for place in iter_places(deviate & ~calls.good)]
    share = wilson_interval(deviate.bit_count(), calls.n)[0] * calls.n / len(log.requests)
    both = [search.places[place].request for place in iter_places(follow | deviate)]
    seen = [request.ts_us for request in both]
    sides = (map(search.places.__getitem__, iter_places(side)) for side in (follow, deviate))
    questions = ({place.request.question for place in side} for side in sides)
    statement = Statement(
        key=statement_key(search.tool, line, CAVEATS),
        kind=group[0].kind,
        tool=search.tool,
        line=line,
        sides=_sides(calls, follow, deviate),
        held=_sides(calls, follow & calls.last, deviate & calls.last),
        case=log.case_kind,
        n_questions=min(map(len, questions)),
        difference=sum(rates[0]) / len(rates[0]) - sum(rates[1]) / len(rates[1]),
        low=low,
        high=high,
        q_value=max(part.q_value for part in group),
        wasted=1000 * max(0.0, low) * share,
        lost=_lost(failed, log),
        first_seen=moment(min(seen)),
        last_seen=moment(max(seen)),
        n_undated=sum(bool(request.undated) for request in both),
        bound="; ".join(_next_to(search, part) for part in group if part.line.form in BOUND.forms),
        failing=_usual_call(search, deviate & ~calls.good, advice),
        working=_usual_call(search, follow & calls.good, advice),
    )
    places = dict.fromkeys((request.file, request.offset) for request in failed)
    return statement, tuple(places)


def _next_to(search: ToolSearch, bound: LineHypothesis) -> str:
    """``45 worked, 50 failed``: the numbers next to a bound."""
    name, good = bound.line.arguments[0], search.calls.good
    failed = [search.places[at].call for at in iter_places(bound.deviate & ~good)]
    own = mode(call.template for call in failed)
    beyond = [measure(call.values[name]) or 0 for call in failed if call.template == own]
    worked = [measure(search.places[at].call.values[name]) or 0 for at in iter_places(bound.follow & good)]
    last, first = (min, max) if bound.line.form == "at_least" else (max, min)
    return f"{last(worked):,.10g} worked, {first(beyond):,.10g} failed"


def _sides(calls: NumberedCalls, follow: int, deviate: int) -> Sides:
    return Sides(
        n_ok=(follow & calls.good).bit_count(),
        n=follow.bit_count(),
        other_ok=(deviate & calls.good).bit_count(),
        other_n=deviate.bit_count(),
        cases=len({calls.cases[place] for place in iter_places(follow)}),
        other_cases=len({calls.cases[place] for place in iter_places(deviate)}),
    )


def _lost(failed: Sequence[LoggedRequest], log: CaseLog) -> tuple[float, float]:
    """Requests per 1,000 that such calls may have cost: beyond the usual share, and at most."""
    concerned = {(request.file, request.offset): request for request in failed}
    n_lost = sum(request.lost for request in concerned.values())
    usual = sum(request.lost for request in log.requests) / len(log.requests)
    low = max(0.0, n_lost - usual * len(concerned))
    return 1000 * low / len(log.requests), 1000 * n_lost / len(log.requests)


# --- Calls as they look: shapes of arguments stand for values, which are text of users and models.

_SHAPES: Final[Mapping[str, str]] = {
    "number": "n",
    "a whole number": "n",
    "prefixed": "id",
    "identifier": "id",
}
"""Of values, by kind or shape, what is not called by its name."""


def _usual_call(search: ToolSearch, side: int, line: Advice) -> str:
    """The most frequent of some calls, as a line sees them; empty without calls."""
    texts: dict[int | None, str] = {hash_of(text.strip('"')): text for text in line.items("value", "values")}
    deviate = set[tuple[str, int]]()
    for clause in line.clauses():
        against = iter_places(calls_against(clause, search.groups, search.calls.n) & side)
        deviate.update(product(clause.items("argument"), against))
    first, calls = line.arguments, Counter[str]()
    for number in iter_places(side):
        values = search.places[number].call.values
        names = sorted(values, key=lambda name: (name not in first, name))
        shown = (_argument(name, values[name], texts, (name, number) in deviate) for name in names)
        calls[f"{search.tool}({', '.join(shown)})"] += 1
    return calls.most_common(1)[0][0] if calls else ""


def _argument(name: str, value: Value, texts: Mapping[int | None, str], deviates: bool) -> str:
    """``reason=<empty>``, ``order_id="<id>"``: an argument and its shape; a value only if the line has it."""
    if value.value in texts:
        return f"{name}={texts[value.value]}"
    name_of_shape = str(value.shape if value.kind == "text" else value.kind)
    against = ", against the line" if deviates else ""
    shape = f"<{_SHAPES.get(name_of_shape, name_of_shape.removeprefix('as '))}{against}>"
    return f'{name}="{shape}"' if value.kind == "text" else f"{name}={shape}"


_EXAMPLES: Final = 3


def examples(log: CaseLog, tool: str, line: Advice) -> tuple[list[str], list[str]]:
    """The newest calls against a line that failed, and others that worked, as `_example` shows them."""
    failing, working = list[str](), list[str]()
    for request in reversed(log.requests):
        places = (CallPlace(request, at) for at, call in enumerate(request.calls) if not call.retry)
        for place in (place for place in places if place.call.tool == tool):
            side = working if place.call.ok else failing
            is_wrong = any(is_against(clause, place) for clause in line.clauses())
            if len(side) < _EXAMPLES and is_wrong is not place.call.ok:
                side.append(_example(place, line, log.errors.get(place.call.template, "")))
    return failing, working


def _example(place: CallPlace, line: Advice, error: str) -> str:
    """``2026-04-25 book(hours=<n, against the line>): too long``: day, shape, error without values."""
    search = ToolSearch(place.call.tool, [place], evidence_calls([place], 0), read_calls([place]))
    day = "no date" if place.request.undated else f"{moment(place.request.ts_us):%Y-%m-%d}"
    return f"{day} {_usual_call(search, 1, line)}" + (f": {unwrapped(error)}" if error else "")


# --- The table of errors.

MAX_ERRORS: Final = 100
"""Rows of the table: what comes after costs next to nothing."""
_MOST: Final = 0.5  # a majority
# Matches "We could not do that: ", not "ValueError: " or "limit must be ".
_CLAUSE: Final = re.compile(r"(?s)\S+ \S+ .*(?:[:.!] |\()")
_MENDERS: Final[dict[str, Mender]] = {"auth": "policy", "not_found": "user", "invalid_argument": "schema"}
"""By class of error; any other, such as a timeout, is the tool's own."""
_Placed = tuple[LoggedRequest, int]
"""A request and the place of its call."""


def error_table(log: CaseLog, searches: Sequence[ToolSearch], *, words: Vocabulary) -> tuple[ErrorRow, ...]:
    """The errors of all tools, those that cost most requests first, then most calls.

    A tool that the project does not define has no text that could be mended.
    """
    by_tool = {search.tool: search for search in searches}
    failed: defaultdict[tuple[str, int], list[_Placed]] = defaultdict(list)
    for request in log.requests:
        for index, call in enumerate(request.calls):
            if not call.ok:
                failed[call.tool, call.template].append((request, index))
    numbers: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for search in searches:
        for number, place in enumerate(search.places):
            numbers[search.tool, place.call.template].append(number)
    texts = {at: unwrapped(log.errors.get(at[1], "")) for at in failed}
    starts = {tool: _beginning([text for at, text in texts.items() if at[0] == tool]) for tool, _ in texts}
    rows = [(_counted(texts[at], calls, starts[at[0]]), at) for at, calls in failed.items()]
    rows.sort(key=lambda one: (-one[0].n_lost, -one[0].n_calls, one[0].tool, one[0].error))
    most = ((_if_enough(row, log), at) for row, at in rows[:MAX_ERRORS])
    return tuple(_explained(row, numbers[at], by_tool.get(at[0]), words) for row, at in most)


def _beginning(texts: Collection[str]) -> int:
    """Length of the clause that all of a tool's errors begin with, which says nothing of a cause."""
    first, last = min(texts), max(texts)
    n_shared = next((n for n, pair in enumerate(zip(first, last, strict=False)) if len({*pair}) > 1), 0)
    clause = _CLAUSE.match(first, 0, n_shared)
    return clause.end() if clause is not None else 0


def _if_enough(row: ErrorRow, log: CaseLog) -> ErrorRow:
    """An error's row; who can mend it is unknown as long as a line about it would need more cases."""
    worked = {it.case for it in log.requests if any(call.ok and call.tool == row.tool for call in it.calls)}
    missing = ["a second day"] if log.is_one_day else []
    counts = ((row.n_cases, "failures"), (len(worked), "calls that worked"))
    missing += [f"{what} in {MIN_CASES} {log.case_kind}s ({n} so far)" for n, what in counts if n < MIN_CASES]
    if not missing or row.error_class in TRANSIENT:
        return row
    return replace(row, mender="unknown yet", suggestion=f"needs {', '.join(missing)}")


def _counted(text: str, calls: Sequence[_Placed], start: int = 0) -> ErrorRow:
    """The row of an error, without what explains it."""
    requests = {(request.file, request.offset): request for request, _ in calls}
    back = {(request.file, request.offset) for request, index in calls if request.calls[index].recovered}
    failed = [request.calls[index] for request, index in calls]
    tool, error_class = failed[0].tool, mode(call.error_class for call in failed)  # logs cut texts
    if start and error_class == error_class_of(
        text[:start]
    ):  # by the wording that all of the tool's errors have
        error_class = error_class_of(text[start:])
    return ErrorRow(
        tool=tool,
        error=text[start:],
        error_class=error_class,
        mender="tool" if error_class in TRANSIENT else _MENDERS.get(error_class, "tool"),
        n_calls=len(calls),
        n_requests=len(requests),
        n_lost=sum(request.lost for request in requests.values()),
        n_cases=len({request.case for request in requests.values()}),
        n_recovered=len(back),
        n_unknown=sum(request.unknown for place, request in requests.items() if place not in back),
    )


def _explained(row: ErrorRow, own: list[int], search: ToolSearch | None, words: Vocabulary) -> ErrorRow:
    """What lines say about an error: the merged ones, then about the rest of its calls the proposed ones."""
    tool = words.tool(row.tool)
    if search is None:
        return replace(row, task=task_of(tool, row))
    failed, bad = bits_of(own, search.calls.n), ~search.calls.good
    against = reduce(or_, (line.deviate for line in search.merged), 0)
    if _is_most(against & failed, failed):
        row = replace(row, mender="merged", suggestion="")
    elif words.is_known(row.tool) and _is_proposed(search, failed & ~against):
        row = replace(row, mender="text", suggestion="")
    merged = (_merged(line, failed) for line in search.merged if _is_about(line.deviate & bad, failed))
    return replace(row, merged=tuple(merged), task=task_of(tool, row))


def _is_about(against: int, failed: int) -> bool:
    """Whether failures against a line are most of an error's, or mostly of this error."""
    return _is_most(against & failed, failed) or _is_most(against & failed, against)


def _merged(line: MergedSides, failed: int) -> str:
    against = line.deviate & failed
    n_since = (against & line.since).bit_count()
    since = f"{number_of(against.bit_count(), 'call')} against it, {n_since:,} of them since"
    return f"{str(line.line).removeprefix('- ')}, merged on {line.merged:%Y-%m-%d}: {since}"


def _is_proposed(search: ToolSearch, failed: int) -> bool:
    """Whether a proposed line is about an error."""
    sides = [found.deviate & ~search.calls.good for found in search.said]
    is_cause = any(_is_most(side & failed, side) for side in sides)
    return is_cause or _is_most(reduce(or_, sides, 0) & failed, failed)


def _is_most(part: int, whole: int) -> bool:
    return part.bit_count() > _MOST * whole.bit_count()


# --- Arguments that tools do not have, in calls that worked all the same.

_UNNAMED: Final = "<name>"  # no plain name: a model may have written anything
_OPENING: Final = {"patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"}
"""Keywords by which a schema may allow arguments that its ``properties`` do not have."""
_CLOSED: Final = "its schema refuses it already; let the tool do so, too"
_OPEN: Final = "let its schema refuse it: additionalProperties: false"
_UNSENT: Final = "let its schema refuse it, if it does not: additionalProperties: false"


def ignored_arguments(log: CaseLog, words: Vocabulary, sent: Mapping[tuple[str, str], Any]) -> list[ErrorRow]:
    """The arguments that tools do not have, in calls that worked: those of most calls first.

    ``sent`` are schemas by `LoggedRequest.sent` and tool; where none names all arguments, the signature does.
    """
    accepted = cache(lambda of, tool: _accepted(sent.get((of, tool)), words.tool(tool)))
    groups = defaultdict[tuple[str, str, str], list[_Placed]](list)
    n_calls = Counter(call.tool for request in log.requests for call in request.calls)
    for request in log.requests:
        for index, call in enumerate(request.calls):
            names, required, suggestion = accepted(request.sent, call.tool)
            if suggestion and call.ok and required <= call.values.keys():
                given = {name for name, value in call.values.items() if value.kind != "empty"}
                for name in {*map(_plain, given - names)}:
                    groups[call.tool, name, suggestion].append((request, index))
    rows = list[ErrorRow]()
    for (tool, name, suggestion), calls in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        # what most calls pass, or the source reads by name, is missing in a signature alone
        is_own = suggestion == _UNSENT and (len(calls) > _MOST * n_calls[tool] or words.declares(name, tool))
        if len(rows) < MAX_ERRORS and not is_own and has_several((one.case for one, _ in calls), MIN_CASES):
            names = accepted(calls[0][0].sent, tool)[0]
            rows.append(replace(_ignored(name, calls, names), suggestion=suggestion))
    return rows


def _accepted(schema: Any, tool: Tool | None) -> tuple[frozenset[str], frozenset[str], str]:
    """A tool's arguments, those that it needs, and what to do about others; no text if there may be more."""
    own = frozenset(tool.parameters if tool is not None else ())
    about = schema if isinstance(schema, dict) else {}
    properties, more, needed = map(about.get, ("properties", "additionalProperties", "required"))
    named = frozenset(properties if isinstance(properties, dict) else ())
    if any(name.startswith("**") for name in own) or not _OPENING.isdisjoint(about):
        return own, own, ""
    if named and more in (None, False):
        required = {name for name in needed if isinstance(name, str)} if isinstance(needed, list) else ()
        return own | named, frozenset(required), _OPEN if more is None else _CLOSED
    is_function = tool is not None and "." not in tool.qualname  # a service's method has the same name
    declared = tool.declared if tool is not None else {}
    required = {name for name, text in declared.items() if not text.startswith("=")}
    return own | named, frozenset(required), _UNSENT if own and is_function else ""


def _plain(name: str) -> str:
    return name if is_name(name) else _UNNAMED


def _ignored(name: str, calls: Sequence[_Placed], names: Collection[str]) -> ErrorRow:
    passed = [request.calls[index] for request, index in calls]
    others = [other for other in names if not any(other in call.values for call in passed)]
    nearest = "".join(get_close_matches(name, others, n=1) if name != _UNNAMED else ())
    shown = ", ".join(_argument(_plain(key), value, {}, False) for key, value in passed[0].values.items())
    about = f" (nearest: {nearest})" if nearest else ""
    text = f"{name} is no argument{about}, but it worked: {passed[0].tool}({shown})"
    return replace(_counted(text, calls), error_class="ignored_argument", mender="schema")
