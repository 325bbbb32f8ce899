"""Good bullets help, weak ones are pruned."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.learn.knowledge.playbook import good_bullets, prune, weak_bullets
from coreloop.learn.knowledge.store import writing
from old_knowledge import bullet, make_old

AT = datetime(2026, 4, 25, 9, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("successes", "failures", "is_good", "is_weak"),
    [
        (5, 0, True, False),
        (5, 1, True, False),
        (5, 2, False, False),
        (4, 0, False, False),
        (0, 0, False, False),
        (1, 2, False, True),
        (50, 17, False, False),
    ],
)
def test_thresholds_of_good_and_weak_bullets(
    successes: int, failures: int, is_good: bool, is_weak: bool, tmp_path: Path
):
    path = make_old(tmp_path / "x.db", playbook=[bullet(1, at=AT, successes=successes, failures=failures)])
    with writing(path) as knowledge:
        assert good_bullets(knowledge) == ({"profitability": ("BULLET1.",)} if is_good else {})
        assert len(weak_bullets(knowledge)) == is_weak


def test_pruning_removes_and_returns_weak_bullets(tmp_path: Path):
    rows = [bullet(1, at=AT, successes=0, failures=9), bullet(2, at=AT, successes=4, failures=4)]
    with writing(make_old(tmp_path / "x.db", playbook=rows)) as knowledge:
        assert [row.bullet for row in prune(knowledge)] == ["BULLET1."]
        (left,) = knowledge.execute("SELECT * FROM playbook").fetchall()
        assert (left["bullet"], left["quality"]) == ("BULLET2.", 0.5)
        assert left["last_used"] == "2026-04-25T09:30:00+00:00"
