"""Mining sessions: all commands share the same files and do not evict each other's."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path

import pytest

from coreloop.admin.status.read_status import read_status
from coreloop.base.date_range import Days
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.mine.folder import MiningOptions, mine
from coreloop.learn.mine.window import merge
from coreloop.learn.propose import NightRequest, run_pattern, run_refine
from coreloop.learn.verdicts.judge import judge
from coreloop.observe.judgments import VerdictLetter
from logs import failed, record, write_log
from rows import slow_after

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
DAYS = Days(date(2026, 4, 1), date(2026, 4, 30))
Command = Callable[[Workspace, MiningOptions], object]

COMMANDS: dict[str, Command] = {
    "pattern": lambda project, how: run_pattern(project, NightRequest(days=DAYS, mining=how), now=NOW),
    "refine": lambda project, how: run_refine(project, NightRequest(days=DAYS, mining=how), now=NOW),
    "status": lambda project, how: read_status(project, now=NOW, environ={}, mining=how),
}


@pytest.fixture(autouse=True)
def all_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coreloop.learn.mine.folder._KEPT_FROM", 0)


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    """Two files of records, a verdict on a request of the first and a replay in the second."""
    workspace = Workspace(tmp_path, Settings())
    for day in (24, 25):
        asked = [record(request_id=f"req-{day}-{n}", ts=f"2026-04-{day}T09:30:00Z") for n in range(5)]
        write_log(workspace.records_dir / f"2026-04-{day}.jsonl", asked)
    judge(workspace, "req-24-1", VerdictLetter.VIOLATION, cause="wrong year", by="Ann", now=NOW)
    workspace.replays_file.write_text("req-25-2\n")
    return workspace


@pytest.mark.parametrize(("first", "second"), slow_after(len(COMMANDS), product(COMMANDS, repeat=2)))
def test_files_of_a_command_are_reused_by_all_others(project: Workspace, first: str, second: str):
    read: list[str] = []
    for name in (first, second, first, second):
        COMMANDS[name](project, MiningOptions(progress=lambda *_, name=name: read.append(name)))
    assert read == [first, first]


def test_a_verdict_counts_in_every_command(project: Workspace):
    write_log(
        project.records_dir / "2026-04-23.jsonl",
        [
            record(
                request_id=f"req-23-{n}",
                ts="2026-04-23T09:30:00Z",
                tool_calls=[failed()],
                question=f"질문{n}",
            )
            for n in range(3)
        ],
    )
    [before] = run_refine(project, NightRequest(days=DAYS), now=NOW).document.counterexamples[:1]
    judge(project, before.id, VerdictLetter.VIOLATION, cause=None, by="Ann", now=NOW)
    after = run_refine(project, NightRequest(days=DAYS), now=NOW)
    assert before.key not in {counterexample.key for counterexample in after.document.counterexamples}
    assert after.search.dropped["known"] == 1


def test_a_cache_that_cannot_be_written_is_reported_and_the_counts_are_the_same(project: Workspace):
    project.facts_dir.write_text("a file where the folder should be")
    reasons: list[str] = []
    mined = mine(project, MiningOptions(not_kept=reasons.append))
    assert "facts" in "".join(reasons)
    assert merge(mined.files, DAYS).n_records() == 9
