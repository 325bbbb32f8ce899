"""Status shows each change of a description before and after."""

from datetime import UTC, date, datetime

from coreloop.admin.status.status import Standing, Status
from coreloop.cli.effect import effect_chart
from coreloop.cli.status import status_lines
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


def test_the_chart_has_the_expected_share_and_the_interval_of_the_share_after():
    chart = effect_chart(LOOK, columns=31)
    assert chart.startswith("0 ")
    assert chart.endswith(" 30%")
    row = chart[2:33]
    places = [row.index(mark) for mark in "├●┤○"]
    assert places == [5, 10, 15, 30]  # 5, 10, 15 and 30 of 30 %


def test_status_shows_the_change_before_and_after(capsys):
    said = "\n".join(status_lines(_status(HELPS)))
    assert "refund_order: helps" in said
    assert effect_chart(LOOK) in said
    assert "30.0% expected, 10.0% now" in said
