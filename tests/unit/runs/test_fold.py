"""The state of a run from its events."""

import pytest

from coreloop.base.errors import RunError
from coreloop.runs import events as happened
from coreloop.runs.events import Event
from coreloop.runs.fold import MAX_ERRORS
from coreloop.runs.state import state_json
from happenings import AT, created, fold
from rows import each_row


def test_the_error_log_is_bounded_and_keeps_the_newest():
    failures = [
        happened.StepFailed(at=AT, name="ask", key="k", attempt=number, error="no answer")
        for number in range(1, MAX_ERRORS + 50)
    ]
    log = state_json(fold([created(), *failures]))["error_log"]
    assert len(log) == MAX_ERRORS
    assert log[-1] == {"attempt": MAX_ERRORS + 49, "error": "no answer", "at": AT.isoformat()}


@each_row(
    "events",
    [[happened.UntilMet(at=AT)], [created(), created()]],
    ids=["no creation", "created twice"],
)
def test_a_history_that_cannot_be_a_run_is_refused(events: list[Event]):
    with pytest.raises(RunError):
        fold(events)
