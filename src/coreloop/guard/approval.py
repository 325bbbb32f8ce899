"""Whether a human with write access, who neither wrote nor pushed any of it, has approved a head."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from coreloop.base.git.repository import Commit
from coreloop.base.git.trailers import co_authors
from coreloop.base.text import printable
from coreloop.guard.event import Authorship, Push, ReportedPull
from coreloop.guard.markers import GuardFacts

_DECIDES: Final = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})
# NONE and the first-timers never count. A member whose membership is private shows as CONTRIBUTOR, so the
# association alone does not tell who may write.
_ASSOCIATIONS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"})
_WRITES: Final = frozenset({"admin", "write"})  # the API shows maintainers as "write"
_NOREPLY: Final = re.compile(r"(?:0*([1-9][0-9]*\+))?([^@+]+)@users\.noreply\.", re.IGNORECASE)
_BOT: Final = "[bot]"


def makers(pull: ReportedPull, commits: Iterable[Commit], listed: Iterable[Authorship]) -> set[str]:
    """All who opened, wrote, committed or pushed any of a pull request, as in `Account.names`.

    Its commits are given as git has them, and as GitHub shows them.
    """
    accounts = [pull.author, *(push.actor for push in pull.activity)]
    people = list[str]()
    for commit in commits:
        people += (*commit.people, *co_authors(commit.message))
    for authorship in listed:
        accounts += authorship.accounts
        people += authorship.people
    return logins_of(people).union(*(account.names for account in accounts))


def nameless(commits: Iterable[Commit], listed: Sequence[Authorship]) -> list[str]:
    """The addresses of co-authors that no account is known for: they may be anybody's."""
    known = {address for authorship in listed for address in authorship.known}
    addresses = dict.fromkeys(
        word.casefold() for commit in commits for word in co_authors(commit.message) if "@" in word
    )
    return [address for address in addresses if address not in known and not _NOREPLY.match(address)]


def unaccounted(
    pull: ReportedPull, shas: Iterable[str], listed: Sequence[Authorship], commits: Sequence[Commit]
) -> list[str]:
    """The commits that neither GitHub has verified nor a known actor pushed: anybody's."""
    known = {authorship.sha for authorship in listed if authorship.verified}
    for push in pull.activity:
        if push.actor.login:
            known |= pushed(push, commits)
    return [sha for sha in dict.fromkeys(shas) if sha not in known]


def pushed(push: Push, commits: Iterable[Commit]) -> set[str]:
    """The commits that a push brought to its branch: all of ``before..after``."""
    parents = {commit.sha: commit.parents for commit in commits}
    new = _reachable(push.after, parents) - _reachable(push.before, parents)
    return {push.after, *(new if push.before else ())}


def _reachable(sha: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    found, new = set[str](), {sha}
    while new:
        found |= new
        new = {parent for sha in new for parent in parents.get(sha, ())} - found
    return found


def machines(
    commits: Iterable[Commit], listed: Iterable[Authorship], pulls: Iterable[ReportedPull]
) -> Iterator[tuple[str, str]]:
    """The commits that a machine wrote, co-authored, committed or pushed, and what git or GitHub names it."""
    commits = tuple(commits)
    for commit in commits:
        people = (*commit.people, *co_authors(commit.message))
        yield from ((commit.sha, person) for person in people[::-1] if _BOT in person.casefold())
    for authorship in listed:
        yield from ((authorship.sha, account.login) for account in authorship.accounts if not account.human)
    for push in (push for pull in pulls for push in pull.activity if not push.actor.human):
        yield from ((sha, push.actor.login) for sha in pushed(push, commits))


def logins_of(people: Collection[str]) -> set[str]:
    """Possible logins, in lower case, from the names and e-mail addresses of a commit; as in `Account.names`.

    A name may be a login, and so may the part before the ``@``; GitHub's noreply addresses contain the login,
    which may be a former one, and before it the number of the account, which stays.
    """
    logins = set[str]()
    for person in people:
        noreply = _NOREPLY.match(person)
        logins |= set(filter(None, noreply.groups())) if noreply else {person.partition("@")[0]}
    return {login.casefold() for login in logins}


def approved_by(pull: ReportedPull, commits: Sequence[Commit], facts: GuardFacts) -> set[str]:
    """Logins of the humans with write access, and no part in it, whose latest review approves the head.

    The API lists reviews oldest first. A dismissal or a request for changes withdraws an earlier approval; a
    comment does not.
    """
    made = authorships_of(pull, facts.authorships)
    if nameless(commits, made):
        return set()
    own = makers(pull, commits, made)
    reviews = [review for review in facts.reviews if review.pull in {None, pull.number}]
    latest = {review.reviewer: review for review in reviews if review.state in _DECIDES}
    return {
        review.reviewer.login.casefold()
        for review in latest.values()
        if review.state == "APPROVED"
        and review.commit == pull.head_sha
        and review.reviewer.human
        and review.association in _ASSOCIATIONS
        and review.permission in _WRITES
        and own.isdisjoint(review.reviewer.names)
    }


def why_unapproved(pull: ReportedPull, facts: GuardFacts) -> str:
    addresses = nameless(facts.commits, authorships_of(pull, facts.authorships))
    if not addresses:
        return (
            "no human who neither wrote nor pushed any of it has approved its head commit; have one with "
            "write access approve it"
        )
    return (
        f"GitHub names no account for the co-author {printable(addresses[0])}, who may be the "
        "approver; commit it again with the co-author's noreply address"
    )


def refuse_unknown(pull: ReportedPull, commits: Sequence[Commit], facts: GuardFacts) -> Iterator[str]:
    """An approval cannot be told from a self-approval where it is unknown who made a commit."""
    made = authorships_of(pull, facts.authorships)
    shas = (pull.head_sha, *(commit.sha for commit in commits), *(authorship.sha for authorship in made))
    unknown = unaccounted(pull, shas, made, facts.commits)
    if unknown and approved_by(pull, commits, facts):
        yield (
            f"who pushed commit {unknown[0][:12]} of #{pull.number} is unknown, and GitHub has "
            "not verified it, so an approval may be its author's own; push each commit by "
            "itself, or sign it"
        )


def authorships_of(pull: ReportedPull, authorships: Iterable[Authorship]) -> list[Authorship]:
    return [authorship for authorship in authorships if authorship.pull in {None, pull.number}]
