"""What becomes of a line later: settled effects are kept, a line goes stale, a failure returns."""

from pathlib import Path

import pytest

from coreloop.learn.effect import run
from coreloop.learn.effect.run import run_effect
from coreloop.learn.effect.verdict import EffectVerdict
from effects import Planted, Shop, at, effect_at, make_shop, proposal_id, write_days
from logs import call, failed, record, write_log

ONE = (Planted("refund_order", 0.3, 0.02, 60),)


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None) -> Shop:
    return make_shop(tmp_path, ONE)


@pytest.mark.slow
def test_a_settled_effect_outlives_its_records(shop: Shop):
    write_days(shop, ONE, range(200))
    first = effect_at(shop, 200)
    assert shop.workspace.effects_file.exists()
    for path in shop.workspace.records_dir.iterdir():
        path.unlink()
    assert effect_at(shop, 400) == first
    shop.workspace.effects_file.write_text("{")
    assert effect_at(shop, 400).verdict is EffectVerdict.UNKNOWN


@pytest.mark.slow
def test_a_line_against_which_calls_succeed_is_stale(shop: Shop):
    write_days(shop, ONE, range(100))
    assert not effect_at(shop, 100).is_stale
    rows = [
        record(
            ts=at(99.9).isoformat(),
            request_id=f"late-{n}",
            session_hash=f"session:late{n}",
            tool_calls=[call("refund_order", {"order_id": "1"})],
        )
        for n in range(60)
    ]
    write_log(shop.workspace.records_dir / "late.jsonl", rows)
    effect = effect_at(shop, 100)
    assert effect.is_stale
    assert effect.todo.endswith(f"promote --revert {proposal_id(11)}")


@pytest.mark.slow
def test_a_record_of_a_day_that_is_not_over_changes_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch):
    write_days(shop, ONE, range(100))
    first = run_effect(shop.workspace, now=at(100.2)).effects
    rows = [
        record(
            ts=at(day).isoformat(),
            request_id=f"new-{day}-{n}",
            tool_calls=[failed("refund_order", {"order_id": "1"})],
        )
        for day in (100.1, 101.1)
        for n in range(300)
    ]
    write_log(shop.workspace.records_dir / f"{at(100):%Y-%m-%d}.jsonl", rows)
    monkeypatch.setattr(run, "merge", None)
    assert run_effect(shop.workspace, now=at(100.3)).effects == first
    monkeypatch.undo()
    (effect,) = run_effect(shop.workspace, now=at(101.5)).effects
    assert effect.until == at(100).date()
