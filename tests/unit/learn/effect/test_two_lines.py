"""Two lines of one tool that name different failures are judged each on its own, the tool's whole once."""

from pathlib import Path
from random import Random

import pytest

from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import run_effect
from coreloop.learn.effect.verdict import EffectVerdict
from effects import Planted, at, make_shop, write_calls, write_days
from logs import call, failed

FIRST = Planted("refund_order", 0.2, 0.02, 60)
SECOND = Planted("refund_order", 0.2, 0.02, 65, line="- amount: at most 100")


def _effects(folder: Path, *, second_helps: bool) -> list[Effect]:
    """Ninety days in which some calls have no reason, and some a large amount, until its line is merged."""
    shop, rng = make_shop(folder, [FIRST, SECOND]), Random(5)
    write_days(shop, [], range(100))
    for day in range(100):
        calls = []
        for _ in range(40):
            no_reason = rng.random() < (0.2 if day <= 60 else 0.02)
            large = rng.random() < (0.2 if day <= 65 or not second_helps else 0.02)
            args = {"amount": 500 if large else 50, **({} if no_reason else {"reason": "late"})}
            calls.append((failed if no_reason or large else call)("refund_order", args))
        write_calls(shop, day + 0.1, calls)
    return [*run_effect(shop.workspace, now=at(100)).effects]


@pytest.mark.slow
@pytest.mark.parametrize("second_helps", [True, False])
def test_each_line_has_its_own_verdict(second_helps: bool, tmp_path: Path, quiet_git: None):
    first, second = _effects(tmp_path, second_helps=second_helps)
    assert (first.lines, second.lines) == ((FIRST.line,), (SECOND.line,))
    assert first.verdict is EffectVerdict.HELPS
    assert second.verdict is (EffectVerdict.HELPS if second_helps else EffectVerdict.NO_EFFECT)
    assert first.whole is None
    assert second.whole is not None
    assert second.whole.failed.high < 0  # both together
