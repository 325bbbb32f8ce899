"""The collector never raises: what it cannot record is counted and logged."""

import json
import logging
import os
import signal
from collections import Counter
from types import MappingProxyType

import pytest

from coreloop.observe import dropped
from observing import SECRET, BrokenMapping, Mute, MuteError, run


def test_calls_after_the_end_are_counted(audit, only_record):
    request = audit()
    request.flush(chunk_len=1)
    request.flush(chunk_len=2)
    request.observe_tool_call("a")
    request.observe_override("a", ["b"])
    request.observe_violation("c")
    request.set_category_hash("FIN")
    assert only_record()["chunk_len"] == 1
    assert only_record()["tool_calls"] == []
    assert dropped() == {"after_flush": 5}


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"x": Mute()}, id="value"),
        pytest.param({Mute(): 1}, id="key"),
        pytest.param(Mute(), id="not a mapping"),
        pytest.param({"x": BrokenMapping(a=1)}, id="broken mapping"),
        pytest.param(MappingProxyType(BrokenMapping(a=1)), id="wrapped broken mapping"),
        pytest.param({"x": "\ud800"}, id="lone surrogate"),
        pytest.param({"x": object(), "axis": "수익성"}, id="object"),
    ],
)
def test_a_call_with_any_arguments_is_recorded(audit, only_record, args):
    request = audit()
    request.observe_tool_call("a", args, ok=True)
    request.observe_tool_call("b", ok=True)
    request.flush()
    calls = only_record()["tool_calls"]
    assert [call["name"] for call in calls] == ["a", "b"]
    assert isinstance(calls[0]["args"], dict)
    assert SECRET not in json.dumps(calls, ensure_ascii=False)
    assert dropped().keys() <= {"unserialisable"}


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
    assert dropped() == {
        "unserialisable": 3, "category": 3, "case_key": 3, "write_ENOTDIR": 3, "after_flush": 3,
    }  # fmt: skip
    assert len(caplog.messages) == 5
    assert all(sum(reason in message for message in caplog.messages) == 1 for reason in dropped())
    assert SECRET not in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    assert not any(record.exc_info for record in caplog.records)


FORK = """
import os, signal, sys, threading
from coreloop.observe import AuditCollector, dropped, drops
AuditCollector(question="before", data_dir=sys.argv[1]).flush()
held, done = threading.Event(), threading.Event()
def hold():
    with drops._lock:  # as in a thread that is counting
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


SIGNALLED = """
import json, signal, sys, threading, time
from coreloop.observe import AuditCollector, current

signals = 0
def handler(number, frame):
    global signals
    signals += 1
    with AuditCollector("handler", data_dir=sys.argv[1]) as audit:
        audit.observe_tool_call("a", {"axis": signals})
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
        AuditCollector("main", data_dir=sys.argv[1]).flush()
    armed = False
    time.sleep(0.01)
    calls = outer._pending[0]["tool_calls"]
    sequence = outer._sequence
from coreloop.base.records import join_steps, step
steps = [step(call["name"], json.loads(__import__("orjson").dumps(call["args"]))) for call in calls]
print(json.dumps([n, signals, len(calls), sequence == ">".join(steps)]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no SIGALRM")
def test_recording_in_a_signal_handler_neither_hangs_nor_loses_records(tmp_path, records):
    (printed,) = run(SIGNALLED, tmp_path)
    main, signals, calls, in_order = json.loads(printed)
    assert signals > 100
    assert (calls, in_order) == (main + signals, True)
    questions = Counter(record["question"] for record in records())
    assert questions == {"main": main, "handler": signals, "outer": 1}
