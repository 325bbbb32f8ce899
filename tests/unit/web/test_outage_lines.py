"""What a service's log says of its databases: a line when they are away, and one when they are back."""

from itertools import count

import pytest

from coreloop.base.errors import RunStoreError
from coreloop.web.outage import Outage

AWAY = RunStoreError("the connection is closed")


def states(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.facts["state"] for record in caplog.records]


def test_an_attempt_that_began_before_the_end_of_an_outage_begins_no_other(caplog: pytest.LogCaptureFixture):
    outage = Outage(count().__next__)
    first, late = outage.now(), outage.now()
    with caplog.at_level("INFO", "coreloop.web"):
        outage.failed(AWAY, began=first)
        outage.worked()
        outage.failed(AWAY, began=late)
        outage.worked()
    assert states(caplog) == ["away", "back"]


def test_what_fails_after_the_end_of_an_outage_is_another(caplog: pytest.LogCaptureFixture):
    outage = Outage(count().__next__)
    with caplog.at_level("INFO", "coreloop.web"):
        for _ in range(2):
            outage.failed(AWAY, began=outage.now())
            outage.failed(AWAY, began=outage.now())
            outage.worked()
    assert states(caplog) == ["away", "back", "away", "back"]
