"""The demo from end to end: the same for a seed, quick, and with texts that have a place to go."""

import json
from pathlib import Path

import pytest

from bounded import bounded
from coreloop.admin.demo.effect import SimulatedEffect
from coreloop.admin.demo.promoting import Promoted
from coreloop.admin.demo.run import (
    DemoCounts,
    make_project,
    propose_candidates,
    record_requests,
    refine_failures,
    run_demo,
)
from coreloop.base.errors import WorkspaceError
from coreloop.learn.propose import PatternResult, RefineResult
from scripted import NOW

BY_RUN = ("request_id", "duration_total_ms", "case")


def _demo(folder: Path, seed: int = 7):
    make_project(folder)
    recorded = record_requests(folder, seed=seed, now=NOW)
    proposed = propose_candidates(folder, now=NOW)
    return recorded, proposed.document, proposed.paths


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return folder, *_demo(folder)


def _records(folder: Path):
    paths = sorted((folder / "data" / "audit" / "ai-ask").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_request_is_a_record_in_the_file_of_its_day(demo):
    folder, recorded, *_ = demo
    records = _records(folder)
    assert len(records) == recorded.n_requests == 300
    assert sum(len(record["tool_calls"]) for record in records) == recorded.n_calls
    assert (
        sum(not call["ok"] for record in records for call in record["tool_calls"]) == recorded.n_failed_calls
    )
    assert recorded.n_failed_calls > 20
    for path in (folder / "data" / "audit" / "ai-ask").glob("*.jsonl"):
        days = {json.loads(line)["ts"][:10] for line in path.read_text(encoding="utf-8").splitlines()}
        assert days == {path.stem}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 11])
def test_a_seed_gives_the_same_records_and_candidates(seed, tmp_path):
    runs = [_demo(tmp_path / name, seed) for name in ("a", "b")]
    assert runs[0][2].candidates == runs[1][2].candidates
    records = [
        [{**record, **dict.fromkeys(BY_RUN)} for record in _records(tmp_path / name)] for name in ("a", "b")
    ]
    assert records[0] == records[1]


@pytest.mark.slow
def test_a_demo_takes_less_than_ten_seconds_of_processor_time(tmp_path):
    with bounded(10):
        _demo(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 8])
def test_the_mistakes_of_the_script_become_statements_on_the_tool_that_failed(seed, tmp_path):
    make_project(tmp_path)
    record_requests(tmp_path, seed=seed, now=NOW)
    statements = refine_failures(tmp_path, now=NOW).document.statements
    assert {
        ("update_ticket", "- priority: one of high, low, normal, urgent"),
        ("search_articles", "- limit: at most 20"),
        ("refund_order", "- amount: at most 100"),
        ("refund_order", "- Always pass reason"),
    } <= {(statement.tool, statement.line) for statement in statements}


def test_a_folder_that_holds_something_is_refused_and_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(WorkspaceError, match="is not empty"):
        make_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_the_stages_are_reported_in_order_and_returned(tmp_path, capsys):
    stages = []
    result = run_demo(tmp_path, seed=7, now=NOW, tell=stages.append)
    assert [type(stage) for stage in stages] == [
        DemoCounts,
        PatternResult,
        RefineResult,
        Promoted,
        SimulatedEffect,
    ]
    assert stages[1:] == [result.proposed, result.refined, result.promoted, result.effect]
    assert result.failed is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_without_git_only_the_promotion_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    result = run_demo(tmp_path / "demo", seed=7, now=NOW)
    assert result.promoted is None
    assert "git is not installed" in str(result.failed)
    assert all(path.exists() for path in result.proposed.paths)
