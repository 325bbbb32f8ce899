"""The collector without stack frames left, and in signal handlers."""

import json
import signal
from collections import Counter

import pytest

from observing import run

DEEP = """
import sys
from coreloop.observe import AuditCollector

DATA_DIR, ACTION = sys.argv[1:]

class Empty:
    def __init__(self, question="", *, data_dir=None): pass
    def __enter__(self): return self
    def __exit__(self, *error): pass
    def observe_tool_call(self, name, args=None, *, ok=None): pass
    def flush(self, chunk_len=0): pass

def act(audit, own):
    if ACTION == "flush":
        audit.flush(chunk_len=1)
    elif ACTION == "observe":
        audit.observe_tool_call("a", {"axis": 1}, ok=True)
    elif ACTION == "exit":
        audit.__exit__(None, None, None)
    elif ACTION == "open":
        own("q", data_dir=DATA_DIR)
    elif ACTION == "block":
        with own("q", data_dir=DATA_DIR):
            pass

def reach(left, audit, own):
    # whether the action returned; compared with an action that does nothing, with the same frames left
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
tried = 0
for left in range(400 - depth() - 60, 400 - depth()):
    audit = AuditCollector("q", data_dir=DATA_DIR)
    if ACTION == "exit":
        audit.__enter__()
    try:
        empty = reach(left, Empty(), Empty)
    except RecursionError:
        break
    assert reach(left, audit, AuditCollector) or not empty, (left, "raised")
    tried += empty
print(tried)
"""


@pytest.mark.parametrize("action", ["flush", "exit", "block", "observe", "open"])
def test_a_call_without_stack_raises_nothing(tmp_path, action):
    (tried,) = run(DEEP, tmp_path, action)
    assert int(tried) > 40
    for day in (tmp_path / "audit" / "ai-ask").iterdir():
        assert all(map(json.loads, day.read_bytes().splitlines()))


DEEP_TOOL = """
import json, sys
from coreloop.observe import AuditCollector, observed_tool

def tool(x):
    global entered
    entered += 1
    return x
observed = observed_tool(tool)

def reach(left):
    return reach(left - 1) if left else observed(1)

entered = returned = 0
with AuditCollector("q", data_dir=sys.argv[1]) as audit:
    sys.setrecursionlimit(400)
    for left in range(300, 400):
        try:
            returned += reach(left)
        except RecursionError:
            pass
    sys.setrecursionlimit(1000)
print(json.dumps([entered, returned]))
"""


def test_a_tool_returns_even_if_no_stack_is_left_to_record_it(tmp_path):
    (printed,) = run(DEEP_TOOL, tmp_path)
    entered, returned = json.loads(printed)
    assert entered == returned > 0


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
