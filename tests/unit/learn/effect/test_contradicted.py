"""What else failed decides, too: other tools, and other failures of the tool."""

from pathlib import Path

import pytest

import effects
from coreloop.cli.effect import effects_lines
from coreloop.cli.output import Output, show
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import Effects
from coreloop.learn.effect.verdict import EffectVerdict
from effects import CONTROLS, Planted, effect_at, make_shop, write_calls, write_days
from logs import failed

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
    assert effect.title == "cannot be told: all tools changed"
    assert (effect.todo, effect.why_retire) == ("", "")
    assert "hurts" not in _shown(effect, capsys)


@pytest.mark.parametrize("controls", [CONTROLS, ()])
def test_hurts_prepares_a_draft_only_where_other_tools_were_compared_with(
    controls: tuple[str, ...], tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(effects, "CONTROLS", controls)
    planted = Planted("refund_order", 0.05, 0.35, DAY)
    shop = make_shop(tmp_path, [planted])
    write_days(shop, [planted], range(DAY + 11), is_shared=True)
    effect = effect_at(shop, DAY + 11)
    assert effect.verdict is EffectVerdict.HURTS
    assert "promote --revert" in effect.todo
    assert effect.look is not None
    assert (effect.look.n_controls, effect.why_retire) == (len(controls), "it hurts" if controls else "")


def test_failures_that_moved_are_an_alarm_and_no_help(
    tmp_path: Path, quiet_git: None, capsys: pytest.CaptureFixture[str]
):
    planted = Planted("refund_order", 0.23, 0.02, DAY)
    shop = make_shop(tmp_path, [planted])
    write_days(shop, [planted], range(DAY + 31))
    for day in range(DAY + 1, DAY + 31):
        calls = [failed("refund_order", {"order_id": f"B-{n}", "reason": "none"}) for n in range(9)]
        write_calls(shop, day + 0.1, calls)
    effect = effect_at(shop, DAY + 31)
    assert effect.verdict is EffectVerdict.MOVED
    assert (effect.is_alarm, effect.why_retire) == (True, "")
    shown = _shown(effect, capsys)
    assert shown.startswith("refund_order: moved, known since ")
    assert "all its failures: 2" in shown
