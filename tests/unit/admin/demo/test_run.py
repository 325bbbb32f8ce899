"""The demo from end to end: the same for a seed, quick, and with texts that have a place to go."""

from pathlib import Path

import pytest

from bounded import bounded
from coreloop.admin.demo.run import make_project, propose_candidates, record_requests, refine_failures
from coreloop.base.errors import WorkspaceError
from logs import records_in
from scripted import NOW

BY_RUN = ("request_id", "duration_total_ms")


def _demo(folder: Path, seed: int = 7):
    make_project(folder)
    record_requests(folder, seed=seed, now=NOW)
    return propose_candidates(folder, now=NOW).document


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 11])
def test_a_seed_gives_the_same_records_and_candidates(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("CORELOOP_CASE_KEY", "0" * 64)
    runs = [_demo(tmp_path / name, seed) for name in ("a", "b")]
    assert runs[0].candidates == runs[1].candidates
    records = [
        [{**record, **dict.fromkeys(BY_RUN)} for record in records_in(tmp_path / name)] for name in ("a", "b")
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
