"""A statement of a proposals file is asked the gates again: the file is untrusted, its figures too."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import RefusedError
from coreloop.base.project.settings import Settings
from coreloop.promote.proposal_entry import read_proposal
from promoting import ID, statement, write_candidates

HELD = {"n_ok": 12, "n": 14, "other_ok": 10, "other_n": 21}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"q_value": 0.9}, "q 0.900, above the limit of 0.05"),
        ({"difference": -0.3}, "no difference: difference -0.30"),
        ({"low": -0.05}, "it may make no difference"),
        ({"sides": {"n_ok": 3, "n": 61, "other_ok": 17, "other_n": 26}}, "no better than the rest: 3 of"),
        ({"held": {**HELD, "n_ok": 1}}, "does no better than the rest in the last days"),
    ],
)
def test_a_statement_that_no_run_would_propose_is_refused(changes, reason: str, tmp_path: Path):
    path = write_candidates(tmp_path / "2026-04-25-candidates.json", statement(**changes))
    with pytest.raises(RefusedError, match="is refused") as refused:
        read_proposal(path, ID, Settings())
    assert reason in str(refused.value)


def test_a_statement_at_the_gates_is_read(tmp_path: Path):
    path = write_candidates(tmp_path / "2026-04-25-candidates.json", statement(q_value=0.05))
    assert read_proposal(path, ID, Settings()).day == datetime(2026, 4, 25, tzinfo=UTC).date()
