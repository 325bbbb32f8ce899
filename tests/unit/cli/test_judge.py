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
from coreloop.observe import jsonl
from coreloop.promote.measure.measurement import Measurement, MeasureVerdict
from logs import record, repeated, write_log
from promoting import FILE, candidate, statement, write_candidates, write_counterexamples

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
        done = CliRunner(env={"COLUMNS": "120"}).invoke(main, args)
        assert done.exit_code == 0, done.output
        return done

    return run


def candidates(run: Run) -> list[dict[str, Any]]:
    facts: dict[str, list[dict[str, Any]]] = json.loads(run("pattern", "--json").stdout)
    return facts["candidates"]


def test_a_verdict_on_the_failed_request_makes_a_candidate_of_its_pattern(run: Run):
    assert candidates(run) == []
    done = run("judge", "--id", "req-bad", "--verdict", "T", "--cause", "answered", "--by", " Ann \n Lee ")
    assert done.stdout == "req-bad: T (tolerable), by Ann Lee; the request counts as succeeded\n"
    assert [entry["n_observed"] for entry in candidates(run)] == [5]
    assert "req-bad" not in run("judge").stdout
    run("judge", "--id", "req-bad", "--verdict", "V")
    assert candidates(run) == []


def test_a_rejected_candidate_is_not_proposed_until_it_is_passed(run: Run):
    run("judge", "--id", "req-bad", "--verdict", "P")
    (before,) = candidates(run)
    rejected = run("judge", "--id", before["id"], "--verdict", "V", "--json")
    assert json.loads(rejected.stdout)["key"] == before["key"]
    done = run("pattern")
    assert "0 proposals" in done.stdout
    assert "1 not proposed: already promoted, open or rejected (known)" in done.stdout
    run("judge", "--id", before["id"], "--verdict", "T")
    assert [entry["id"] for entry in candidates(run)] == [before["id"]]


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
    jsonl.append(Workspace(tmp_path, Settings()).measured_file, measured)
    assert "      measured on 2026-11-20 by m: model too weak (5%)" in run("judge").stdout
    # status shows the same
    status = " ".join(run("status").stdout.split())
    assert "update: limit: at most 20: measured on 2026-11-20 by m: model too weak (5%)" in status
    assert json.loads(run("status", "--json").stdout)["measured"][0]["verdict"] == "model too weak"


def test_an_id_alone_shows_the_proposal_and_what_can_be_said_next(run: Run, tmp_path: Path):
    source = tmp_path / FILE
    source.parent.mkdir(parents=True)
    source.write_text(
        'def analysis(company, axis):\n    """Analyse a company.\n\n    In one call.\n    """\n'
    )
    made = statement(line="- Always pass axis", kind="presence")
    path = "data/audit/counterexamples/2026-04-25-counterexamples.json"
    write_counterexamples(tmp_path / path, made)
    done = run("judge", "--id", made["id"])
    assert done.stdout.splitlines()[0] == f"{made['id']} analysis: Always pass axis"
    assert "\nstate     waiting, since 2026-04-25\n" in done.stdout
    assert "\nevidence  follows: " in done.stdout
    assert f"\nchange    {FILE}::analysis\n" in done.stdout
    assert "\n          + - Always pass axis\n" in done.stdout
    assert done.stdout.endswith("\nverdicts  none yet\n")
    assert f"judge --id {made['id']} --verdict P|T|C|V" in done.stderr
    assert f"promote --candidate {path} --id {made['id']}\n" in done.stderr
    run("judge", "--id", made["id"], "--verdict", "V", "--cause", "wrong", "--by", "Ann")
    rejected = run("judge", "--id", made["id"])
    assert "\nstate     rejected, since " in rejected.stdout
    assert rejected.stdout.endswith(" V (violation), by Ann: wrong\n")
    assert "promote" not in rejected.stderr.replace("promoted", "")
    facts = json.loads(run("judge", "--id", made["id"], "--json").stdout)
    assert (facts["state"], facts["key"], facts["verdicts"][0]["cause"]) == ("rejected", made["key"], "wrong")
