"""The maintainer's ninety days: a helpful, a useless and a harmful merge get their verdicts and days."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from coreloop.cli.effect import effects_lines
from coreloop.cli.output import Output, show
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import run_effect
from coreloop.learn.effect.verdict import EffectVerdict
from effects import Planted, Shop, at, make_shop, write_days

PLANTED = (
    Planted("refund_order", 0.21, 0.03, 60),
    Planted("cancel_order", 0.16, 0.17, 60),
    Planted("change_address", 0.00, 0.30, 60),
)


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None) -> Shop:
    shop = make_shop(tmp_path, PLANTED)
    write_days(shop, PLANTED, range(150))
    return shop


@pytest.mark.slow
def test_one_helps_one_has_no_effect_and_one_hurts(shop: Shop, capsys: pytest.CaptureFixture[str]):
    found = run_effect(shop.workspace, now=at(150))
    effects = {effect.change.tool: effect for effect in found.effects}
    verdicts = {tool: effect.verdict for tool, effect in effects.items()}
    assert verdicts == {
        "refund_order": EffectVerdict.HELPS,
        "cancel_order": EffectVerdict.NO_EFFECT,
        "change_address": EffectVerdict.HURTS,
    }
    days = {tool: _days(effect) for tool, effect in effects.items()}
    assert days["refund_order"] <= 12
    assert days["change_address"] <= 6
    assert all(effect.lines == ("- Always pass reason",) for effect in effects.values())
    assert effects["refund_order"].change.pull_request == 11
    show(Output(None, effects_lines(found)))
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("change_address: hurts, known since ")  # alarms come first
    at_refund = shown.index(f"refund_order: helps, known since {effects['refund_order'].decided_on}")
    assert shown[at_refund + 2] == "  + Always pass reason"
    assert shown[at_refund + 4].startswith("  against the line: 2")
    older = [effect for effect in found.effects if effect.verdict is not EffectVerdict.HURTS]
    show(Output(None, effects_lines(replace(found, effects=(*older, *found.effects)))))
    shown = capsys.readouterr().out
    assert "-v shows what else is known, 2 older changes\n" in shown
    assert len(shown.splitlines()) <= 30  # one screen
    assert {effect.change.tool: effect.facts["verdict"] for effect in found.effects} == {
        "refund_order": "helps",
        "cancel_order": "no effect",
        "change_address": "hurts",
    }


def _days(effect: Effect) -> int:
    assert effect.decided_on is not None
    return (effect.decided_on - date(at(60).year, at(60).month, at(60).day)).days
