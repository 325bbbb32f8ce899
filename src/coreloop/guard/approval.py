"""Whether a human who is not behind a commit has approved exactly that commit."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from coreloop.guard.event import Account, Review

_DECIDES: Final = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})
_NOREPLY: Final = re.compile(r"(?:[0-9]+\+)?([^@+]+)@users\.noreply\.", re.IGNORECASE)


def is_approved(reviews: Iterable[Review], *, head: str, behind: Collection[str]) -> bool:
    """Whether somebody's last word on a pull request approves its head.

    Parameters
    ----------
    reviews : iterable of Review
        Of one pull request, oldest first, as the API lists them. A comment takes no earlier word back; a
        dismissal and a request for changes do.
    head : str
        The commit that was to be looked at; an approval of an older one does not count.
    behind : collection of str
        Logins of author and committer, in lower case: nobody approves what is their own.
    """
    last = {review.reviewer: review for review in reviews if review.state in _DECIDES}
    return any(
        review.state == "APPROVED" and review.commit == head and _counts(reviewer, behind)
        for reviewer, review in last.items()
    )


def logins_of(people: Iterable[str]) -> set[str]:
    """What names and e-mail addresses of a commit tell of logins, in lower case.

    A name may be a login, and so may what stands before the ``@``; GitHub's own addresses hold it for sure.
    """
    found = set[str]()
    for person in people:
        noreply = _NOREPLY.match(person)
        found.add((noreply[1] if noreply else person.partition("@")[0]).casefold())
    return found


def _counts(reviewer: Account, behind: Collection[str]) -> bool:
    return reviewer.human and reviewer.login.casefold() not in behind
