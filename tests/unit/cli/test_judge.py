"""``judge`` and ``pattern`` together: the effect of a verdict on the next run, and the output."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.cli.main import main
from coreloop.promote.measure.measurement import Measurement, keep
from coreloop.promote.measure.verdict import MeasureVerdict
from logs import record, repeated, write_log
from promoting import candidate, write_candidates

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A project with four good requests and a bad one, and its commands."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    now = datetime.now(UTC).isoformat()
    bad = record(
        ts=now, request_id="req-bad", question="왜\x1b[2J 안 돼요 " + "가나다라" * 50, error="KeyError: x"
    )
    write_log(tmp_path / "data" / "audit" / "ai-ask" / "a.jsonl", [*repeated(4, ts=now), bad])

    def run(*args: str) -> Result:
        done = CliRunner(env={"COLUMNS": "60"}).invoke(main, args)
        assert done.exit_code == 0, done.output
        return done

    return run


def candidates(run: Run) -> list[dict[str, Any]]:
    facts: dict[str, list[dict[str, Any]]] = json.loads(run("pattern", "--json").stdout)
    return facts["candidates"]


def test_a_verdict_on_the_failed_request_makes_a_candidate_of_its_pattern(run: Run):
    assert candidates(run) == []
    assert "req-bad" in run("judge").stdout
    done = run("judge", "--id", "req-bad", "--verdict", "T", "--cause", "answered", "--by", " Ann \n Lee ")
    assert done.stdout == "req-bad: T (tolerable), by Ann Lee; the request counts as succeeded\n"
    assert [entry["n_observed"] for entry in candidates(run)] == [5]
    assert "req-bad" not in run("judge").stdout
    run("judge", "--id", "req-bad", "--verdict", "V")
    assert candidates(run) == []


@pytest.mark.parametrize("verdict", ["V", "C"])
def test_a_rejected_candidate_is_not_proposed_until_it_is_passed(verdict: str, run: Run):
    run("judge", "--id", "req-bad", "--verdict", "P")
    (before,) = candidates(run)
    rejected = run("judge", "--id", before["id"], "--verdict", verdict, "--json")
    assert json.loads(rejected.stdout)["key"] == before["key"]
    done = run("pattern")
    assert "0 proposals" in done.stdout
    assert "1 not proposed: already promoted, open or rejected (known)" in done.stdout
    run("judge", "--id", before["id"], "--verdict", "T")
    assert [entry["id"] for entry in candidates(run)] == [before["id"]]


def test_broken_judgments_are_counted_and_pattern_and_judge_go_on(run: Run, tmp_path: Path):
    run("judge", "--id", "req-bad", "--verdict", "P")
    (path,) = (tmp_path / "data" / "audit" / "judgments").iterdir()
    path.write_bytes(b"{torn\n" + path.read_bytes() + b"[]\n")
    for args in (("pattern",), ("judge",), ("judge", "--json")):
        stderr = run(*args).stderr
        assert "1 line of judgments skipped: torn or not JSON\n" in stderr
        assert "1 line of judgments skipped: not a judgment\n" in stderr
    assert len(candidates(run)) == 1


def test_the_queue_is_escaped_and_fits_on_the_terminal(run: Run):
    shown = run("judge").stdout
    heading, request, reason = shown.splitlines()
    assert heading == "near the gate: 1"
    assert request.startswith("  req-bad  왜\\u{1b}[2J 안 돼요 가나다라")
    assert (request[-1], reason[-1]) == ("…", "…")
    assert len(request) < 50
    assert reason.startswith("      failed; 4 of 5 succeeded, 1 more would pass")
    assert len(reason) == 60


def test_the_queue_in_json_is_not_cut(run: Run):
    facts = json.loads(run("judge", "--json").stdout)
    assert [(item["kind"], item["id"]) for item in facts["queue"]] == [("near the gate", "req-bad")]
    assert facts["queue"][0]["text"].endswith("가나다라")
    assert (facts["n_judged"], facts["skipped"]) == (0, {})


def test_a_long_queue_names_its_rest(run: Run, tmp_path: Path):
    folder = tmp_path / "data" / "audit" / "candidates"
    made = [candidate(id=f"cand-2026-04-25-{n:03d}", key=f"{n:016x}") for n in range(12)]
    write_candidates(folder / "2026-04-25-candidates.json", *made)
    shown = run("judge").stdout
    assert "waiting: 12" in shown
    assert "  … and 2 more; --json lists all" in shown


def test_without_records_or_waiting_things_it_says_so(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    done = run("judge")
    assert done.stdout == "nothing waits for a verdict\n"
    assert "ai-ask is missing" in done.stderr


@pytest.mark.parametrize(
    ("configured", "by", "expected"),
    [
        pytest.param("Git Name", ["--by", "Ann"], "Ann", id="who was named"),
        pytest.param("Git Name", ["--by", " "], "Git Name", id="blank name is ignored"),
        pytest.param("Git Name", [], "Git Name", id="git's user.name"),
        pytest.param(None, [], "loginname", id="the login name"),
    ],
)
def test_who_says_so(
    configured: str | None,
    by: list[str],
    expected: str,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("LOGNAME", "loginname")
    if configured is not None:
        (tmp_path / "gitconfig").write_text(f"[user]\nname = {configured}\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    done = run("judge", "--id", "req-bad", "--verdict", "P", "--json", *by)
    assert json.loads(done.stdout)["judged_by"] == expected


def test_a_proposal_that_was_measured_says_so_with_model_and_day(run: Run, tmp_path: Path):
    made = candidate(id="cand-2026-04-25-001", key="ab" * 8)
    write_candidates(tmp_path / "data/audit/candidates/2026-04-25-candidates.json", made)
    measured = Measurement(
        ts=datetime(2026, 11, 20, tzinfo=UTC),
        tool="update",
        keys=("ab" * 8,),
        lines=("- limit: at most 20",),
        model="m",
        verdict=MeasureVerdict.TOO_WEAK,
        reason="5%",
    )
    assert "measured" not in run("judge").stdout
    keep(Workspace(tmp_path, Settings()), measured)
    assert "      measured on 2026-11-20 by m: model too weak (5%)" in run("judge").stdout
    # status shows the same
    status = run("status").stdout
    assert "update: limit: at most 20: measured on 2026-11-20 by m: model too weak (5%)" in status
    assert json.loads(run("status", "--json").stdout)["measured"][0]["verdict"] == "model too weak"
