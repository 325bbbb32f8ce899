"""The state of the proposals of all days."""

from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest

from coreloop.admin.status.status import Standing, count_standing
from coreloop.learn.proposals.entry import Statement
from coreloop.learn.proposals.proposal_files import Proposed
from coreloop.learn.verdicts.proposal_state import GitPromotions, read_states
from coreloop.observe.judgments import HumanVerdict, HumanVerdicts, VerdictLetter
from promoting import statement

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)


def verdict(key: str | None, given: VerdictLetter, *, id: str = "cand-2026-04-25-001") -> HumanVerdict:
    return HumanVerdict(id=id, key=key, verdict=given, cause=None, judged_at=NOW, judged_by="Ann")


LINE = msgspec.convert(statement(), Statement)
PROPOSED = [
    Proposed("cand-2026-03-01-001", "aa", date(2026, 3, 1), LINE),
    Proposed("cand-2026-03-02-001", "aa", date(2026, 3, 2), LINE),
    Proposed("cand-2026-03-02-002", "bb", date(2026, 3, 2), LINE),
    Proposed("ce-2026-03-03-001", "cc", date(2026, 3, 3), LINE),
    Proposed("cand-2026-03-04-001", "", date(2026, 3, 4), LINE),
]


@pytest.mark.parametrize(
    ("prefix", "known", "judgments", "expected"),
    [
        ("cand-", [], [], (2, date(2026, 3, 1), 0)),
        ("cand-", ["aa"], [], (1, date(2026, 3, 2), 0)),
        ("ce-", [], [], (1, date(2026, 3, 3), 0)),
        ("cand-", ["aa", "bb"], [], (0, None, 0)),
        ("cand-", [], [verdict("aa", VerdictLetter.VIOLATION)], (1, date(2026, 3, 2), 1)),
        (
            "cand-",
            [],
            [verdict("aa", VerdictLetter.CAUTION), verdict("aa", VerdictLetter.PASS)],
            (1, date(2026, 3, 2), 0, 1),
        ),
        (
            "cand-",
            [],
            [
                verdict(None, VerdictLetter.VIOLATION, id="req-1"),
                verdict("cc", VerdictLetter.CAUTION, id="ce-2026-03-03-001"),
            ],
            (2, date(2026, 3, 1), 0),
        ),
    ],
)
def test_pending_and_rejected(
    prefix: str, known: list[str], judgments: list[HumanVerdict], expected: tuple[Any, ...]
) -> None:
    n_pending, oldest, rejected, *accepted = expected
    states = read_states(PROPOSED, HumanVerdicts(tuple(judgments)), GitPromotions(known=frozenset(known)))
    assert count_standing(states, prefix=prefix) == Standing(
        pending=n_pending, oldest=oldest, promoted=0, rejected=rejected, accepted=sum(accepted)
    )
