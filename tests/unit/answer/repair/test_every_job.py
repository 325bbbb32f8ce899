"""What workers do."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from coreloop.answer.repair.evidence import evidence_of_file, fresh_sources
from coreloop.answer.repair.jobs import GATES, all_handlers, plan_gates
from coreloop.runs.jobs.work import work
from repairing import RETURN_QUESTION, shop, shop_deps
from researching import MOMENT


def test_a_worker_measures_the_gates_once_a_day(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        now = datetime.now(UTC)
        assert plan_gates(deps, now=now) == plan_gates(deps, now=now)
        work(deps.queue, all_handlers(deps), until_idle=True)
        tomorrow, today = deps.queue.jobs()
        assert (today.name, today.status) == (GATES, "done")
        assert (tomorrow.status, tomorrow.run_at.date()) == ("queued", now.date() + timedelta(days=1))
        assert len(deps.tables.snapshots("coverage")) == 1


def test_evidence_of_code_is_its_best_symbol(tmp_path: Path):
    shop(tmp_path)
    found = evidence_of_file(tmp_path, "rates.py", "What share do gold customers get?", now=MOMENT)
    assert found is not None
    assert (found.symbol, found.content.splitlines()[0]) == (
        "rate_of",
        "def rate_of(customer: str) -> float:",
    )
    assert evidence_of_file(tmp_path, "absent.md", "?", now=MOMENT) is None


def test_evidence_of_a_file_that_changed_is_not_used(tmp_path: Path):
    shop(tmp_path)
    found = evidence_of_file(tmp_path, "docs/returns.md", RETURN_QUESTION, now=MOMENT)
    kept = [found] if found else []
    assert len(list(fresh_sources(tmp_path, kept))) == 1
    (tmp_path / "docs" / "returns.md").write_text("# Returns\n\nNever.\n")
    assert list(fresh_sources(tmp_path, kept)) == []
