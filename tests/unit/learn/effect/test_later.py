"""What becomes of a line later: settled effects are kept, a line goes stale, a failure returns."""

from pathlib import Path

import pytest

from coreloop.learn.effect import run
from coreloop.learn.effect.run import run_effect
from coreloop.learn.effect.verdict import EffectVerdict
from effects import Planted, Shop, at, effect_at, git, make_shop, proposal_id, write_calls, write_days
from logs import call, failed
from promoting import run_git

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
    write_calls(shop, 99.9, [call("refund_order", {"order_id": "1"})] * 60)
    effect = effect_at(shop, 100)
    assert effect.is_stale
    assert effect.todo.endswith(f"promote --revert {proposal_id(11)}")


@pytest.mark.slow
def test_a_record_of_a_day_that_is_not_over_changes_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch):
    write_days(shop, ONE, range(100))
    first = run_effect(shop.workspace, now=at(100.2)).effects
    write_calls(shop, 100.1, [failed("refund_order", {"order_id": "1"})] * 300)
    monkeypatch.setattr(run, "merge", None)
    assert run_effect(shop.workspace, now=at(100.3)).effects == first
    monkeypatch.undo()
    write_calls(shop, 101.1, [failed("refund_order", {"order_id": "1"})] * 300)
    (effect,) = run_effect(shop.workspace, now=at(101.5)).effects
    assert effect.until == at(100).date()


@pytest.mark.slow
def test_tools_that_are_called_no_more_are_no_comparison(shop: Shop):
    write_days(shop, (Planted("refund_order", 0.3, 0.3, 60),), range(66))
    for day in range(66, 80):
        write_calls(shop, day, [failed("refund_order", {})] * 9 + [call("refund_order", {})] * 20)
    effect = effect_at(shop, 80)
    assert (effect.verdict, effect.more_calls) == (EffectVerdict.UNKNOWN, None)
    assert effect.reason == "the tools that it was compared with have no calls any more"


def test_few_calls_at_weekends_are_compared_with_those_of_other_days(shop: Shop):
    for day in range(32, 90):
        calls = call("refund_order", {"reason": "late"}), failed("refund_order", {})
        write_calls(shop, day, [calls[day % 2]])
    effect = effect_at(shop, 90)
    assert effect.look is not None
    assert (effect.look.n, effect.look.left_out) == (28, 0)


def test_a_merge_that_is_not_pushed_is_said(shop: Shop, tmp_path: Path):
    run_git(tmp_path, "init", "--quiet", "--bare", str(shop.project.remote))
    git(shop, "remote", "add", "origin", str(shop.project.remote))
    git(shop, "push", "--quiet", "--set-upstream", "origin", "main~1:refs/heads/main")
    problem = run_effect(shop.workspace, now=at(100)).problem
    assert problem.startswith("main is ahead of its remote branch")
