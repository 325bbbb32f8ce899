"""Bullets are counted, ranked by the Beta posterior, and pruned."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coreloop.base.errors import UsageError
from coreloop.learn.knowledge.playbook import (
    Bullet,
    bullets,
    good_bullets,
    merge_bullet,
    prune,
    weak_bullets,
)
from coreloop.learn.knowledge.store import utc_text, writing

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)


@pytest.fixture
def knowledge(tmp_path: Path):
    with writing(tmp_path / "x.db") as connection:
        yield connection


def _merge(connection, text="마진을 본다", intent="profitability", *, good=0, bad=0, **more):
    merge_bullet(
        connection, intent, text, successes=good, failures=bad, **{"source": "manual", "now": NOW, **more}
    )


@pytest.mark.parametrize(
    ("successes", "failures", "is_good", "is_weak"),
    [
        (5, 0, True, False),
        (5, 1, True, False),
        (5, 2, False, False),
        (4, 0, False, False),
        (0, 0, False, False),
        (1, 2, False, True),
        (50, 16, True, False),
        (50, 17, False, False),
    ],
)
def test_thresholds_of_good_and_weak_bullets(successes, failures, is_good, is_weak, knowledge):
    _merge(knowledge, good=successes, bad=failures)
    assert bool(good_bullets(knowledge)) == is_good
    assert bool(weak_bullets(knowledge)) == is_weak


def test_a_new_bullet_is_inserted_and_an_existing_bullet_counted(knowledge):
    _merge(knowledge, source="reflection")
    assert bullets(knowledge, "profitability")[0].quality == 0.5
    _merge(knowledge, good=3, bad=1, now=NOW + timedelta(days=1))
    (stored,) = bullets(knowledge, "profitability")
    assert stored == Bullet(
        intent="profitability",
        sector="",
        bullet="마진을 본다",
        success_count=3,
        fail_count=1,
        quality=4 / 6,
        source="reflection",
        created_at=utc_text(NOW),
        last_used=utc_text(NOW + timedelta(days=1)),
    )


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("가" * 200, "가" * 200),
        ("가" * 201, "가" * 200),
        ("a\n b\t\tc ", "a b c"),
        ("a" * 199 + " b", "a" * 199),
    ],
)
def test_a_bullet_is_one_line_of_at_most_200_characters(text, stored, knowledge):
    _merge(knowledge, text)
    _merge(knowledge, stored, good=1)
    assert [(row.bullet, row.success_count) for row in bullets(knowledge, "profitability")] == [(stored, 1)]


@pytest.mark.parametrize(
    ("intent", "text", "good"), [("", "x", 0), (" ", "x", 0), ("i", " \n ", 0), ("i", "x", -1)]
)
def test_empty_bullets_and_negative_counts_are_refused(intent, text, good, knowledge):
    with pytest.raises(UsageError, match="a playbook bullet"):
        _merge(knowledge, text, intent, good=good)
    assert weak_bullets(knowledge) == []


def test_pruning_removes_and_returns_weak_bullets(knowledge):
    for text, good, bad in (("weak", 0, 1), ("weaker", 0, 9), ("even", 4, 4), ("new", 0, 0)):
        _merge(knowledge, text, good=good, bad=bad)
    assert [row.bullet for row in prune(knowledge)] == ["weak", "weaker"]
    assert {row.bullet for row in bullets(knowledge, "profitability")} == {"even", "new"}
    assert prune(knowledge) == []
