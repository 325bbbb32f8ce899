"""Which request a call belongs to: blocks, threads and tasks."""

import asyncio
import contextvars
import functools
import sys
import threading
from hashlib import sha256

import pytest

from coreloop.base.records import step
from coreloop.observe import current, dropped, observed_tool


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, asyncio.CancelledError, SystemExit])
def test_an_exception_is_recorded_and_raised_again(audit, only_record, kind):
    raised = kind("no such company")
    with pytest.raises(kind) as caught, audit():
        raise raised
    assert caught.value is raised
    assert only_record()["error"] == f"{kind.__name__}: no such company"


def test_nested_code_finds_the_innermost_request(audit, records):
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


def test_a_bare_thread_is_in_no_request_and_a_copied_context_is(audit, only_record):
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
    assert [call["name"] for call in only_record()["tool_calls"]] == ["copied"]
    assert dropped() == {"outside_request": 1}


def test_each_task_has_its_own_request(audit, records):
    @observed_tool
    async def tool(question, barrier):
        await barrier.wait()
        return question

    async def serve(question, barrier):
        with audit(question=question) as request:
            assert await tool(question, barrier) == question
            await asyncio.to_thread(current().observe_tool_call, "in a thread")
            await barrier.wait()
            assert current() is request

    async def main():
        barrier = asyncio.Barrier(5)
        await asyncio.gather(*(serve(f"q{number}", barrier) for number in range(5)))

    asyncio.run(main())
    assert len(records()) == 5
    for record in records():
        first, second = record["tool_calls"]
        assert first["args"]["question"] == record["question"]
        assert second["name"] == "in a thread"


def test_threads_of_one_request_may_share_its_collector(audit, records):
    def work(request, barrier, number):
        barrier.wait()
        for call in range(5):
            request.observe_tool_call(f"t{number}", {"axis": call})

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            request, barrier = audit(), threading.Barrier(4, timeout=30)
            threads = [threading.Thread(target=work, args=(request, barrier, number)) for number in range(4)]
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
