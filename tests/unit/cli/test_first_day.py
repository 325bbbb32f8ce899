"""What the screens of ``pattern`` and ``refine`` say on the first day, and of an error."""

import json
from pathlib import Path
from typing import Any

import pytest

from coreloop.cli.pattern import proposal_lines
from coreloop.cli.refine import refined_lines
from coreloop.learn.propose import NightRequest, propose, refine, write_night
from logs import call, failed
from samples import ALWAYS, START, asked, mined


def _shown(command: str, rows: list[dict[str, Any]], folder: Path, *, sanitized: bool = False) -> str:
    log, request = mined(folder, rows), NightRequest(days=ALWAYS, out=folder / "out", sanitized=sanitized)
    if command == "pattern":
        proposed = propose(log, ALWAYS, now=START)
        return "\n".join(proposal_lines(write_night(proposed, log.workspace, request)))
    refined = refine(log, ALWAYS, now=START)
    return "\n".join(refined_lines(write_night(refined, log.workspace, request)))


@pytest.mark.parametrize(("n_days", "is_said"), [(1, True), (2, False)])
def test_the_first_day_says_that_two_are_needed(n_days: int, is_said: bool, tmp_path: Path) -> None:
    rows = [asked(number, failed("book_room", {"hours": 5}), days=n_days) for number in range(10)]
    shown = _shown("refine", rows, tmp_path)
    assert ("all records are of one day, and two are needed" in shown) is is_said
    assert ("needs a second day, calls that worked in 3" in shown) is is_said
    assert "unknown yet  book_room" in shown


OPEN = {"properties": {"room": {}, "hours": {}}, "required": ["room"]}


@pytest.mark.parametrize(
    ("schema", "name", "first"),
    [
        (OPEN, "hour", "book: hour is no argument (nearest: hours)"),
        (OPEN, "\x1b[2J" * 3000, "book: <name> is no argument, but it worked"),
        *((OPEN | more, "hour", "") for more in ({"patternProperties": {}}, {"required": ["day"]})),
        *((schema, "hour", "") for schema in (OPEN | {"additionalProperties": {}}, {"properties": 1}, "x")),
    ],
)
def test_an_argument_that_the_sent_schema_lacks_is_first(
    schema: object, name: str, first: str, tmp_path: Path
) -> None:
    sent = tmp_path / "data" / "audit" / "descriptions" / "a.json"
    sent.parent.mkdir(parents=True)
    sent.write_text(json.dumps({"tools": [{"name": "book", "hash": "", "schema": schema}]}))
    calls = call("book", {"room": "x1", name: 5}), failed("pay")
    shown = _shown("refine", [asked(n, *calls, descriptions="desc:a") for n in range(3)], tmp_path)
    assert (first or "pay: ValueError: no") in shown.splitlines()[2]


@pytest.mark.parametrize("sanitized", [False, True])
def test_refine_shows_the_error_without_its_values_to_the_maintainer_only(
    sanitized: bool, tmp_path: Path
) -> None:
    error = "ValueError: room 4711 of 'Kim' is taken"
    rows = [asked(number, failed("book_room", {"hours": 5}, error)) for number in range(10)]
    shown = _shown("refine", rows, tmp_path, sanitized=sanitized)
    assert ("ValueError: room" in shown) is not sanitized
    assert "4711" not in shown
    assert "Kim" not in shown
