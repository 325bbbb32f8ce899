"""What a request leaves behind, and that recording it never disturbs the request."""

import asyncio
import contextvars
import functools
import inspect
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import UTC, date, datetime
from hashlib import sha256
from itertools import groupby
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coreloop.observe import AuditCollector, collector, current, dropped, drops, observed_tool
from coreloop.observe.tally import Tally
from coreloop.records import step

MOMENT = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
SECRET = "비밀-4711"


@pytest.fixture(autouse=True)
def _nothing_dropped_yet(monkeypatch):
    monkeypatch.setattr(drops, "DROPPED", Tally())
    monkeypatch.setattr(drops, "_logged", {})
    monkeypatch.setattr(collector, "_audits", False)


@pytest.fixture
def audit(tmp_path):
    return functools.partial(AuditCollector, data_dir=tmp_path, clock_ns=lambda: ns(MOMENT))


@pytest.fixture
def records(tmp_path):
    def read(data_dir=tmp_path):
        days = sorted((data_dir / "audit" / "ai-ask").glob("*.jsonl"))
        return [json.loads(line) for day in days for line in day.read_bytes().splitlines()]

    return read


@pytest.fixture
def only(records):
    def read():
        (record,) = records()
        return record

    return read


def ns(moment):
    return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000


class Mute:
    """Nothing can be said of it."""

    def __str__(self):
        raise RuntimeError(SECRET)

    __repr__ = __str__


class Speechless:
    """Hypothesis can show it, `str` cannot."""

    __str__ = Mute.__str__

    def __repr__(self):
        return "Speechless()"


class MuteError(Exception):
    __str__ = Mute.__str__


class BrokenMapping(dict):
    def items(self):
        raise RuntimeError(SECRET)


# the record


def test_an_empty_error_is_none(audit, only):
    request = audit()
    request.observe_tool_call("show", {}, error="")
    request.flush(500, error=False)
    record = only()
    assert (record["error"], record["tool_calls"][0]["ok"], record["chunk_len"]) == (None, True, 500)


def test_a_field_of_the_wrong_type_costs_the_field_and_is_counted(audit, only):
    before = dropped().get("unserialisable", 0)
    request = audit()
    request.observe_tool_call("scan", {}, extreme_flags=5)
    request.flush(chunk_len="500")
    record = only()
    assert [call["name"] for call in record["tool_calls"]] == ["scan"]
    assert (record["tool_calls"][0]["extreme_flags"], record["chunk_len"]) == ([], None)
    assert dropped()["unserialisable"] == before + 2


def test_a_request_can_be_an_async_block(audit, only):
    async def answer():
        async with audit() as request:
            assert current() is request
            request.flush(chunk_len=3)

    asyncio.run(answer())
    assert only()["chunk_len"] == 3


def test_a_request_is_one_line_with_every_field(audit, only):
    request = audit(
        question="삼성전자 수익성 분석해줘",
        stockCode_hint="005930",
        provider="oauth-codex",
        model="gpt-5-codex",
        session_id="session-1",
    )
    request.observe_tool_call(
        "analysis",
        {"years": [2024, 2025], "axis": "수익성"},
        ok=True,
        duration_ms=1823,
        result_size_bytes=4012,
        overrides_used=["wacc"],
        extreme_flags=["wacc>0.25"],
    )
    request.observe_tool_call("show", {}, error="KeyError: 'bs'")
    request.observe_override("analysis", ["wacc"], trigger="detectExtremeFlags:wacc>0.25", succeeded=True)
    request.observe_violation("no source")
    request.set_category_hash("FIN-profitability-KR-tech")
    request.flush(chunk_len=1823, error="late", rounds=2, skill_used="profit")
    record = only()
    assert record.pop("request_id").startswith("req-")
    assert record.pop("duration_total_ms") >= 0
    assert record == {
        "schema_version": 2,
        "ts": "2026-04-25T09:30:00.000000+00:00",
        "question": "삼성전자 수익성 분석해줘",
        "question_hash": "sha256:ae89748d2c4839b8",
        "category_hash": "FIN-profitability-KR-tech",
        "stockCode_hint": "005930",
        "provider": "oauth-codex",
        "model": "gpt-5-codex",
        "tool_calls": [
            {
                "name": "analysis",
                "args": {"axis": "수익성", "years": [2024, 2025]},
                "args_hash": "493f552ef2be6efc",
                "ok": True,
                "error": None,
                "duration_ms": 1823,
                "result_size_bytes": 4012,
                "overrides_used": ["wacc"],
                "extreme_flags": ["wacc>0.25"],
            },
            {
                "name": "show",
                "args": {},
                "args_hash": "44136fa355b3678a",
                "ok": False,
                "error": "KeyError: 'bs'",
                "duration_ms": None,
                "result_size_bytes": None,
                "overrides_used": None,
                "extreme_flags": [],
            },
        ],
        "tool_sequence_hash": "seq:e7285e7f08691bca",
        "override_calls": [
            {
                "tool": "analysis",
                "override_keys": ["wacc"],
                "trigger": "detectExtremeFlags:wacc>0.25",
                "succeeded": True,
            }
        ],
        "rounds": 2,
        "chunk_len": 1823,
        "error": "late",
        "violation": "no source",
        "skill_used": "profit",
        "judgment": {"verdict": None, "judged_at": None, "judged_by": None, "pr_url": None},
        "session_hash": "session:84097828fc31a8c8",
    }
    assert dropped() == {}


def test_a_request_without_anything_is_a_record_too(audit, only):
    audit().flush()
    record = only()
    assert (record["question"], record["tool_calls"], record["chunk_len"]) == ("", [], None)
    assert record["tool_sequence_hash"] == "seq:e3b0c44298fc1c14"
    assert record["category_hash"] == "UNSPECIFIED"
    assert "session_hash" not in record


def test_the_session_id_is_stored_only_as_a_hash(audit, tmp_path):
    audit(session_id=SECRET).flush()
    (day,) = (tmp_path / "audit" / "ai-ask").iterdir()
    assert SECRET.encode() not in day.read_bytes()
    assert json.loads(day.read_bytes())["session_hash"].startswith("session:")


