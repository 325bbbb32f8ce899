"""Which description was in force: by the recorded version, else by the merge's time."""

from datetime import date
from pathlib import Path

import pytest

from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import run_effect
from coreloop.learn.effect.verdict import EffectVerdict
from coreloop.observe.descriptions_in_force import SentTool, keep_descriptions
from effects import Planted, Shop, at, dated, git, make_shop, write_days

ONE = (Planted("refund_order", 0.3, 0.02, 60),)


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None) -> Shop:
    return make_shop(tmp_path, ONE)


def _effect(shop: Shop, now: int = 100) -> Effect:
    return run_effect(shop.workspace, now=at(now)).effects[0]


def _descriptions(shop: Shop) -> list[str]:
    sent = ([SentTool("refund_order", text, {})] for text in ("Do.", "Do. - Always"))
    return [keep_descriptions(tools, shop.workspace.audit_dir) for tools in sent]


@pytest.mark.slow
def test_without_a_version_the_day_of_the_merge_and_the_lag_are_left_out(shop: Shop):
    write_days(shop, ONE, range(100))
    effect = _effect(shop)
    assert effect.since == date(2026, 5, 3)
    assert any("both descriptions" in note and note.endswith(": 2 days") for note in effect.notes)


@pytest.mark.slow
@pytest.mark.parametrize("field", ["tools_version", "descriptions"])
def test_a_later_deployment_is_dated_by_what_was_recorded(field: str, shop: Shop):
    deployed = (Planted("refund_order", 0.3, 0.02, 69),)
    old, new = git(shop, "rev-parse", "HEAD~1"), shop.shas["refund_order"]
    if field == "descriptions":
        old, new = _descriptions(shop)
    write_days(shop, deployed, range(70), **{field: old})
    write_days(shop, deployed, range(70, 100), **{field: new})
    effect = _effect(shop)
    assert (effect.verdict, effect.since) == (EffectVerdict.HELPS, date(2026, 5, 11))


@pytest.mark.slow
def test_a_description_that_goes_back_is_the_one_before(shop: Shop):
    old, new = _descriptions(shop)
    write_days(shop, ONE, range(61), descriptions=old)
    write_days(shop, ONE, range(61, 90), descriptions=new)
    write_days(shop, (Planted("refund_order", 0.3, 0.3, 60),), range(90, 100), descriptions=old)
    effect = _effect(shop)
    assert (effect.since, effect.until) == (date(2026, 5, 2), date(2026, 5, 30))


def test_without_a_past_it_cannot_be_told(shop: Shop):
    write_days(shop, ONE, range(55, 100))
    effect = _effect(shop)
    assert effect.verdict is EffectVerdict.UNKNOWN
    assert effect.reason == "5 days with calls before it, at least 14 are needed"


@pytest.mark.slow
def test_a_model_that_changed_with_it_cannot_be_told_without_controls(shop: Shop):
    write_days(shop, ONE, range(61), is_shared=True, model="old")
    write_days(shop, ONE, range(61, 100), is_shared=True, model="new")
    effect = _effect(shop)
    assert effect.verdict is EffectVerdict.UNKNOWN
    assert effect.reason.startswith("the model changed with it, and no other tool shows")
    assert effect.notes == ("another model since then: new",)


@pytest.mark.slow
def test_a_change_of_a_tool_outside_python_has_a_verdict(tmp_path: Path, quiet_git: None):
    shop = make_shop(tmp_path, [])
    text = '{"tools": [{"name": "pay", "description": "Pays."}]}\n'
    shop.project.commit({"tools.json": text}, "first", **dated(0))
    shop.project.commit({"tools.json": text.replace("Pays.", "Pays. Pass a reason.")}, "words", **dated(60))
    write_days(shop, (Planted("pay", 0.3, 0.02, 60),), range(100))
    effects = run_effect(shop.workspace, now=at(100))
    assert [effect.verdict for effect in effects.effects] == [EffectVerdict.HELPS]
    assert "pay" not in effects.unknown
