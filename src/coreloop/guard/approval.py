"""Whether a human with write access has approved a commit that is not their own."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from coreloop.guard.event import PullRequestEvent, Review

_DECIDES: Final = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})
# NONE and the first-timers never count. A member whose membership is private shows as CONTRIBUTOR, so the
# association alone does not tell who may write.
_ASSOCIATIONS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"})
_WRITES: Final = frozenset({"admin", "write"})  # the API shows maintainers as "write"
_NOREPLY: Final = re.compile(r"(?:[0-9]+\+)?([^@+]+)@users\.noreply\.", re.IGNORECASE)


def is_approved(reviews: Iterable[Review], *, head: str, authors: Collection[str]) -> bool:
    """Whether the latest review of at least one other human with write access approves a pull request's head.

    Parameters
    ----------
    reviews : iterable of Review
        Of one pull request, oldest first, as the API lists them. A dismissal or a request for changes
        withdraws an earlier approval; a comment does not.
    head : str
        The head commit; approvals of older commits do not count.
    authors : collection of str
        Logins of author, committer and pusher, in lower case; their approvals do not count.
    """
    latest = {review.reviewer: review for review in reviews if review.state in _DECIDES}
    return any(
        review.state == "APPROVED" and review.commit == head and _counts(review, authors)
        for review in latest.values()
    )


def needs_approval(event: PullRequestEvent) -> bool:
    """Whether a promotion must have been approved: it is not a draft, or is queued."""
    return not event.pull.draft or event.action == "enqueued"


def logins_of(people: Iterable[str]) -> set[str]:
    """Possible logins, in lower case, from the names and e-mail addresses of a commit.

    A name may be a login, and so may the part before the ``@``; GitHub's noreply addresses contain the login.
    """
    logins = set[str]()
    for person in people:
        noreply = _NOREPLY.match(person)
        logins.add((noreply[1] if noreply else person.partition("@")[0]).casefold())
    return logins


def _counts(review: Review, authors: Collection[str]) -> bool:
    other = review.reviewer.human and review.reviewer.login.casefold() not in authors
    return other and review.association in _ASSOCIATIONS and review.permission in _WRITES