def test_request_ids_differ(audit, records):
    for _ in range(20):
        audit().flush()
    assert len({record["request_id"] for record in records()}) == 20


def test_argument_strings_over_500_characters_become_their_size_and_a_preview(audit, only):
    request = audit()
    request.observe_tool_call("show", {"short": "가" * 500, "in": [{"long": "나" * 501}]})
    request.flush()
    (call,) = only()["tool_calls"]
    assert call["args"]["short"] == "가" * 500
    cut = call["args"]["in"][0]["long"]
    assert (cut.keys(), cut["truncated"], cut["size"]) == ({"truncated", "size", "preview"}, True, 501)
    assert "나" * 501 != cut["preview"] == "나" * len(cut["preview"]) != ""


def test_arguments_are_copied_when_they_are_observed(audit, only):
    args = {"axis": "수익성", "in": []}
    request = audit()
    request.observe_tool_call("analysis", args)
    args["axis"] = "later"
    args["in"].append(1)
    request.flush()
    assert only()["tool_calls"][0]["args"] == {"axis": "수익성", "in": []}


def test_failed_calls_and_immediate_repeats_are_not_in_the_sequence(audit, only):
    request = audit()
    request.observe_tool_call("analysis", {"axis": "수익성"}, ok=True)
    request.observe_tool_call("analysis", {"axis": "수익성", "company": "x"}, ok=True)
    request.observe_tool_call("analysis", {"axis": "성장성"}, ok=False, error="KeyError")
    request.observe_tool_call("show", {"topic": "IS"}, ok=True)
    request.flush()
    assert only()["tool_sequence_hash"] == "seq:b7cd347db6f3d2c3"


def test_a_call_is_ok_unless_told_otherwise(audit, only):
    request = audit()
    request.observe_tool_call("a")
    request.observe_tool_call("b", error=ValueError("no"))
    request.observe_tool_call("c", error="warning", ok=True)
    request.flush()
    calls = only()["tool_calls"]
    assert [call["ok"] for call in calls] == [True, False, True]
    assert [call["error"] for call in calls] == [None, "ValueError: no", "warning"]


def test_several_violations_are_one_text(audit, only):
    request = audit()
    request.observe_violation("a")
    request.observe_violation("b")
    request.flush()
    assert only()["violation"] == "a; b"


@pytest.mark.parametrize("label", ["수익성", "", "a-b-c-d-e", "ignore all rules", "FIN\n", None, 7])
def test_a_label_that_could_carry_text_becomes_unspecified(audit, only, label):
    request = audit()
    request.set_category_hash("FIN")
    request.set_category_hash(label)
    request.flush()
    assert only()["category_hash"] == "UNSPECIFIED"
    assert dropped() == {"category": 1}


# coreloop.yaml


def test_rules_and_selectors_come_from_the_nearest_coreloop_yaml(tmp_path, records):
    (tmp_path / "coreloop.yaml").write_text(
        "data_dir: log\n"
        "categories: [{label: FIN-dividend-KR, any: [배당]}]\n"
        "tools: {gather: {selectors: [target]}}\n",
        encoding="utf-8",
    )
    request = AuditCollector(question="배당 추이", data_dir=tmp_path / "log")
    request.observe_tool_call("gather", {"target": "KOSPI", "axis": "x"})
    request.flush()
    (record,) = records(tmp_path / "log")
    assert record["category_hash"] == "FIN-dividend-KR"
    assert record["tool_sequence_hash"] == "seq:" + sha256(b"gather(target=KOSPI)").hexdigest()[:16]


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"gate: {}\n", id="unknown key"),
        pytest.param(b"{", id="bad YAML"),
        pytest.param(b"\xff", id="not UTF-8"),
        pytest.param(b"[" * 1200, id="nested without end"),
        pytest.param(b"- 1\n", id="list"),
    ],
)
def test_a_broken_coreloop_yaml_costs_only_the_settings(tmp_path, records, broken):
    (tmp_path / "coreloop.yaml").write_bytes(broken)
    request = AuditCollector(question="배당", data_dir=tmp_path / "data")
    request.flush()
    (record,) = records(tmp_path / "data")
    assert record["category_hash"] == "UNSPECIFIED"
    assert dropped() == {"settings": 1}


FIRST_REQUEST = """
import sys
import coreloop
import coreloop.observe

if sys.argv[2] == "warm":
    coreloop.warm_up(sys.argv[1])
before = set(sys.modules)
coreloop.AuditCollector("q", data_dir=sys.argv[1]).flush()
print(len({name for name in set(sys.modules) - before if name.partition(".")[0] in {"yaml", "coreloop"}}))
assert not coreloop.dropped()
"""


@pytest.mark.parametrize(("start", "imports_nothing"), [("warm", True), ("cold", False)])
def test_after_a_warm_up_the_first_request_imports_nothing(tmp_path, start, imports_nothing):
    (tmp_path / "coreloop.yaml").write_text("categories: [{label: A, any: [a]}]\n")
    script = [sys.executable, "-c", FIRST_REQUEST, str(tmp_path / "data"), start]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert (int(done.stdout) == 0) is imports_nothing


