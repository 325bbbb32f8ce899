"""What ``init`` says of the first drafts: from the records there are, without writing anything."""

from datetime import timedelta
from pathlib import Path

import pytest

import effects
from coreloop.admin.init.run import preview_drafts
from coreloop.base.project.workspace import open_workspace
from effects import FIRST_DAY, Planted, make_shop, write_days

FAILING = (Planted("refund_order", 0.3, 0.3, 1000),)
LINE = ("refund_order", "Always pass reason")


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None) -> effects.Shop:
    made = make_shop(tmp_path, ())
    source = effects.source({name: [] for name in ("refund_order", *effects.CONTROLS)})
    (made.project.root / effects.FILE).write_text(source, encoding="utf-8")
    return made


def test_no_records_give_no_preview(shop: effects.Shop):
    assert preview_drafts(shop.workspace, now=FIRST_DAY) is None


def test_drafts_are_those_that_the_records_support_and_nothing_is_written(shop: effects.Shop):
    write_days(shop, FAILING, range(6), calls=20)
    before = sorted(shop.project.root.rglob("*"))
    preview = preview_drafts(open_workspace(shop.project.root), now=FIRST_DAY + timedelta(days=7))
    assert preview is not None
    assert LINE in preview.drafts
    assert sorted(shop.project.root.rglob("*")) == before


def test_a_large_log_is_read_from_its_newest_day_up_to_a_limit(shop: effects.Shop):
    write_days(shop, FAILING, range(12), calls=20)
    sizes = [file.stat().st_size for file in sorted(shop.workspace.records_dir.glob("*.jsonl"))]
    now = FIRST_DAY + timedelta(days=13)
    some = preview_drafts(shop.workspace, now=now, max_bytes=sum(sizes[-4:]) + sizes[-5] // 2)
    every = preview_drafts(shop.workspace, now=now)
    assert some is not None
    assert every is not None
    assert (some.n_unread, every.n_unread) == (8, 0)
    assert 0 < some.n_records < every.n_records
    assert LINE in some.drafts
