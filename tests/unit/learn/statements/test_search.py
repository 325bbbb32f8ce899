"""Lines are true: planted causes come out word for word, and nothing from logs without a cause."""

import importlib.util
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import orjson
import pytest

from coreloop.learn.effect.named_failure import named_failure, places_against
from coreloop.learn.line import statement_key
from coreloop.learn.statements import cases
from coreloop.learn.statements.findings import error_table, to_statements
from coreloop.learn.statements.logged_calls import CaseLog, LoggedCall
from coreloop.learn.statements.search import ToolSearch, search_tools
from coreloop.observe.reading.decode import RecordLine, read_lines
from logs import call as worked
from logs import failed, on_days, record
from rows import each_row, slow_after

BENCHMARKS = Path(__file__).parents[4] / "benchmarks"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


PLANTED, FALSE, BENCH = map(_load, ("planted_causes", "false_lines", "statements"))
WORDS = BENCH.words_of(PLANTED.SOURCE, ("act", "lookup", "verify_customer", "show_order"))
PLAIN = BENCH.words_of("def act(limit):\n    return limit\n", ("act",))
CAUSES = {cause.name: cause for cause in PLANTED.CAUSES}


@cache
def _log(name: str, seed: int = 101) -> CaseLog:
    log: CaseLog = BENCH.log_of(PLANTED.records(CAUSES[name], seed))
    return log


def _lines(searches: Iterable[ToolSearch]) -> list[tuple[str, str]]:
    return [(search.tool, str(found.line)) for search in searches for found in search.said]


@pytest.mark.parametrize("name", CAUSES)
def test_a_planted_cause_is_said_word_for_word_and_nothing_else(name: str) -> None:
    line = CAUSES[name].line
    assert _lines(search_tools(_log(name), WORDS)) == ([("act", line)] if line else [])


@pytest.mark.parametrize("name", slow_after(2, FALSE.SIMULATIONS))
def test_what_is_no_cause_is_not_said(name: str) -> None:
    logs = [BENCH.log_of(FALSE.SIMULATIONS[name](Random(seed))) for seed in (1001, 1002, 1003)]
    assert [lines for log in logs if (lines := _lines(search_tools(log, WORDS)))] == []


def _asked_with(values: Iterable[object], *, fails: Callable[[Any], bool], name: str = "limit") -> CaseLog:
    """Sessions of one call each over twelve days; no number of it stands in the tool's source."""
    calls = [{name.format(value): value} for value in values]
    return _called_with(calls, fails=lambda args: fails(*args.values()))


def _called_with(calls: Iterable[dict[str, Any]], *, fails: Callable[[dict[str, Any]], Any]) -> CaseLog:
    """``fails`` says whether a call does, or its error."""
    records = [
        record(
            question=f"question {number}",
            session_hash=f"session:{number:08x}",
            tool_calls=[failed("act", args, str(error)) if (error := fails(args)) else worked("act", args)],
        )
        for number, args in enumerate(calls)
    ]
    log: CaseLog = BENCH.log_of(on_days(records, 12))
    return log


PASSED = {"a": (None, "x", "y"), "b": (None, "x", "y"), "c": (None, None, "x")}
KINDS, TIDES = '"tides", "winds", "storm"', ["tides", "winds"]
FILES = [f"{folder}/{n}.csv" for folder in ("/srv/in", "/srv/in/new", "/tmp", "x") for n in range(5)]