def test_a_warm_up_never_raises_and_writes_nothing(tmp_path, monkeypatch):
    (tmp_path / "coreloop.yaml").write_text("gate: {}\n")
    collector.warm_up(tmp_path / "data")
    collector.warm_up("\0")
    assert dropped()["settings"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["coreloop.yaml"]
    monkeypatch.setenv("CORELOOP_AUDIT_DISABLE", "1")
    before = dropped()
    collector.warm_up(tmp_path / "other")
    assert dropped() == before


def test_a_deployed_server_may_lack_the_sources(tmp_path, records):
    (tmp_path / "coreloop.yaml").write_text("tools: {a: {target: 'gone.py::a', selectors: [x]}}\n")
    request = AuditCollector(data_dir=tmp_path / "data")
    request.observe_tool_call("a", {"x": 1})
    request.flush()
    assert records(tmp_path / "data")[0]["tool_sequence_hash"] == (
        "seq:" + sha256(b"a(x=1)").hexdigest()[:16]
    )
    assert dropped() == {}


WHERE = """
import os
from coreloop.observe import AuditCollector, dropped
AuditCollector(question="x").flush()
print(dropped())
"""


def run(script, *arguments, **environ):
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, **environ},
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("yaml", "environ", "folder"),
    [
        pytest.param(None, {}, "data", id="default"),
        pytest.param("data_dir: log\n", {}, "log", id="file"),
        pytest.param(None, {"CORELOOP_DATA_DIR": "env"}, "env", id="variable"),
        pytest.param("data_dir: log\n", {"CORELOOP_DATA_DIR": "env"}, "env", id="variable over file"),
        pytest.param(None, {"CORELOOP_DATA_DIR": ""}, "data", id="empty variable"),
    ],
)
def test_records_lie_in_the_data_dir_of_the_working_directory(
    tmp_path, records, monkeypatch, yaml, environ, folder
):
    if yaml:
        (tmp_path / "coreloop.yaml").write_text(yaml)
    monkeypatch.chdir(tmp_path)
    assert run(WHERE, **environ) == ["{}"]
    assert len(records(tmp_path / folder)) == 1


# the day and the file


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        (datetime(2026, 4, 25, 23, 59, 59, 999_999, tzinfo=UTC), "2026-04-25"),
        (datetime(2026, 4, 26, 0, 0, 0, 0, tzinfo=UTC), "2026-04-26"),
        (datetime(2028, 2, 29, 12, 0, 0, 7, tzinfo=UTC), "2028-02-29"),
    ],
)
def test_the_file_is_that_of_the_utc_day_of_the_requests_end(tmp_path, monkeypatch, moment, day):
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    now = [ns(datetime(2026, 4, 25, 23, 0, tzinfo=UTC))]
    request = AuditCollector(data_dir=tmp_path, clock_ns=lambda: now[0])
    request.observe_tool_call("a")
    now[0] = ns(moment)
    request.flush()
    monkeypatch.undo()
    time.tzset()
    (file,) = (tmp_path / "audit" / "ai-ask").iterdir()
    assert file.name == f"{day}.jsonl"
    ts = json.loads(file.read_bytes())["ts"]
    assert ts == moment.isoformat(timespec="microseconds")
    assert ts.startswith(day)


def test_a_clock_that_goes_backwards_finds_its_days(tmp_path):
    for hour in ("26T00:00:01", "25T23:59:59", "26T00:00:01", "25T23:59:58"):
        moment = datetime.fromisoformat(f"2026-04-{hour}+00:00")
        AuditCollector(hour, data_dir=tmp_path, clock_ns=lambda moment=moment: ns(moment)).flush()
    for day in ("25", "26"):
        lines = (tmp_path / f"audit/ai-ask/2026-04-{day}.jsonl").read_bytes().splitlines()
        assert len(lines) == 2
        assert all(json.loads(line)["ts"].startswith(f"2026-04-{day}T") for line in lines)


def test_only_the_owner_may_read(audit, tmp_path):
    before = os.umask(0)
    try:
        audit().flush()
    finally:
        os.umask(before)
    folder = tmp_path / "audit" / "ai-ask"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


def test_a_folder_that_a_clone_brought_is_closed_to_others(audit, tmp_path):
    folder = tmp_path / "audit" / "ai-ask"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    audit().flush()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not dropped()


@pytest.mark.parametrize("name", ["DARTLAB_AUDIT_DISABLE", "CORELOOP_AUDIT_DISABLE"])
@pytest.mark.parametrize("value", ["1", "true", "TRUE", "Yes", " on "])
def test_it_can_be_turned_off(tmp_path, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with AuditCollector(question="x", data_dir=tmp_path / "data") as request:
        request.observe_tool_call("a")
        request.observe_override("a", ["b"])
        request.observe_violation("c")
        request.set_category_hash("수익성")
        request.flush()
        request.flush()
    assert not (tmp_path / "data").exists()
    assert dropped() == {}


@pytest.mark.parametrize("name", ["DARTLAB_AUDIT_DISABLE", "CORELOOP_AUDIT_DISABLE"])
@pytest.mark.parametrize("value", ["0", "false", "no", "off", ""])
def test_zero_leaves_it_on(audit, only, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    audit().flush()
    assert only()


# the context


def test_leaving_the_block_flushes(audit, only):
    with audit(question="x") as request:
        request.observe_tool_call("a")
    assert only()["error"] is None
    assert dropped() == {}


def test_a_flush_in_the_block_is_the_only_one(audit, only):
    with audit() as request:
        request.flush(chunk_len=7)
    assert only()["chunk_len"] == 7
    assert dropped() == {}


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, asyncio.CancelledError, SystemExit])
def test_an_exception_becomes_the_error_and_goes_on(audit, only, kind):
    raised = kind("no such company")
    with pytest.raises(kind) as caught, audit():
        raise raised
    assert caught.value is raised
    assert only()["error"] == f"{kind.__name__}: no such company"


def test_code_deep_below_finds_the_innermost_request(audit, records):
    with audit(question="outer") as outer:
        assert current() is outer
        with audit(question="inner") as inner:
            assert current() is inner
            current().observe_tool_call("a")
        assert current() is outer
    assert current() is not outer
    assert [(record["question"], len(record["tool_calls"])) for record in records()] == [
        ("inner", 1),
        ("outer", 0),
    ]


def test_entering_a_request_again_changes_nothing(audit, only):
    with audit("안쪽") as outer:
        with current() as inner:
            assert inner is outer
        assert current() is outer
        outer.observe_tool_call("after")
        with pytest.raises(ZeroDivisionError), outer:
            raise ZeroDivisionError
        outer.flush(chunk_len=9)
    assert [one["name"] for one in only()["tool_calls"]] == ["after"]
    assert (only()["chunk_len"], only()["error"], dropped()) == (9, None, {})
    assert current() is not outer


def test_a_thread_that_enters_its_parents_request_does_not_end_it(audit, only):
    def work(request):
        with request:
            current().observe_tool_call("work")

    with audit("q") as request:
        thread = threading.Thread(target=work, args=(request,))
        thread.start()
        thread.join()
        assert current() is request
        request.observe_tool_call("after")
    assert [one["name"] for one in only()["tool_calls"]] == ["work", "after"]


