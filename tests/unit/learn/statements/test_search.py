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
from logs import failed
from rows import slow_after

BENCHMARKS = Path(__file__).parents[4] / "benchmarks"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


FALSE, PLANTED, BENCH = map(_load, ("false_lines", "planted_causes", "statements"))
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


def test_a_true_cause_is_said_though_all_requests_have_one_template() -> None:
    log = BENCH.log_of(FALSE.one_template(Random(1001)))
    assert _lines(search_tools(log, WORDS)) == [("act", "- Leave out note")]


def _asked_with(values: Iterable[object], *, fails: Callable[[Any], bool], name: str = "limit") -> CaseLog:
    """Sessions of one call each over twelve days; no number of it stands in the tool's source."""
    calls = [{name.format(value): value} for value in values]
    return _called_with(calls, fails=lambda args: fails(*args.values()))


def _called_with(calls: Iterable[dict[str, Any]], *, fails: Callable[[dict[str, Any]], bool]) -> CaseLog:
    records = [
        {
            "schema_version": 2,
            "ts": f"2026-03-{1 + number % 12:02}T09:{number // 12 % 60:02}:00Z",
            "request_id": f"r{number}",
            "session_hash": f"{number:08x}",
            "question": f"question {number}",
            "tool_calls": [(failed if fails(args) else worked)("act", args)],
            "chunk_len": 600,
        }
        for number, args in enumerate(calls)
    ]
    log: CaseLog = BENCH.log_of(records)
    return log


def test_two_arguments_that_fail_together_alone_have_a_line() -> None:
    calls = [{"q": "x", **dict.fromkeys(("", "a", "b", "ab")[n % 4], f"v{n % 7}")} for n in range(120)]
    log = _called_with(calls, fails=lambda args: "a" in args and "b" in args)
    words = BENCH.words_of("def act(q, a=None, b=None):\n    return q\n", ("act",))
    assert _lines(search_tools(log, words)) == [("act", "- Never pass a and b together")]


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
    assert n_found == 8 or bound == 47  # which is no number that people set


@pytest.mark.parametrize("good", [["safe"], ["safe", "sure"]])
def test_one_value_a_side_is_no_way_of_writing(good: list[str]) -> None:
    values = ["LEGACY" if n % 3 == 0 else good[n % len(good)] for n in range(90)]
    assert _lines(search_tools(_asked_with(values, fails="LEGACY".__eq__), PLAIN)) == []


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
    expected = {
        (place.request.offset, place.index)
        for number, place in enumerate(search.places)
        if found.deviate >> number & 1
    }
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


def test_an_error_that_no_line_explains_has_a_text_for_a_coding_agent() -> None:
    log = _log("too many calls")
    (row,) = error_table(log, search_tools(log, WORDS), words=WORDS)
    assert row.mender == "tool"
    assert row.task.startswith(f"The tool act failed {row.n_calls} times with one error (class other); ")
    assert " It is defined in tools.py, line " in row.task


def test_an_error_that_is_mostly_of_another_cause_is_text_if_a_line_is_about_it() -> None:
    log = _log("bound")
    (search,) = search_tools(log, WORDS)
    (said,) = search.said
    most = replace(search, said=(replace(said, deviate=said.deviate & -said.deviate),))
    (row,) = error_table(log, [most], words=WORDS)
    assert row.mender == "text"
