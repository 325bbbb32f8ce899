"""``jobs``: workers as processes, and what people see of jobs and do with them."""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.main import main
from coreloop.runs.jobs.queue import Job
from queueing import eventually, queue_at
from rows import slow_after


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("# Fees\n\nThe fee is 3 %.\n")
    (tmp_path / "new.md").write_text("# Deadlines\n\nThe deadline is Friday.\n")
    invoke("index", "notes.md")
    return tmp_path


def invoke(*args: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, args)


def jobs(*args: str) -> Result:
    return invoke("jobs", *args)


def place(project: Path) -> str:
    return str(open_workspace(project).runs_dir / "coreloop.db")


def put(project: Path, name: str = "index.file", path: str = "new.md", **more: Any) -> Job:
    with queue_at(place(project)) as queue:
        return queue.put(name, {"path": path}, **more)


def dead(project: Path, error: str) -> Job:
    with queue_at(place(project)) as queue:
        queue.put("index.file", {"path": "new.md"}, max_attempts=1)
        job = queue.take(["index.file"])
        assert job is not None
        return queue.fail(job, error)


def test_a_dead_job_is_shown_with_its_error_and_can_be_retried(project: Path):
    job = dead(project, "ValueError: \x1b[2Jno\nsuch file")
    heading, line = jobs("show", "--status", "dead").output.splitlines()
    assert heading.split() == ["job", "status", "attempts", "created", "(UTC)", "name", "about"]
    assert line.startswith(f"{job.id}  dead      1 of 1  ")
    assert line.endswith(r"index file  ValueError: \u{1b}[2Jno\u{a}such file")
    assert jobs("retry", job.id).output == f"{job.id}  index file  queued\n"
    assert json.loads(jobs("cancel", job.id, "--json").output)["status"] == "cancelled"
    assert str(jobs("cancel", job.id).exception) == (
        f"job {job.id} is cancelled; only queued jobs can be cancelled"
    )
    assert str(jobs("show", "\x1b[2J").exception).startswith(
        r"no job \u{1b}[2J; `dartlab-coreloop jobs show`"
    )


def test_hostile_text_of_a_job_is_escaped(project: Path):
    job = put(project, "index.\x1b[2J", path="\u202e\x1b]0;x\x07", key="\x1b[2J")
    for command in (["show"], ["show", job.id]):
        output = jobs(*command).output
        assert "\x1b" not in output
        assert "\u202e" not in output


def test_a_worker_removes_jobs_that_are_older_than_the_project_keeps(project: Path):
    (project / "coreloop.yaml").write_text("retention_days: 30\n")
    put(project)
    assert jobs("work", "--until-idle").stdout == "1 done, 0 failed\n"
    jobs("work", "--until-idle")
    assert jobs("show").output != "no jobs\n"
    with queue_at(place(project)) as queue:
        old = (datetime.now(UTC) - timedelta(days=31)).isoformat()
        queue._database.rows("UPDATE jobs SET finished_at = ?", (old,))  # type: ignore[attr-defined]
    jobs("work", "--until-idle")
    assert jobs("show").output == "no jobs\n"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("number", slow_after(1, [signal.SIGTERM, signal.SIGINT]))
def test_a_worker_that_is_told_to_stop_says_what_it_did(project: Path, number: signal.Signals):
    command = [sys.executable, "-m", "coreloop", "jobs", "work", "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        job = put(project)
        with queue_at(place(project)) as queue:
            eventually(lambda: [one.id for one in queue.jobs(status="done")] == [job.id])
        worker.send_signal(number)
        out, errors = worker.communicate(timeout=20)
    assert (out, worker.returncode) == ("1 done, 0 failed\n", 0)
    assert f"{job.id}  index file  done\n" in errors
