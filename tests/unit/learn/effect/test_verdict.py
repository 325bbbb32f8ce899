"""The estimate and the verdict on counts, without a log."""

import pytest

from coreloop.learn.effect.estimate import DayCount, Periods, Tally, estimate, tally
from coreloop.learn.effect.verdict import EffectVerdict, daily_z, decide

MODEL = ("m", "c")


def days(
    first: int, n_days: int, calls: int, failed: int, stratum: tuple[str, str] = MODEL
) -> list[DayCount]:
    """Days with the same number of calls and failures, each call a case of its own."""
    return [DayCount(first + at, {stratum: (calls, failed)}, calls, failed, failed) for at in range(n_days)]


def periods(before: tuple[int, int], after: tuple[int, int], *, n_after: int = 30) -> Periods:
    return Periods(tally(days(0, 56, *before)), tally(days(56, n_after, *after)))


STEADY = [periods((40, 4), (40, 4)) for _ in range(4)]


def test_what_happened_to_all_tools_is_not_the_changes_effect():
    worse = [periods((40, 4), (40, 8)) for _ in range(4)]
    found = estimate(periods((40, 4), (40, 8)), worse)
    assert found.expected == pytest.approx(0.2, abs=0.005)
    assert abs(found.difference) < 0.005


@pytest.mark.parametrize(("days_after", "z"), [(7, 2.99), (90, 2.52)])
def test_the_bound_of_daily_looks(days_after: int, z: float):
    found = estimate(periods((40, 4), (40, 4), n_after=days_after), STEADY)
    assert daily_z(found) == pytest.approx(z, abs=0.005)


def test_without_controls_the_bound_is_that_of_the_mixture():
    found = estimate(periods((40, 4), (40, 4), n_after=28), [])
    assert found.n_controls == 0
    assert daily_z(found) == pytest.approx(3.03, abs=0.02)


def _decided(before: tuple[int, int], after: tuple[int, int], n_days: int = 90):
    past, now = tally(days(0, 56, *before)), Tally()
    added = iter(days(56, n_days, *after))

    def read(day: int):
        now.add(next(added))
        return estimate(Periods(past, now), STEADY_90[day - 1])

    return decide(n_days, read)


STEADY_90 = [[periods((40, 4), (40, 4), n_after=day)] * 4 for day in range(1, 91)]


def test_hurts_needs_three_days_and_five_failures():
    decision = _decided((40, 1), (40, 20))
    assert (decision.verdict, decision.day) == (EffectVerdict.HURTS, 3)


def test_the_same_rate_has_no_effect():
    decision = _decided((40, 6), (40, 6))
    assert decision.verdict is EffectVerdict.NO_EFFECT
    assert decision.day is not None
    assert 14 <= decision.day <= 28
