"""A promotion that a person closed without merging is a no: a verdict, which `judge` can take back."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from coreloop.base.git.trailers import promoted_keys
from coreloop.base.github.protocol import PullRequest
from coreloop.base.project.workspace import Workspace
from coreloop.learn.verdicts.judge import read_proposed
from coreloop.observe.judgments import HumanVerdict, HumanVerdicts, VerdictLetter, append_verdict

LOOK_BACK: Final = timedelta(days=180)
"""Pull requests opened before are not read; older proposals lie outside of every window."""
_CLOSED: Final = "closed without a merge: "
_BY: Final = "the pull request"


def reject_closed(
    workspace: Workspace,
    pulls: Iterable[PullRequest],
    *,
    judgments: HumanVerdicts,
    known: frozenset[str],
    now: datetime,
) -> list[HumanVerdict]:
    """Record a V for each proposal whose pull request was closed without a merge.

    Parameters
    ----------
    workspace : Workspace
        The project; only what it proposed gets a verdict, since anyone may edit a pull request's text.
    pulls : iterable of PullRequest
        Closed and not merged.
    judgments : HumanVerdicts
        A pull request that has its verdict gets no second one: the newer verdict of a person counts.
    known : frozenset of str
        Keys that are merged, or open in another pull request.
    now : datetime
        UTC.
    """
    ids = {proposal.key: proposal.id for proposal in read_proposed(workspace)}
    given = {(judgment.key, judgment.cause) for judgment in judgments.given}
    new = [
        HumanVerdict(
            id=ids[key],
            key=key,
            verdict=VerdictLetter.VIOLATION,
            cause=f"{_CLOSED}{pull.url}",
            judged_at=now,
            judged_by=_BY,
        )
        for pull in pulls
        for key in promoted_keys(pull.message)
        if key in ids and key not in known and (key, f"{_CLOSED}{pull.url}") not in given
    ]
    for judgment in new:
        append_verdict(workspace.judgments_dir, judgment)
    return new


def reopened_keys(judgments: HumanVerdicts) -> frozenset[str]:
    """Keys whose pull request was closed without a merge, and which a person accepted afterwards."""
    closed = {judgment.key for judgment in judgments.given if (judgment.cause or "").startswith(_CLOSED)}
    newest = judgments.newest()
    return frozenset(key for key in closed if key is not None and newest[key].verdict.passes)
