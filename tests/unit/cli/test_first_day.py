"""What the screens of ``pattern`` and ``refine`` say on the first day, and of an error."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.cli.pattern import proposal_lines
from coreloop.cli.refine import refined_lines
from coreloop.learn.propose import NightRequest, propose, refine, write_night
from logs import failed
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
    assert ("all records are of one day, and two are needed" in _shown("refine", rows, tmp_path)) is is_said


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
