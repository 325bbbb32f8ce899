"""The collector never raises: what it cannot record is counted and logged."""

import json
import logging
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
    assert json.loads(printed) == {"write_ENOSPC": 1, "write_EFBIG": 2}
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