@each_row(
    ("source", "values", "fails", "line"),
    [
        ("", PASSED, lambda args: len({"a", "b"} & {*args}) != 1, "Pass exactly one of a and b"),
        ("", PASSED, {"a", "b"}.isdisjoint, "Pass at least one of a and b"),
        ("", PASSED, lambda args: not args, "Pass at least one of a, b and c"),
        ("", PASSED, lambda args: {"a", "b"} <= {*args}, "Never pass a and b together"),
        ('"tides", "winds"', {"a": (TIDES, ["tides"], ["winds"], ["storm", "winds"], ["map"], ["sea"])},
         lambda args: not {*args["a"]} <= {*TIDES}, "a: each one of tides, winds"),
        (KINDS, {"a": (TIDES, ["tides"], ["map"], ["storm", "winds"], ["storm"])},
         lambda args: "storm" in args["a"], 'a="storm" fails'),
        ('"/srv/in"', {"a": FILES}, lambda args: "/srv/in/" not in args["a"], "a: below /srv/in"),
        ("", {"a": FILES[:15]}, lambda args: "/srv/in/" not in args["a"], ""),
        ("", {"a": [f"{word}{n}" for word in ("user", "User ") for n in range(9)]},
         lambda args: " " in args["a"], ""),
        ("", {"a": ["safe", "sure", "LEGACY"]}, lambda args: args["a"] == "LEGACY", ""),
        ("", {"a": [f"{text}{n}" for text in ("+82 10-555-100", "010-555-100") for n in range(9)]},
         lambda args: args["a"][0] == "0", "a: with a country code (+…)"),
        ('"#C", "A"', {"a": [f"{sign}{dock}{n}" for sign in ("#", "") for dock in "ABC" for n in range(3)]},
         lambda args: args["a"][0] != "#", "a: begins with #"),
        ("", {"a": [f"{sign}{word}" for sign in ("@", "") for word in ("ann", "bo1", "cy")]},
         lambda args: args["a"][0] != "@", "a: begins with @"),
        ('"#", "#W", "W"', {"a": [f"{start}{n}" for start in ("#W", "#", "W", "") for n in range(9)]},
         lambda args: args["a"][:2] != "#W", "a: begins with #W"),
        ('"R-"', {"a": [f"R-{n}{end}" for end in ("", ":", " x") for n in range(9)]},
         lambda args: args["a"][-1] in ":x", ""),
    ],
)  # fmt: skip
def test_what_parts_the_calls_is_said(source: str, values: Any, fails: Callable[..., Any], line: str) -> None:
    rng = Random(1)
    drawn = ({name: rng.choice(of) for name, of in values.items()} for _ in range(160))
    calls = [{name: value for name, value in args.items() if value is not None} for args in drawn]
    words = BENCH.words_of(f"def act(a=None, b=None, c=None):\n    return [{source}]\n", ("act",))
    expected = [("act", f"- {line}")] if line else []
    assert _lines(search_tools(_called_with(calls, fails=fails), words)) == expected


@pytest.mark.parametrize("tried", ["verify_customer", "lookup"])
def test_a_value_that_no_tool_knows_is_no_sign_of_an_order(tried: str) -> None:
    records = []
    for number in range(160):
        args, made = {"customer_id": f"cu{number}"}, worked if number % 4 else failed
        tools = (tried, *["verify_customer"] * (number % 4 > 0), "act")
        calls = [made(tool, args) for tool in tools]
        records.append(record(session_hash=f"session:{number:08x}", tool_calls=calls))
    assert _lines(search_tools(BENCH.log_of(on_days(records, 12)), WORDS)) == []


@pytest.mark.parametrize("source", ["", "45", "44, 50"])
def test_other_errors_of_a_heavy_user_do_not_move_a_bound(source: str) -> None:
    rng = Random(5)
    calls = [{"limit": rng.randint(1, 90), "user": rng.choice(["cu1", f"cu{n}"])} for n in range(2, 300)]

    def fails(args: dict[str, Any]) -> str:
        is_locked = args["user"] == "cu1" and rng.random() < 0.3
        return "too many" if args["limit"] > 45 else "account locked" if is_locked else ""

    log = _called_with(calls, fails=fails)
    words = BENCH.words_of(f"def act(limit, user):\n    return [{source}]\n", ("act",))
    ((statement, _),) = to_statements(search_tools(log, words), log)
    assert (statement.line, statement.bound) == ("- limit: at most 45", "45 worked, 46 failed")
    assert statement.evidence[0].endswith("; 45 worked, 46 failed")


@pytest.mark.parametrize("seed", [30, 34])
def test_a_bound_of_the_source_stays_where_some_beyond_it_work(seed: int) -> None:
    rng = Random(seed)
    calls = [{"limit": rng.randint(1, 75), "user": rng.choice(["cu1", f"cu{n}"])} for n in range(2, 100)]

    def fails(args: dict[str, Any]) -> str:
        if args["user"] == "cu1" and rng.random() < 0.5:
            return "account locked"
        return "too many" if args["limit"] > 50 and rng.random() < 0.9 else ""

    words = BENCH.words_of("def act(limit, user):\n    return [50]\n", ("act",))
    assert _lines(search_tools(_called_with(calls, fails=fails), words)) == [("act", "- limit: at most 50")]


@pytest.mark.parametrize("n", slow_after(1, [90, 300]))
@pytest.mark.parametrize("bound", [20, 40, 60, 47])
def test_a_bound_that_the_source_lacks_forbids_nothing_that_worked(bound: int, n: int) -> None:
    n_found = 0
    for seed in range(1, 9):
        values = [Random(f"{seed} {number}").randint(1, 100) for number in range(n)]
        log = _asked_with(values, fails=lambda value: int(str(value)) > bound)
        said = [int(line.rpartition(" ")[2]) for _, line in _lines(search_tools(log, PLAIN))]
        wrong = [value for limit in said for value in values if (value > limit) != (value > bound)]
        assert len(wrong) <= 1, (seed, said)
        n_found += len(said)
    assert n_found == 8


def test_work_grows_with_a_log_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    iterate, visited, n_visited = cases.iter_places, list[bool](), list[int]()
    monkeypatch.setattr(cases, "iter_places", lambda side: (visited.append(1) or at for at in iterate(side)))
    for n in (50, 200):
        search_tools(_asked_with([*range(n)] * 6, fails=lambda number: number % 3 == 0, name="a{}"), PLAIN)
        n_visited.append(len(visited))
    assert n_visited[1] < 6 * n_visited[0]


