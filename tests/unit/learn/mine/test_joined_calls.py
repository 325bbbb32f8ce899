"""Calls of a session that were recorded one by one count as one request, as if one record held them."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.requests import MAX_CALLS
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.sequences import count_patterns
from coreloop.learn.statements.logged_calls import read_log
from logs import call, failed, one_by_one, record, write_log
from samples import rolled

APRIL = Days(date(2026, 4, 1), date(2026, 4, 30))
SETTINGS = MineSettings()


def of_session(*calls: dict[str, Any], session: str = "a", start: str = "25T09:30", step_s: float = 1) -> Any:
    """A record a call, as an adapter of a server writes them."""
    request = record(tool_calls=calls, request_id=session, ts=f"2026-04-{start}:00+00:00")
    return one_by_one(request, step_s=step_s)


def window(rows: list[dict[str, Any]], mined: MineSettings = SETTINGS) -> Window:
    return merge([rolled(rows, settings=mined)], APRIL)


def patterns(found: Window) -> dict[str, int]:
    rows = count_patterns(found)
    return {found.texts[sequence]: n for sequence, n in rows.select("sequence", "n_observed").iter_rows()}


def n_requests_of(found: Window) -> int:
    return sum(group.n for group in found.requests)


ORDER = {"id": "W1234567"}
THREE = (call("find", ORDER), failed("book", ORDER), call("book", ORDER))
OTHER_THREE = tuple(call(name, {"id": "W7654321"}) for name in ("find", "book", "pay"))


def changed(calls: Iterable[dict[str, Any]], **changes: Any) -> list[dict[str, Any]]:
    return [{**row, **changes} for row in of_session(*calls)]


def without_session(*clients: Any) -> list[dict[str, Any]]:
    rows = [{**row, "session_hash": None} for of_client in clients for row in of_client]
    return sorted(rows, key=lambda row: row["ts"])


@pytest.mark.parametrize("first", [1, 3], ids=["in two files", "in one file"])
def test_three_calls_of_a_session_are_a_sequence_with_a_retry(first: int, tmp_path: Path):
    rows = of_session(*THREE)
    write_log(tmp_path / "a.jsonl", rows[:first])
    write_log(tmp_path / "b.jsonl", rows[first:])
    found = merge(read_folder(tmp_path, SETTINGS), APRIL)
    assert patterns(found) == {"find()>book()": 1}
    (request,) = read_log(found, {}).requests
    assert [(one.tool, one.ok, one.retry, one.recovered) for one in request.calls] == [
        ("find", True, False, False),
        ("book", False, False, True),
        ("book", True, True, False),
    ]
    assert (found.n_records(), found.recorded()) == (3, Days(date(2026, 4, 25), date(2026, 4, 25)))
    assert n_requests_of(found) == 1


CASES = {
    "more than an hour apart": (of_session(*THREE, step_s=3601), 3),
    "an hour apart": (of_session(*THREE, step_s=3600), 1),
    "midnight": (of_session(*THREE, start="25T23:59", step_s=50), 2),
    "two sessions": (of_session(*THREE) + of_session(*THREE, session="b"), 2),
    "with a question": (changed(THREE, question="why"), 3),
    "with an answer": (changed(THREE, chunk_len=10), 3),
    "with a model's reply": (changed(THREE, rounds=1), 3),
    "without a session, of the same identifiers": (without_session(of_session(*THREE)), 1),
    "without a session, more than five minutes apart": (without_session(of_session(*THREE, step_s=301)), 3),
    "without a session, two clients at once": (
        without_session(of_session(*THREE), of_session(*OTHER_THREE, start="25T09:30")),
        2,
    ),
    "without a session and identifiers": (
        without_session(of_session(*(call("find", {"city": "Oslo"}) for _ in range(3)))),
        3,
    ),
    "without a session, what many ask about all day": (
        without_session(*(of_session(*THREE, start=f"25T{hour:02}:00") for hour in (9, 15))),
        6,
    ),
    "several calls in a record": (changed(THREE, tool_calls=[THREE[0]] * 2), 3),
    "more than a request may have": (of_session(*(call("find") for _ in range(MAX_CALLS + 2))), 2),
    "other descriptions": (
        changed(THREE, descriptions="desc:00")[:2] + changed(THREE, descriptions="desc:01")[2:],
        2,
    ),
}


@pytest.mark.parametrize(("rows", "n_requests"), CASES.values(), ids=CASES)
def test_what_is_one_request(rows: list[dict[str, Any]], n_requests: int):
    assert n_requests_of(window(rows)) == n_requests


def test_a_request_that_a_person_judged_stands_alone():
    judged = MineSettings(verdicts={"a-1": "V"})
    found = window(of_session(*THREE), mined=judged)
    by_time = sorted((one.us, one.outcome) for group in found.requests for one in group.each())
    assert [outcome for _, outcome in by_time] == [1, 0]
