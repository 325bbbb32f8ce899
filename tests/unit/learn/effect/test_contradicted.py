"""A verdict that what else became worse contradicts is none, and prepares nothing."""

from pathlib import Path

import pytest

from coreloop.cli.effect import effects_lines
from coreloop.cli.output import Output, show
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import Effects
from coreloop.learn.effect.verdict import EffectVerdict
from effects import CONTROLS, Planted, at, effect_at, make_shop, write_days
from logs import failed, record, write_log

DAY = 60
pytestmark = pytest.mark.slow


def _shown(effect: Effect, capsys: pytest.CaptureFixture[str]) -> str:
    show(Output(None, effects_lines(Effects((effect,), {}))))
    return capsys.readouterr().out


@pytest.mark.parametrize("n_days", [4, 10, 40])
def test_hurts_is_not_said_where_other_tools_failed_more_too(
    n_days: int, tmp_path: Path, quiet_git: None, capsys: pytest.CaptureFixture[str]
):
    planted = Planted("refund_order", 0.05, 0.35, DAY)
    shop = make_shop(tmp_path, [planted])
    others = [Planted(tool, 0.05, 0.35, DAY) for tool in CONTROLS]
    write_days(shop, [planted, *others], range(DAY + 1 + n_days), is_shared=True)
    effect = effect_at(shop, DAY + 1 + n_days)
    assert effect.verdict is EffectVerdict.UNKNOWN
    assert (effect.todo, effect.why_retire) == ("", "")
    shown = _shown(effect, capsys)
    assert "  cannot be told: the failures of other tools rose" in shown
    assert "also worse: failed calls of send_letter" in shown
    assert "hurts" not in shown


def test_hurts_is_said_where_only_this_tool_failed_more_and_without_a_comparison_prepares_nothing(
    tmp_path: Path, quiet_git: None
):
    planted = Planted("refund_order", 0.05, 0.35, DAY)
    shop = make_shop(tmp_path, [planted])
    write_days(shop, [planted], range(DAY + 11), is_shared=True)
    effect = effect_at(shop, DAY + 11)
    assert effect.verdict is EffectVerdict.HURTS
    assert "promote --revert" in effect.todo
    assert effect.look is not None
    assert (effect.look.estimate.n_controls, effect.why_retire) == (0, "")


def test_helps_is_not_said_where_the_failures_of_the_tool_rose(
    tmp_path: Path, quiet_git: None, capsys: pytest.CaptureFixture[str]
):
    planted = Planted("refund_order", 0.23, 0.02, DAY)
    shop = make_shop(tmp_path, [planted])
    write_days(shop, [planted], range(DAY + 31))
    assert effect_at(shop, DAY + 31).verdict is EffectVerdict.HELPS
    for day in range(DAY + 1, DAY + 31):
        rows = [
            record(
                ts=at(day + 0.1).isoformat(),
                request_id=f"moved-{day}-{number}",
                question=f"moved {day} {number}",
                session_hash=f"session:moved{day}n{number}",
                category_hash="SHOP-orders",
                tool_calls=[failed("refund_order", {"order_id": f"B-{number}", "reason": "none"})],
            )
            for number in range(40)
        ]
        write_log(shop.workspace.records_dir / f"moved-{day}.jsonl", rows)
    effect = effect_at(shop, DAY + 31)
    assert effect.verdict is EffectVerdict.UNKNOWN
    shown = _shown(effect, capsys)
    assert "  cannot be told: the failures that the line names fell" in shown
    assert "also worse: failed calls of refund_order 2" in shown