@pytest.mark.parametrize("name", slow_after(1, (name for name, cause in CAUSES.items() if cause.line)))
def test_effect_counts_the_calls_that_the_evidence_is_of(name: str, tmp_path: Path) -> None:
    records = sorted(PLANTED.records(CAUSES[name], 101), key=lambda record: str(record["ts"]))
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"\n".join(map(orjson.dumps, records)) + b"\n")
    (search,) = search_tools(_log(name), WORDS)
    (found,) = search.said
    lines = (line for line in read_lines(log) if isinstance(line, RecordLine))
    against = places_against(named_failure([str(found.line)]), "act", lines)
    deviate = map(search.places.__getitem__, cases.iter_places(found.deviate))
    expected = {(place.request.offset, place.index) for place in deviate}
    retries = {
        (request.offset, index)
        for request in _log(name).requests
        for index, call in enumerate(request.calls)
        if call.retry
    }
    assert against - retries == expected


def _with_retries(log: CaseLog) -> CaseLog:
    """After each failed call the agent looks the customer up and calls again, which works."""
    requests = []
    for request in log.requests:
        calls: list[LoggedCall] = []
        for call in request.calls:
            calls.append(call)
            if not call.ok:
                again = replace(call, error_class="", template=0, retry=True)
                calls += [LoggedCall("lookup_again", {}), again]
        requests.append(replace(request, calls=tuple(calls)))
    return replace(log, requests=tuple(requests))


def test_a_retry_is_no_evidence() -> None:
    log = _log("order")
    plain, retried = search_tools(log, WORDS), search_tools(_with_retries(log), WORDS)
    assert [search.said for search in retried] == [search.said for search in plain]
    assert not any(place.call.retry for search in retried for place in search.places)


def test_records_of_one_day_say_nothing() -> None:
    log = _log("bound")
    first = log.requests[0].ts_us
    one_day = replace(log, requests=tuple(replace(request, ts_us=first) for request in log.requests))
    assert _lines(search_tools(one_day, WORDS)) == []


def test_evidence_on_a_merged_line_is_what_came_since() -> None:
    log, old = _log("bound"), "- limit: at most 80"
    source = PLANTED.SOURCE.replace('"""Do the thing."""', f'"""Do the thing.\n\n    {old}\n    """')
    words = BENCH.words_of(source, ("act",))
    merged = datetime.fromtimestamp(log.requests[len(log.requests) // 2].ts_us / 1e6, UTC)
    merges = {statement_key("act", old, "Caveats"): merged}
    ((all_of_it, _),) = to_statements(search_tools(log, words), log)
    ((since, _),) = to_statements(search_tools(log, words, merges), log)
    assert since.line == all_of_it.line == "- limit: at most 50"
    in_force = merged + timedelta(days=words.settings.effect.deploy_lag_days)
    assert all_of_it.first_seen < merged < in_force <= since.first_seen
    n_since = sum(
        call.tool == "act" and not call.retry and request.ts_us >= in_force.timestamp() * 1e6
        for request in log.requests
        for call in request.calls
    )
    assert since.sides.n + since.sides.other_n == n_since


def test_a_korean_project_gets_a_korean_line() -> None:
    log = _log("state")
    ((statement, _),) = to_statements(search_tools(log, WORDS), log, language="ko")
    assert statement.line == "- order_id: status 값이 pending 일 때만"


def test_the_table_says_who_can_mend_an_error_and_what_it_cost() -> None:
    log = _log("bound")
    (row,) = error_table(log, search_tools(log, WORDS), words=WORDS)
    failed = [call for request in log.requests for call in request.calls if not call.ok]
    assert (row.tool, row.error, row.n_calls, row.mender) == ("act", "bad request", len(failed), "text")
    assert row.task == ""
    assert row.n_lost == sum(request.lost for request in log.requests if not all(c.ok for c in request.calls))


def test_an_error_that_is_mostly_of_another_cause_is_text_if_a_line_is_about_it() -> None:
    log = _log("bound")
    (search,) = search_tools(log, WORDS)
    (said,) = search.said
    most = replace(search, said=(replace(said, deviate=said.deviate & -said.deviate),))
    (row,) = error_table(log, [most], words=WORDS)
    assert row.mender == "text"


def test_what_a_project_writes_around_every_error_is_no_cause() -> None:
    errors = [
        f"Check it, please: try again. ({text})" for text in ("timed out at the desk", "no such room")
    ] * 9
    log = _called_with([{"n": n} for n in range(18)], fails=lambda args: errors[args["n"]])
    rows = {row.error: row.error_class for row in error_table(log, [], words=WORDS)}
    assert rows == {"timed out at the desk": "timeout", "no such room": "not_found"}
