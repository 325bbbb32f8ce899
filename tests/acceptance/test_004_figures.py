"""Numbers and days that document 004 of the specification promises, each told from its neighbours."""

import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from acceptance.asking import indexed
from acceptance.test_004_self_correction import KNOWN
from acceptance.walk import command
from queueing import queue_at
from serving import served

BARE = "def known(key: str) -> str:\n    return key\n"


@pytest.mark.promise("004-3")
def test_03_a_second_reading_of_a_day_is_compared_with_the_day_before(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"known_{number}.py").write_text(KNOWN)
    command(tmp_path, "index").assert_code()
    _gates(tmp_path)
    yesterday = str(datetime.now(UTC).date() - timedelta(days=1))
    with closing(sqlite3.connect(tmp_path / "data/runs/coreloop.db")) as connection, connection:
        connection.execute("UPDATE gate_snapshots SET day = ?", (yesterday,))
    read = []
    for number in range(3):
        (tmp_path / f"known_{number}.py").write_text(BARE)
        read.append(_gates(tmp_path))
    assert [{gate["before"]["day"] for gate in gates.values()} for gates in read] == [{yesterday}] * 3
    assert [{gate["before"]["good"] for gate in gates.values()} for gates in read] == [{3}] * 3
    assert [{name: gate["signal"] for name, gate in gates.items()} for gates in read] == [
        *[{"coverage": None, "io": None}] * 2,
        {"coverage": "coverage_drop", "io": "io_gate_drop"},
    ]


@pytest.mark.promise("004-20")
@pytest.mark.parametrize(
    ("seconds", "expected"),
    [((1, 40), 40), (range(1, 21), 19), ((*range(1, 20), 3000), 19), (range(100, 0, -1), 95)],
    ids=["the longer of two", "the 19th of 20", "not the longest of 20", "the 95th of 100, in any order"],
)
def test_20_the_95th_percentile_is_a_duration_that_95_of_100_jobs_do_not_pass(
    tmp_path: Path, seconds: Sequence[int], expected: int
) -> None:
    assert _figures_after(tmp_path / "jobs.db", seconds) == (len(seconds), expected)


@pytest.mark.slow
@pytest.mark.promise("004-20")
def test_20_the_metrics_have_the_throughput_and_the_longer_of_two_durations(tmp_path: Path) -> None:
    _figures_after(indexed(tmp_path) / "data/runs/coreloop.db", (1, 40))
    with served(tmp_path) as service, service.client() as client:
        text = client.get("/metrics").text
    figures = dict(re.findall(r"^(jobs_p95_seconds|jobs_done_last_hour) (\S+)$", text, re.MULTILINE))
    assert float(figures["jobs_p95_seconds"]) == 40
    assert float(figures["jobs_done_last_hour"]) >= 2  # the service has jobs of its own


def _figures_after(database: Path, seconds: Sequence[int]) -> tuple[int, float]:
    """The last hour's jobs and their 95th percentile in a queue whose jobs took these seconds."""
    with queue_at(database) as queue:
        jobs = [queue.put("index.module", {"number": number}) for number in range(len(seconds))]
        ended = datetime.now(UTC)
        for job, duration in zip(jobs, seconds, strict=True):
            _end(database, job.id, began=ended - timedelta(seconds=duration), ended=ended)
        figures = queue.metrics()
    return figures.done_last_hour, figures.p95_s


def _end(database: Path, job_id: str, *, began: datetime, ended: datetime) -> None:
    """Let a job have been done from one time to another."""
    times = [moment.isoformat(timespec="microseconds") for moment in (began, ended)]
    with closing(sqlite3.connect(database)) as connection, connection:
        changes = "status = 'done', created_at = ?, finished_at = ?, result = 'null'"
        connection.execute(f"UPDATE jobs SET {changes} WHERE id = ?", (*times, job_id))


def _gates(folder: Path) -> dict[str, dict[str, Any]]:
    """The gates' readings by name."""
    read = json.loads(command(folder, "repair", "gates", "--json").assert_code().out)
    return {gate["now"]["gate"]: gate for gate in read}
