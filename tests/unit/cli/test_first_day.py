"""What the screens of ``pattern`` and ``refine`` say on the first day, and of an error."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.base.project.settings import Gates
from coreloop.cli.pattern import show_proposals
from coreloop.cli.refine import show_refined
from coreloop.learn.propose import NightRequest, propose, refine, write_night
from logs import failed
from samples import ALWAYS, START, asked, mined


def _show(command: str, rows: list[dict[str, Any]], folder: Path, *, sanitized: bool = False) -> None:
    log, request = mined(folder, rows), NightRequest(days=ALWAYS, out=folder / "out", sanitized=sanitized)
    if command == "pattern":
        proposed = propose(log, ALWAYS, Gates(), now=START)
        show_proposals(write_night(proposed, log.workspace, request))
        return
    refined = refine(log, ALWAYS, now=START, min_failures=2)
    show_refined(write_night(refined, log.workspace, request))


@pytest.mark.parametrize(("n_days", "is_said"), [(1, True), (2, False)])
def test_the_first_day_says_that_two_are_needed(
    n_days: int, is_said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [asked(number, failed("book_room", {"hours": 5}), days=n_days) for number in range(10)]
    _show("refine", rows, tmp_path)
    assert ("all records are of one day, and two are needed" in capsys.readouterr().out) is is_said


@pytest.mark.parametrize("sanitized", [False, True])
def test_refine_shows_the_error_without_its_values_to_the_maintainer_only(
    sanitized: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = "ValueError: room 4711 of 'Kim' is taken"
    rows = [asked(number, failed("book_room", {"hours": 5}, error)) for number in range(10)]
    _show("refine", rows, tmp_path, sanitized=sanitized)
    shown = capsys.readouterr().out
    assert ("ValueError: room" in shown) is not sanitized
    assert "4711" not in shown
    assert "Kim" not in shown