def test_requests_may_be_left_in_any_order(audit, records):
    first, second = audit("1"), audit("2")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert current() is second
    second.__exit__(None, None, None)
    assert [one["question"] for one in records()] == ["1", "2"]
    assert not dropped()


def test_no_block_writes_to_the_collector_that_is_off():
    off = current()
    before = {name: getattr(off, name) for name in off.__slots__ if hasattr(off, name)}
    with current() as outer, current() as inner:
        assert outer is inner is off
    assert {name: getattr(off, name) for name in off.__slots__ if hasattr(off, name)} == before
    assert "_entered" not in before


def test_outside_of_a_request_nothing_is_recorded():
    nobody = current()
    nobody.observe_tool_call("a")
    nobody.set_category_hash("!")
    with nobody as entered:
        entered.observe_violation("b")
    nobody.flush()
    assert dropped() == {}


def test_each_thread_has_its_own_request(audit, records):
    both = threading.Barrier(2, timeout=30)
    seen = {}

    def serve(name):
        with audit(question=name) as request:
            both.wait()
            current().observe_tool_call(name)
            both.wait()
            seen[name] = current() is request

    threads = [threading.Thread(target=serve, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"a": True, "b": True}
    assert {record["question"]: [call["name"] for call in record["tool_calls"]] for record in records()} == {
        "a": ["a"],
        "b": ["b"],
    }


def test_a_bare_thread_is_in_no_request_and_a_copied_context_is(audit, only):
    def call(name):
        current().observe_tool_call(name)

    with audit():
        for target in (
            functools.partial(call, "bare"),
            functools.partial(contextvars.copy_context().run, call, "copied"),
        ):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    assert [one["name"] for one in only()["tool_calls"]] == ["copied"]
    assert dropped() == {"outside_request": 1}


def test_each_task_has_its_own_request(audit, records):
    @observed_tool
    async def tool(who, everyone):
        await everyone.wait()
        return who

    async def serve(who, everyone):
        with audit(question=who) as request:
            assert await tool(who, everyone) == who
            await asyncio.to_thread(current().observe_tool_call, "in a thread")
            await everyone.wait()
            assert current() is request

    async def main():
        everyone = asyncio.Barrier(5)
        await asyncio.gather(*(serve(f"q{number}", everyone) for number in range(5)))

    asyncio.run(main())
    assert len(records()) == 5
    for record in records():
        first, second = record["tool_calls"]
        assert first["args"]["who"] == record["question"]
        assert second["name"] == "in a thread"


def test_threads_of_one_request_may_share_its_collector(audit, records):
    def work(request, together, number):
        together.wait()
        for call in range(5):
            request.observe_tool_call(f"t{number}", {"axis": call})

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            request, together = audit(), threading.Barrier(4, timeout=30)
            threads = [threading.Thread(target=work, args=(request, together, number)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            request.flush()
    finally:
        sys.setswitchinterval(before)
    assert dropped() == {}
    for record in records():
        steps = [step(call["name"], call["args"]) for call in record["tool_calls"]]
        assert len(set(steps)) == len(steps) == 20
        assert record["tool_sequence_hash"] == "seq:" + sha256(">".join(steps).encode()).hexdigest()[:16]


# observed tools


def test_an_observed_tool_behaves_as_before_and_is_recorded(audit, only):
    @observed_tool
    def show(topic, /, company="삼성", *rest, limit=3, **more):
        """Show a topic."""
        return f"{topic}가{company}{rest}{limit}{more}"

    assert show.__name__ == "show"
    assert show.__doc__ == "Show a topic."
    with audit():
        assert show("IS", "LG", 1, limit=5, axis="x") == "IS가LG(1,)5{'axis': 'x'}"
    (call,) = only()["tool_calls"]
    assert (call["name"], call["ok"], call["error"]) == ("show", True, None)
    assert call["args"] == {"topic": "IS", "company": "LG", "limit": 5, "axis": "x"}
    assert call["duration_ms"] >= 0
    assert call["result_size_bytes"] == len("IS가LG(1,)5{'axis': 'x'}".encode())


def test_an_observed_coroutine_is_timed_until_it_ends(audit, only):
    @observed_tool(name="fin.show")
    async def show(topic):
        ended = asyncio.get_running_loop().time() + 0.02
        while asyncio.get_running_loop().time() < ended:
            await asyncio.sleep(0)
        return topic

    async def main():
        with audit():
            assert await show("IS") == "IS"

    asyncio.run(main())
    (call,) = only()["tool_calls"]
    assert (call["name"], call["args"]) == ("fin.show", {"topic": "IS"})
    assert call["duration_ms"] >= 20


def test_an_observed_generator_is_recorded_when_its_iteration_ends(audit, only):
    @observed_tool
    def tool(axis):
        got = yield axis
        yield got
        return "done"

    assert inspect.isgeneratorfunction(tool)
    with audit() as request:
        iteration = tool("배당")
        assert next(iteration) == "배당"
        assert not request._pending[0]["tool_calls"]
        assert iteration.send("sent") == "sent"
        with pytest.raises(StopIteration, match="done"):
            next(iteration)
    (call,) = only()["tool_calls"]
    assert (call["name"], call["args"], call["ok"]) == ("tool", {"axis": "배당"}, True)


def test_a_generator_that_raises_or_is_given_up(audit, only):
    @observed_tool
    def tool(fails):
        try:
            yield 1
        except KeyError:
            yield 2
        if fails:
            raise ValueError("no")

    with audit():
        with pytest.raises(ValueError, match="no"):
            list(tool(True))
        given_up = tool(True)
        next(given_up)
        given_up.close()
        thrown = tool(False)
        next(thrown)
        assert thrown.throw(KeyError()) == 2
        assert list(thrown) == []
        tool(True)  # nobody iterates: nothing ran
    calls = only()["tool_calls"]
    assert [(one["ok"], one["error"]) for one in calls] == [
        (False, "ValueError: no"),
        (True, None),
        (True, None),
    ]


def test_an_observed_async_generator_is_recorded_when_its_iteration_ends(audit, only):
    closed = []

    @observed_tool
    async def tool(fails):
        try:
            try:
                got = yield 1
                yield got
            except KeyError:
                yield 2
            await asyncio.to_thread(int)
            if fails:
                raise ValueError("no")
        finally:
            closed.append(fails)

    async def main():
        whole = tool(False)
        assert await whole.asend(None) == 1
        assert not current()._pending[0]["tool_calls"]
        assert await whole.asend("sent") == "sent"
        assert [one async for one in whole] == []
        with pytest.raises(ValueError, match="no"):
            [one async for one in tool(True)]
        given_up = tool(True)
        await anext(given_up)
        await given_up.aclose()
        thrown = tool(False)
        await anext(thrown)
        assert await thrown.athrow(KeyError()) == 2
        assert [one async for one in thrown] == []

    assert inspect.isasyncgenfunction(tool)
    with audit():
        asyncio.run(main())
    calls = only()["tool_calls"]
    assert [one["ok"] for one in calls] == [True, False, True, True]
    assert closed == [False, True, True, False]
    assert calls[1]["error"] == "ValueError: no"
    assert not dropped()


def test_an_observed_exception_is_recorded_and_goes_on(audit, only):
    raised = KeyError("bs")

    @observed_tool
    def fails():
        raise raised

    @observed_tool
    async def fails_later():
        await asyncio.sleep(0)
        raise raised

    with audit():
        for call in (fails, lambda: asyncio.run(fails_later())):
            with pytest.raises(KeyError) as caught:
                call()
            assert caught.value is raised
    calls = only()["tool_calls"]
    assert [(call["name"], call["ok"], call["error"]) for call in calls] == [
        ("fails", False, "KeyError: 'bs'"),
        ("fails_later", False, "KeyError: 'bs'"),
    ]


def test_a_wrong_call_fails_as_it_would_have(audit, only):
    @observed_tool
    def show(topic):
        return topic

    with audit(), pytest.raises(TypeError, match="topic"):
        show()
    assert only()["tool_calls"][0]["ok"] is False


def test_methods_are_recorded_without_self_and_cls(audit, only):
    class Box:
        @observed_tool
        def show(self, topic):
            return topic

        @classmethod
        @observed_tool
        def make(cls, axis):
            return axis

        @staticmethod
        @observed_tool
        def plain(x):
            return x

    with audit():
        Box().show("IS")
        Box.make("수익성")
        Box.plain(1)
    assert [call["args"] for call in only()["tool_calls"]] == [{"topic": "IS"}, {"axis": "수익성"}, {"x": 1}]


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param(functools.partial(round, ndigits=1), id="partial"),
        pytest.param(min, id="builtin without a signature"),
        pytest.param(type("Callable", (), {"__call__": lambda self, x, y=0: x})(), id="object"),
    ],
)
def test_anything_that_can_be_called_can_be_observed(audit, only, tool):
    observed = observed_tool(tool)
    with audit():
        assert observed(1, 2) == tool(1, 2) if tool is min else observed(1) == tool(1)
    assert only()["tool_calls"][0]["ok"]


def test_outside_of_a_request_a_tool_is_only_itself():
    assert observed_tool(str.upper)("bs") == "BS"
    assert dropped() == {}


# it never raises


def test_calls_after_the_end_are_counted(audit, only):
    request = audit()
    request.flush(chunk_len=1)
    request.flush(chunk_len=2)
    request.observe_tool_call("a")
    request.observe_override("a", ["b"])
    request.observe_violation("c")
    request.set_category_hash("FIN")
    assert only()["chunk_len"] == 1
    assert only()["tool_calls"] == []
    assert dropped() == {"after_flush": 5}


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"x": Mute()}, id="value"),
        pytest.param({Mute(): 1}, id="key"),
        pytest.param({"x": {Mute()}}, id="in a set"),
        pytest.param({"x": [{Mute(): Mute()}]}, id="nested"),
        pytest.param(Mute(), id="no mapping"),
        pytest.param(MappingProxyType({"x": Mute()}), id="another mapping"),
        pytest.param({"x": BrokenMapping(a=1)}, id="broken mapping"),
        pytest.param(MappingProxyType(BrokenMapping(a=1)), id="wrapped broken mapping"),
        pytest.param({"x": 2**70}, id="huge integer"),
        pytest.param({"x": "\ud800"}, id="lone surrogate"),
        pytest.param({"x": object(), "axis": "수익성"}, id="object"),
        pytest.param([1, 2], id="list"),
        pytest.param("text", id="text"),
    ],
)
def test_a_call_with_any_arguments_is_recorded(audit, only, args):
    request = audit()
    request.observe_tool_call("a", args, ok=True)
    request.observe_tool_call("b", ok=True)
    request.flush()
    calls = only()["tool_calls"]
    assert [call["name"] for call in calls] == ["a", "b"]
    assert isinstance(calls[0]["args"], dict)
    assert SECRET not in json.dumps(calls, ensure_ascii=False)
    assert dropped().keys() <= {"unserialisable"}


