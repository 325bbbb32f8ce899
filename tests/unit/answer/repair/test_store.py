"""Repair's tables, in a SQLite file and in Postgres."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from coreloop.answer.repair.store import Evidence, Feedback, RepairStore, open_repair_store
from coreloop.base.errors import RunStoreError, UsageError
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from postgres_servers import address_on, databases
from researching import MOMENT

DAY = timedelta(days=1)


@pytest.fixture(params=databases("sqlite"))
def environ(request: pytest.FixtureRequest, database_on: Callable[[str], str]) -> dict[str, str]:
    if request.param == "sqlite":
        return {}
    return {"CORELOOP_DATABASE_URL": address_on(request.param, database_on)}


@contextmanager
def opened(folder: Path, environ: dict[str, str]) -> Iterator[RepairStore]:
    with open_repair_store(Workspace(folder, Settings()), environ=environ) as store:
        yield store


@pytest.fixture
def store(tmp_path: Path, environ: dict[str, str]) -> Iterator[RepairStore]:
    with opened(tmp_path, environ) as store:
        yield store


def feedback(number: int, *, message: str = "m", reason: str = "") -> Feedback:
    return Feedback(
        id=f"{number:026}",
        chat_id="c",
        message_id=message,
        kind="down",
        reason=reason,
        mended_by="",
        created_at=MOMENT + number * DAY,
    )


def evidence(content: str) -> Evidence:
    return Evidence(
        question="q",
        location="docs/a.md",
        symbol="",
        line=1,
        content=content,
        version="1-1",
        created_at=MOMENT,
    )


def test_text_that_no_database_holds_loses_only_that(store: RepairStore):
    store.add_feedback(feedback(1, reason="a\x00b\ud800c"))
    assert store.feedback_of("m")[0].reason == "ab?c"


def test_a_gap_that_comes_back_is_counted(store: RepairStore):
    for _ in range(3):
        gap = store.open_gap(topic="왜?\x00", file="a.md", symbol="", reason="search_miss", now=MOMENT)
    store.open_gap(topic="왜?", file="b.md", symbol="", reason="search_miss", now=MOMENT)
    assert [(one.file, one.seen) for one in store.gaps()] == [("a.md", 3), ("b.md", 1)]
    store.close_gaps(gap_id=gap.id, by="person", now=MOMENT)
    with pytest.raises(UsageError, match="no open gap"):
        store.close_gaps(gap_id=gap.id, by="person", now=MOMENT)
    store.close_gaps(topic="왜?", by="repair", now=MOMENT)
    assert store.gaps() == []
    assert store.open_gap(topic="왜?", file="a.md", symbol="", reason="search_miss", now=MOMENT).seen == 1


def test_a_suggestion_is_made_once_and_decided_once(store: RepairStore):
    details = {"code_symbol": "a.py::total", "schema_ref": "b.yaml#/total", "reason": "both"}
    made = [store.suggest("schema.link.suggest", details, now=MOMENT) for _ in "ab"]
    assert made[0] == made[1]
    store.decide(made[0].id, "applied", now=MOMENT)
    with pytest.raises(UsageError, match="is applied already"):
        store.decide(made[0].id, "rejected", now=MOMENT)
    with pytest.raises(UsageError, match="no suggestion"):
        store.decide("unknown", "rejected", now=MOMENT)
    assert store.suggestions(status="pending") == []
    assert store.suggest("schema.link.suggest", details, now=MOMENT).status == "applied"


def test_what_is_old_is_forgotten(store: RepairStore, tmp_path: Path):
    store.add_feedback(feedback(1, reason="Kim Minjun"))
    store.add_feedback(feedback(9))
    store.inject(evidence("secret"))
    store.forget_before(MOMENT + 5 * DAY)
    assert [row.id for row in store.feedback_of("m")] == [feedback(9).id]
    assert store._select(Evidence, "SELECT * FROM evidence") == []
    assert not [path for path in tmp_path.rglob("*.db*") if b"Minjun" in path.read_bytes()]


def test_a_file_of_another_kind_is_refused(tmp_path: Path):
    path = tmp_path / "data" / "runs" / "coreloop.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(RunStoreError, match="not a valid SQLite database"), opened(tmp_path, {}):
        pass
