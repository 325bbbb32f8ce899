"""The files that a report counts are those with records of its days."""

from datetime import date
from pathlib import Path

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Gates, Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.mine.run import Mined
from coreloop.learn.propose import propose, refine
from logs import call
from samples import START, asked, rolled


def test_a_file_without_records_of_the_days_is_not_counted(tmp_path: Path):
    files = [rolled([asked(number, call())], name=f"2026-04-0{number + 1}") for number in range(4)]
    days = Days(date(2026, 4, 2), date(2026, 4, 3))
    mined = Mined(Workspace(tmp_path, Settings()), files)
    for report in (
        refine(mined, days, now=START, min_failures=2),
        propose(mined, days, Gates(), now=START),
    ):
        assert (report.n_files, report.n_records, report.recorded) == (2, 2, days)