def test_what_has_no_json_form_is_counted_once_a_call(audit, only):
    request = audit()
    request.observe_tool_call("a", {"x": object(), "y": object(), "axis": "수익성"})
    request.flush()
    assert only()["tool_calls"][0]["args"] == {"x": "<object>", "y": "<object>", "axis": "수익성"}
    assert dropped() == {"unserialisable": 1}


def test_arguments_that_contain_themselves_are_recorded(audit, only):
    args = {"axis": "수익성"}
    args["self"] = args
    request = audit()
    request.observe_tool_call("analysis", args)
    request.flush()
    assert only()["tool_calls"][0]["args"]["axis"] == "수익성"
    assert only()["tool_sequence_hash"] == "seq:e7285e7f08691bca"


def test_an_error_of_which_nothing_can_be_said_is_named(audit, only):
    request = audit()
    request.observe_tool_call("a", error=MuteError())
    request.observe_tool_call("b", error=Mute())
    with pytest.raises(MuteError), request:
        raise MuteError
    record = only()
    assert record["error"] == "MuteError"
    assert [call["ok"] for call in record["tool_calls"]] == [False, False]
    assert record["tool_calls"][0]["error"] == "MuteError"


def test_fields_of_any_type_are_recorded(audit, only):
    request = audit(question=Mute(), stockCode_hint=5930, provider=Mute(), model=b"x", session_id=Mute())
    request.observe_tool_call(
        Mute(),
        None,
        duration_ms="long",
        result_size_bytes=2**80,
        extreme_flags=None,
        overrides_used=[Mute(), 1],
    )
    request.observe_tool_call(
        7, duration_ms=float("nan"), result_size_bytes=float("inf"), extreme_flags="wacc"
    )
    request.observe_override(Mute(), [Mute()], trigger=Mute(), succeeded="yes")
    request.observe_violation(Mute())
    request.flush(chunk_len="many", error=Mute(), rounds=object(), skill_used=Mute())
    record = only()
    assert record["stockCode_hint"] == "5930"
    assert [call["name"] for call in record["tool_calls"]] == ["<Mute>", "7"]
    assert [call["duration_ms"] for call in record["tool_calls"]] == [None, None]
    assert [call["extreme_flags"] for call in record["tool_calls"]] == [[], ["wacc"]]
    assert record["override_calls"][0]["succeeded"] is True
    assert (record["chunk_len"], record["rounds"]) == (None, None)
    assert record["error"]
    assert record["violation"]


