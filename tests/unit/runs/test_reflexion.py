"""Reflexion is bounded and keeps what worked."""

import pytest

from coreloop.base.language.words import MAX_QUERY_CHARS
from coreloop.runs import reflexion
from coreloop.runs.reflexion import (
    PastFailure,
    Reflexion,
)


def test_everything_is_bounded(monkeypatch: pytest.MonkeyPatch):
    for name, maximum in (("MAX_FAILURES", 6), ("MAX_PATTERNS", 4), ("MAX_SITUATIONS", 3), ("MAX_USES", 2)):
        monkeypatch.setattr(reflexion, name, maximum)
    value = Reflexion()
    for run in range(5):
        for step in range(10):
            value = value.with_failure(
                PastFailure(f"r{run}", step, "상황" * 9_999, "원인" * 9_999, f"{step}")
            )
            value = value.credit(
                f"strategy {step % 6}",
                situation=f"s {run} {step}",
                run_id=f"r{run}",
                iteration=step,
                progress=True,
            )
    assert len(value.failures) == 6
    assert len(value.success_patterns) == 4
    assert all(len(failure.situation) <= MAX_QUERY_CHARS for failure in value.failures)
    assert all(len(pattern.situations) <= 3 for pattern in value.success_patterns)
    assert all(len(pattern.uses) <= 2 for pattern in value.success_patterns)
    assert value.failures[-1].run_id == "r4"
