"""A change of a verdict is announced once, and status shows each change before and after."""

from dataclasses import replace
from datetime import UTC, date, datetime

from coreloop.admin.status.notify import Notified, find_changes
from coreloop.admin.status.status import Standing, Status
from coreloop.cli.effect import effect_chart
from coreloop.cli.status import show_status
from coreloop.learn.effect.description_changes import Change
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import EffectVerdict
from effects import LOOK

NOW = datetime(2026, 4, 25, tzinfo=UTC)
CHANGE = Change(
    tool="refund_order",
    target="shop.py::refund_order",
    sha="0123456789abcdef",
    subject="x",
    place=1,
    merged_at=NOW,
    ids=("ce-2026-04-01-001",),
    keys=("k",),
)
HELPS = Effect(change=CHANGE, verdict=EffectVerdict.HELPS, look=LOOK, decided_on=date(2026, 4, 24))


def _status(effect: Effect) -> Status:
    nothing = Standing(pending=0, oldest=None, promoted=0, rejected=0)
    return Status(
        generated_at=NOW,
        log=None,
        sieved=None,
        candidates=nothing,
        counterexamples=nothing,
        promotions=None,
        effects=(effect,),
    )


def _said(effect: Effect, notified: Notified) -> list[str]:
    changes = list(find_changes(_status(effect), notified))
    for change in changes:
        notified.note(change, NOW)
    return [change.message for change in changes]


def test_each_change_of_a_verdict_is_said_once():
    notified = Notified()
    assert _said(replace(HELPS, verdict=EffectVerdict.TOO_EARLY), notified) == []
    assert _said(HELPS, notified) == ["refund_order: the change ce-2026-04-01-001: helps, since 2026-04-24"]
    assert _said(HELPS, notified) == []
    assert _said(replace(HELPS, has_returned=True), notified) == [
        "refund_order: the change ce-2026-04-01-001: helps, and the failure came back"
    ]
    assert _said(replace(HELPS, is_stale=True), notified) == [
        "refund_order: the change ce-2026-04-01-001: stale"
    ]
    (hurts,) = _said(replace(HELPS, verdict=EffectVerdict.HURTS), notified)
    assert "hurts" in hurts


def test_the_chart_has_the_expected_share_and_the_interval_of_the_share_after():
    chart = effect_chart(LOOK, columns=31)
    assert chart.startswith("0 ")
    assert chart.endswith(" 30%")
    row = chart[2:33]
    places = [row.index(mark) for mark in "├●┤○"]
    assert places == [5, 10, 15, 30]  # 5, 10, 15 and 30 of 30 %


def test_status_shows_the_change_before_and_after(capsys):
    show_status(_status(HELPS))
    said = capsys.readouterr().out
    assert "refund_order: helps" in said
    assert effect_chart(LOOK) in said
    assert "30.0% expected, 10.0% now" in said
