"""One number of waiting proposals on every screen."""

from datetime import UTC, datetime

import pytest

from coreloop.admin.status.read_status import read_status
from coreloop.learn.verdicts.judge import judge
from coreloop.learn.verdicts.proposal_state import kept_states, pending
from coreloop.observe.judgments import VerdictLetter, read_verdicts
from coreloop.web.pages.changes import read_decided
from coreloop.web.pages.health import read_health
from coreloop.web.pages.page_data import PageSource
from coreloop.web.pages.review import read_review


def test_an_accepted_proposal_waits_on_no_screen(source: PageSource):
    def counts() -> tuple[int, int, int]:
        states = read_decided(source)["counts"]
        return states["waiting"], read_review(source)["n_proposals"], states.get("accepted", 0)

    waiting, listed, accepted = counts()
    assert (waiting, accepted) == (listed, 0)
    item = read_review(source)["proposals"][0].entry.id
    judge(source.workspace, item, VerdictLetter.PASS, cause=None, by="Ann", now=datetime.now(UTC))
    assert counts() == (waiting - 1, waiting - 1, 1)


@pytest.mark.slow
def test_status_health_review_and_judge_count_the_same_proposals(source: PageSource):
    now = datetime.now(UTC)
    status = read_status(source.workspace, now=now, environ={})
    expected = status.candidates.pending + status.counterexamples.pending
    waiting = pending(kept_states(source.workspace, read_verdicts(source.workspace.judgments_dir)))
    assert expected > 0
    assert [expected] * 3 == [
        read_review(source)["n_proposals"],
        len(waiting),
        read_health(source)["counts"]["waiting"],
    ]
    assert all(item.text for item in waiting)