def test_a_broken_clock_is_counted(tmp_path):
    request = AuditCollector(data_dir=tmp_path, clock_ns=lambda: 10**30)
    request.flush()
    assert sum(dropped().values()) == 1


def test_a_file_where_the_folder_should_be_is_counted(tmp_path):
    (tmp_path / "data").write_bytes(b"")
    for _ in range(3):
        AuditCollector(data_dir=tmp_path / "data").flush()
    assert dropped() == {"write_ENOTDIR": 3}


def test_recording_goes_on_when_the_cause_is_gone(tmp_path, audit, only):
    (tmp_path / "audit").write_bytes(b"")
    audit(question="lost").flush()
    (tmp_path / "audit").unlink()
    audit(question="kept").flush()
    assert only()["question"] == "kept"
    assert sum(dropped().values()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
def test_a_full_disk_is_counted(tmp_path, audit):
    folder = tmp_path / "audit" / "ai-ask"
    folder.mkdir(parents=True)
    (folder / "2026-04-25.jsonl").symlink_to("/dev/full")
    with audit() as request:
        request.observe_tool_call("a")
    audit().flush()
    assert dropped() == {"write_ENOSPC": 2}


@pytest.mark.parametrize("data_dir", ["a\0b", b"\xff", 7, "x" * 5000, ""])
def test_a_folder_that_cannot_be_is_counted_or_served(tmp_path, monkeypatch, data_dir):
    monkeypatch.chdir(tmp_path)
    with AuditCollector(question="x", data_dir=data_dir) as request:
        request.observe_tool_call("a")
    written = list(tmp_path.rglob("*.jsonl"))
    assert len(written) + sum(dropped().values()) == 1


LIMITED = """
import json, resource, sys
from coreloop.observe import AuditCollector, dropped
now = lambda: 1777109400 * 10**9
def flush(question):
    with AuditCollector(question=question, data_dir=sys.argv[1], clock_ns=now) as audit:
        audit.observe_tool_call("analysis", {"axis": "x"})
flush("first")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
flush("torn")
flush("lost")
flush("lost")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
flush("after")
print(json.dumps(dropped()))
"""


def test_a_disk_that_fills_up_tears_one_record_and_no_other(tmp_path):
    pytest.importorskip("resource")
    (printed,) = run(LIMITED, tmp_path)
    assert json.loads(printed) == {"torn_write": 1, "write_EFBIG": 2}
    (day,) = (tmp_path / "audit" / "ai-ask").iterdir()
    first, torn, after = day.read_bytes().splitlines()
    assert [json.loads(line)["question"] for line in (first, after)] == ["first", "after"]
    with pytest.raises(json.JSONDecodeError):
        json.loads(torn)


GONE = """
import json, os, sys
from coreloop.observe import AuditCollector, current, dropped, observed_tool
os.chdir(sys.argv[1])
os.rmdir(sys.argv[1])
for data_dir in (None, "data", sys.argv[2]):
    with AuditCollector(question="x", data_dir=data_dir) as audit:
        observed_tool(str.upper)("x")
        audit.flush()
print(json.dumps(dropped()))
"""


def test_a_deleted_working_directory_is_counted(tmp_path, records):
    (tmp_path / "gone").mkdir()
    (printed,) = run(GONE, tmp_path / "gone", tmp_path / "data")
    assert json.loads(printed) == {"write_ENOENT": 2}
    assert len(records(tmp_path / "data")) == 1


# what was dropped


def test_each_reason_is_counted_and_logged_once_without_content(audit, tmp_path, caplog):
    caplog.set_level(logging.DEBUG, logger="coreloop")
    (tmp_path / "audit").write_bytes(b"")
    for _ in range(3):
        with audit(question=SECRET) as request:
            request.observe_tool_call("a", {"x": object(), "y": SECRET})
            request.observe_tool_call("a", error=MuteError(SECRET))
            request.set_category_hash(SECRET)
            request.flush(error=SECRET)
            request.observe_violation(SECRET)
    assert dropped() == {"unserialisable": 3, "category": 3, "write_ENOTDIR": 3, "after_flush": 3}
    assert len(caplog.messages) == 4
    assert all(sum(reason in message for message in caplog.messages) == 1 for reason in dropped())
    assert SECRET not in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    assert not any(record.exc_info for record in caplog.records)


def test_dropped_is_a_copy():
    dropped()["x"] = 1
    assert dropped() == {}


def test_a_broken_logger_disturbs_nobody(audit):
    def refuse(record):
        raise RuntimeError(SECRET)

    logger = logging.getLogger("coreloop")
    logger.addFilter(refuse)
    try:
        request = audit()
        request.set_category_hash("!")
        request.flush()
        request.flush()
    finally:
        logger.removeFilter(refuse)
    assert dropped() == {"category": 1, "after_flush": 1}


FORK = """
import os, signal, sys, threading
from coreloop.observe import AuditCollector, dropped, drops
AuditCollector(question="before", data_dir=sys.argv[1]).flush()
held, done = threading.Event(), threading.Event()
def hold():
    with drops.DROPPED._lock:  # as a thread does that is counting
        held.set()
        done.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if not child:
    signal.alarm(20)
    audit = AuditCollector(question="child", data_dir=sys.argv[1])
    audit.set_category_hash("!")
    audit.flush()
    os._exit(dropped() != {"category": 1})
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done.set()
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_counts_although_a_thread_of_the_parent_held_the_lock(tmp_path, records):
    assert run(FORK, tmp_path) == ["0"]
    assert [record["question"] for record in records()] == ["before", "child"]


# any request

TEXT = st.text(max_size=30) | st.text(max_size=5).map(lambda text: text * 300)
NUMBERS = st.integers() | st.integers(-(2**200), 2**200) | st.floats()
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT | st.binary(max_size=9) | st.dates() | st.datetimes()
ODD = st.sampled_from(
    [object(), Speechless(), date(2026, 4, 25), {1, "a"}, frozenset({Speechless()}), 1j, ...]
)
KEYS = TEXT | st.integers() | st.none() | st.booleans() | st.floats() | st.dates() | st.binary(max_size=3)
VALUES = st.recursive(
    SCALARS | ODD,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(st.integers() | st.text(max_size=3), max_size=4)
    ),
    max_leaves=10,
)
NAMES = st.sampled_from(["analysis", "show", "가나다", "a>b", ""])
CALLS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES, "args": st.dictionaries(KEYS, VALUES, max_size=5)},
        optional={
            "ok": st.booleans(),
            "error": TEXT | st.builds(ValueError, TEXT),
            "duration_ms": NUMBERS,
            "result_size_bytes": NUMBERS,
            "overrides_used": st.lists(TEXT, max_size=2),
            "extreme_flags": st.lists(TEXT, max_size=2),
            "axis": VALUES,
        },
    ),
    min_size=1,
    max_size=5,
)
OVERRIDES = st.lists(
    st.fixed_dictionaries(
        {
            "tool": TEXT,
            "keys": st.lists(TEXT, max_size=3),
            "trigger": st.none() | TEXT,
            "succeeded": st.booleans(),
        }
    ),
    max_size=9,
)


def cyclic(args):
    args["cycle"] = {"again": args}
    return args


@pytest.mark.slow
@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(
    question=TEXT,
    hint=st.none() | TEXT,
    calls=CALLS,
    times=st.integers(1, 40),
    overrides=OVERRIDES,
    violations=st.lists(TEXT, max_size=3),
    error=st.none() | TEXT,
    with_cycle=st.booleans(),
)
def test_any_request_is_one_valid_line(
    tmp_path_factory, question, hint, calls, times, overrides, violations, error, with_cycle
):
    data_dir = tmp_path_factory.mktemp("any")
    request = AuditCollector(
        question,
        stockCode_hint=hint,
        provider=hint,
        model=hint,
        data_dir=data_dir,
        clock_ns=lambda: ns(MOMENT),
    )
    for call in calls:
        if "axis" in call:
            call["args"]["axis"] = call.pop("axis")
        if with_cycle:
            cyclic(call["args"])
    observed = calls * times
    for call in observed:
        request.observe_tool_call(**call)
    for one in overrides:
        request.observe_override(**one)
    for one in violations:
        request.observe_violation(one)
    request.flush(error=error)

    (day,) = (data_dir / "audit" / "ai-ask").iterdir()
    line = day.read_bytes()
    assert len(line) <= 4096
    assert line.endswith(b"\n")
    assert len(line.splitlines()) == 1
    record = json.loads(line, parse_constant=pytest.fail)
    assert dropped().keys() <= {"unserialisable"}

    kept, omitted = record["tool_calls"], record.get("tool_calls_omitted", 0)
    assert len(kept) + omitted == len(observed)
    ok = [call.get("ok", not call.get("error")) for call in observed]
    assert [call["name"] for call in kept] == [call["name"] for call in observed[: len(kept)]]
    assert [call["ok"] for call in kept] == ok[: len(kept)]
    steps = [step(call["name"], call["args"]) for call in kept if call["ok"]]
    if not omitted:
        sequence = ">".join(one for one, _ in groupby(steps))
        assert record["tool_sequence_hash"] == "seq:" + sha256(sequence.encode()).hexdigest()[:16]
    assert (record["error"] is None) == (not error)
    assert (record["violation"] is None) == (not violations)
    lost_override = not all(one["succeeded"] for one in overrides[len(record["override_calls"]) :])
    cleared = {one["tool"] for one in overrides if one["succeeded"]}
    flagged = set()
    for call, succeeded in zip(observed, ok, strict=True):
        if call.get("extreme_flags"):
            flagged.add(call["name"])
        elif call.get("overrides_used") and succeeded:
            flagged.discard(call["name"])
    lost_end = omitted > 0 and not ok[-1]
    if "omitted_failure" in record:
        assert record["omitted_failure"] == (lost_override or bool(flagged - cleared))
    assert ("omitted_error" in record) == lost_end


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd가"), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["a", "b", "한"]), JSON), st.integers(0, 2000), st.integers(1, 200))
def test_hashes_are_those_of_the_whole(tmp_path_factory, args, length, times):
    data_dir = tmp_path_factory.mktemp("whole")
    question = "수익성 " * (length // 4)
    whole = {**args, "text": "가" * length}
    request = AuditCollector(question, data_dir=data_dir)
    for number in range(times):
        request.observe_tool_call("analysis", {**whole, "axis": str(number)})
    request.flush()
    (day,) = (data_dir / "audit" / "ai-ask").iterdir()
    record = json.loads(day.read_bytes())
    assert record["question_hash"] == "sha256:" + sha256(" ".join(question.split()).encode()).hexdigest()[:16]
    sequence = ">".join(f"analysis(axis={number})" for number in range(times))
    assert record["tool_sequence_hash"] == "seq:" + sha256(sequence.encode()).hexdigest()[:16]
    for number, call in enumerate(record["tool_calls"]):
        canonical = json.dumps(
            {**whole, "axis": str(number)}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        assert call["args_hash"] == sha256(canonical.encode()).hexdigest()[:16]


# few stack frames left, and signals

DEEP = """
import asyncio, json, sys
from coreloop.observe import AuditCollector, current, dropped, observed_tool

DATA_DIR, ACTION = sys.argv[1:]

class Empty:
    def __init__(self, question="", *, data_dir=None): pass
    def __enter__(self): return self
    def __exit__(self, *error): pass
    def observe_tool_call(self, name, args=None, *, ok=None): pass
    def flush(self, chunk_len=0): pass

def tool(x): return x
observed = observed_tool(tool)

def act(audit, own):
    if ACTION == "flush":
        audit.flush(chunk_len=1)
    elif ACTION == "observe":
        audit.observe_tool_call("a", {"axis": 1}, ok=True)
    elif ACTION == "leave":
        audit.__exit__(None, None, None)
    elif ACTION == "open":
        own("q", data_dir=DATA_DIR)
    elif ACTION == "block":
        with own("q", data_dir=DATA_DIR):
            pass

def reach(left, audit, own):
    # whether the action came back; with the same frames left, one that does nothing would have
    if left:
        return reach(left - 1, audit, own)
    try:
        act(audit, own)
    except RecursionError:
        return False
    return True

def depth():
    frame, n = sys._getframe(), 0
    while frame:
        frame, n = frame.f_back, n + 1
    return n

AuditCollector("warm", data_dir=DATA_DIR).flush()
sys.setrecursionlimit(400)
lost = tried = 0
for left in range(400 - depth() - 60, 400 - depth()):
    audit = AuditCollector("q", data_dir=DATA_DIR)
    if ACTION == "leave":
        audit.__enter__()
    try:
        empty = reach(left, Empty(), Empty)
    except RecursionError:
        break
    before = sum(dropped().values())
    assert reach(left, audit, AuditCollector) or not empty, (left, "raised")
    tried += empty
    lost += sum(dropped().values()) - before
print(json.dumps([tried, lost, dropped()]))
"""


def lines_in(tmp_path):
    return [
        line for day in (tmp_path / "audit" / "ai-ask").iterdir() for line in day.read_bytes().splitlines()
    ]


@pytest.mark.parametrize("action", ["flush", "leave", "block"])
def test_a_record_that_finds_no_stack_is_written_or_counted(tmp_path, action):
    (printed,) = run(DEEP, tmp_path, action)
    tried, lost, reasons = json.loads(printed)
    assert tried > 40
    assert lost > 0
    assert reasons.keys() == {"bug_RecursionError"}
    for line in lines_in(tmp_path):
        json.loads(line)
    assert len(lines_in(tmp_path)) - 1 + lost >= tried


@pytest.mark.parametrize("action", ["observe", "open"])
def test_what_finds_no_stack_is_counted_and_raises_nothing(tmp_path, action):
    (printed,) = run(DEEP, tmp_path, action)
    _, lost, reasons = json.loads(printed)
    assert lost > 0
    assert reasons.keys() == {"bug_RecursionError"}


DEEP_TOOL = """
import json, sys
from coreloop.observe import AuditCollector, dropped, observed_tool

def tool(x):
    global entered
    entered += 1
    return x
observed = observed_tool(tool)

def reach(left):
    return reach(left - 1) if left else observed(1)

entered = returned = recorded = 0
with AuditCollector("q", data_dir=sys.argv[1]) as audit:
    sys.setrecursionlimit(400)
    for left in range(300, 400):
        try:
            returned += reach(left)
        except RecursionError:
            pass
    recorded = len(audit._pending[0]["tool_calls"])
    sys.setrecursionlimit(1000)
print(json.dumps([entered, returned, recorded, sum(dropped().values())]))
"""


def test_a_tool_that_was_reached_returns_although_no_stack_is_left_to_record_it(tmp_path):
    (printed,) = run(DEEP_TOOL, tmp_path)
    entered, returned, recorded, lost = json.loads(printed)
    assert entered == returned > 0
    assert recorded + lost >= entered
    assert lost > 0


def test_what_was_counted_without_stack_is_said_with_the_next_request(audit, caplog):
    drops.DROPPED.no_stack += 1
    audit()
    assert caplog.messages == [
        "audit: bug_RecursionError; the request continues, and further cases are only counted"
    ]


SIGNALLED = """
import json, signal, sys, threading, time
from coreloop.observe import AuditCollector, current, dropped, observed_tool

signals = 0
def handler(number, frame):
    global signals
    signals += 1
    with AuditCollector("handler", data_dir=sys.argv[1]) as audit:
        audit.observe_tool_call("a", {"axis": signals})
        audit.set_category_hash("!")
    current().observe_tool_call("signal", {"axis": signals})
    if armed:
        signal.setitimer(signal.ITIMER_REAL, 3e-4)

armed = True
signal.signal(signal.SIGALRM, handler)
with AuditCollector("outer", data_dir=sys.argv[1]) as outer:
    signal.setitimer(signal.ITIMER_REAL, 3e-4)
    end = time.monotonic() + 1.5
    n = 0
    while time.monotonic() < end:
        n += 1
        outer.observe_tool_call("main", {"axis": n})
        outer.set_category_hash("!")
        AuditCollector("main", data_dir=sys.argv[1]).flush()
    armed = False
    time.sleep(0.01)
    calls = outer._pending[0]["tool_calls"]
    sequence = outer._sequence
from coreloop.records import join_steps, step
steps = [step(call["name"], json.loads(__import__("orjson").dumps(call["args"]))) for call in calls]
print(json.dumps([n, signals, len(calls), sequence == ">".join(steps), dropped()]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no SIGALRM")
def test_a_signal_handler_that_records_hangs_nothing_and_loses_nothing(tmp_path, records):
    (printed,) = run(SIGNALLED, tmp_path)
    main, signals, calls, in_order, reasons = json.loads(printed)
    assert signals > 100
    assert (calls, in_order) == (main + signals, True)
    assert reasons == {"category": main + signals}
    questions = Counter(record["question"] for record in records())
    assert questions == {"main": main, "handler": signals, "outer": 1}
