"""Answers, feedback and gates with everything in Postgres."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.answer.deps import open_deps
from coreloop.answer.repair.feedback import give_feedback, read_notice
from coreloop.answer.repair.jobs import all_handlers, read_gates
from coreloop.answer.research.run import answer
from coreloop.runs.jobs.work import work
from coreloop.runs.stores.store import open_store
from repairing import RETURN_QUESTION, SHIP_QUESTION, shop


@pytest.mark.slow
def test_everything_but_the_index_is_in_the_database(tmp_path: Path, database: str):
    workspace, environ = shop(tmp_path), {"CORELOOP_DATABASE_URL": database}
    with open_store(workspace, environ=environ) as store, open_deps(workspace, store, environ) as deps:
        found = answer(SHIP_QUESTION, deps=deps)
        assert (found.supported, found.repairs) == (True, 1)
        first = answer(RETURN_QUESTION, deps=deps)
        give_feedback(deps, first.run_id, "down", reason="a\x00b")
        work(deps.queue, all_handlers(deps), until_idle=True)
        assert read_notice(deps, first.run_id).kind == "answer"
        assert [reading.now.gate for reading in read_gates(deps, now=datetime.now(UTC))] == ["coverage", "io"]
    assert not (tmp_path / "data" / "runs").exists()
