"""`case`: which values of arguments identify something, and whose key hides them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.project.settings import Settings
from coreloop.observe import case_keys, dropped
from coreloop.observe.case_keys import case_key, hash_identifier, is_identifier
from coreloop.observe.importers.append_requests import RequestLog
from coreloop.observe.importers.traced_request import TracedRequest
from coreloop.observe.record_parts import TracedCall
from observing import MOMENT


@pytest.fixture(autouse=True)
def _own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(case_keys.VARIABLE, raising=False)


@pytest.mark.parametrize(
    "text",
    ["#W2378156", "kim99@example.com", "10482", "src/a1.py", "a" * 59 + "1", "주문번호7"],
)
def test_text_with_a_digit_and_no_space_identifies(text: str) -> None:
    assert is_identifier(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "pending", "W123", "order 10482", "a" * 60 + "1", "2026-04-25", "2026/4/25", "20260425",
        "25.04.2026", "04/25/26", "2026-04-25T09:30:00Z", "2026-04-25T09:30:00.123+09:00", "2026-04",
        "2026-Q1", "09:30", "09:30:15", "09:30+09:00",
    ],
)  # fmt: skip
def test_word_sentence_date_and_time_do_not_identify(text: str) -> None:
    assert not is_identifier(text)


def test_requests_about_the_same_order_share_a_hash_and_its_number_is_nowhere(
    audit: Any, records: Any, tmp_path: Path
) -> None:
    for tool in ("get_order", "cancel_order"):
        with audit(question="x") as request:
            request.observe_tool_call(tool, {"order_id": "#W2378156", "reason": "no longer needed"})
    first, second = records()
    assert first["case"] == second["case"] == [hash_identifier("#W2378156", case_key(tmp_path / "audit"))]


RACING = """
import sys
from pathlib import Path
from coreloop.observe.case_keys import case_key
print(case_key(Path(sys.argv[1])))
"""


def test_processes_that_start_together_use_one_key(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen([sys.executable, "-c", RACING, str(tmp_path)], stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    assert len({racer.communicate()[0] for racer in racers}) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_record_is_written_without_a_key_in_a_closed_folder(audit: Any, records: Any, tmp_path: Path) -> None:
    (tmp_path / "audit" / "ai-ask").mkdir(parents=True)
    (tmp_path / "audit").chmod(0o500)
    with audit(question="x") as request:
        request.observe_tool_call("get", {"order_id": "#W2378156"})
    (record,) = records()
    assert "case" not in record
    assert dropped() == {"case_key": 1}


def test_imported_record_has_the_case_that_the_collector_would_give_it(
    audit: Any, only_record: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORELOOP_CASE_KEY", "shared")
    calls = [("get_order", {"order_id": f"#W{number:07}", "limit": number}) for number in range(12)]
    calls.append(("find_user", {"user": {"id": "kim_1234"}}))
    with audit(question="x") as live:
        for name, args in calls:
            live.observe_tool_call(name, args)
    traced = tuple(TracedCall(name=name, args=args) for name, args in calls)
    request = TracedRequest(source="otlp", ids=("1",), question="x", ended=MOMENT, calls=traced)
    RequestLog(tmp_path / "out", Settings(), tmp_path).append([request])
    (line,) = next((tmp_path / "out").glob("*.jsonl")).read_text().splitlines()
    assert json.loads(line)["case"] == only_record()["case"]
    assert only_record()["case"][0] == hash_identifier("kim_1234", b"shared")
