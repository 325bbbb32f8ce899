"""Answers, feedback and gates with everything in Postgres."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.answer.repair.desk import open_repair_desk
from coreloop.answer.repair.feedback import give_feedback, wait_for_notice
from coreloop.answer.repair.gates import read_gates
from coreloop.answer.repair.run import answer
from coreloop.answer.repair.work import all_handlers
from coreloop.runs.jobs.work import work
from coreloop.runs.stores.store import open_store
from repairing import RETURN_QUESTION, SHIP_QUESTION, shop


@pytest.mark.slow
def test_everything_but_the_index_is_in_the_database(tmp_path: Path, database: str):
    workspace, environ = shop(tmp_path), {"CORELOOP_DATABASE_URL": database}
    with open_store(workspace, environ=environ) as store, open_repair_desk(workspace, store, environ) as desk:
        found = answer(SHIP_QUESTION, desk=desk)
        assert (found.supported, found.repairs) == (True, 1)
        first = answer(RETURN_QUESTION, desk=desk)
        give_feedback(desk, first.run_id, "down", reason="a\x00b")
        work(desk.queue, all_handlers(desk), until_idle=True)
        assert wait_for_notice(desk, first.run_id, 5).kind == "answer"
        assert [reading.now.gate for reading in read_gates(desk, now=datetime.now(UTC))] == ["coverage", "io"]
    assert not (tmp_path / "data" / "runs").exists()
