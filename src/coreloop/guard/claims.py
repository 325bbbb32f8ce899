"""Signs that a pull request or a commit is coreloop's: any single sign counts, a forged sign too."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from coreloop.guard.event import PullRequestEvent, ReportedPull
from coreloop.guard.letters import plain_letters
from coreloop.history.repository import Commit
from coreloop.history.trailers import BRANCH_PREFIX, LABEL, TITLE_MARK, read_trailers

_TITLES: Final = frozenset({"coreloopr", "coreloopf"})
_SIGNS: Final = frozenset({"Candidate-Id", "Candidate-Key"})
# GitHub's subject of a merge commit; for a head in another repository it names that repository's owner.
_MERGED: Final = re.compile(r"Merge pull request #([0-9]{1,9}) from [^/\s]+/(\S+)")
_SQUASHED: Final = re.compile(r"\(#([0-9]{1,9})\)$")


def claims_of_event(event: PullRequestEvent) -> Iterator[str]:
    """Signs in a payload, including a former title and a label that was removed.

    The live pull request alone counts where it is known: a title that was corrected is no sign.
    """
    yield from claims_of_pull(event.pull)
    if event.live:
        return
    if _is_title(event.former_title or ""):
        yield "its former title"
    if plain_letters(event.label or "") == LABEL and event.label not in event.pull.labels:
        yield f"the removed label {LABEL}"


def claims_of_pull(pull: ReportedPull) -> Iterator[str]:
    """Signs on a pull request itself."""
    if _is_title(pull.title):
        yield "its title"
    if _is_branch(pull.branch):
        yield "its branch"
    if any(plain_letters(label) == LABEL for label in pull.labels):
        yield f"the label {LABEL}"


def claims_of_commits(commits: Iterable[Commit]) -> Iterator[str]:
    """Signs in commit messages: trailers, titles, and GitHub's merge subjects."""
    for commit in commits:
        if is_promotion(commit):
            yield f"trailers of commit {commit.sha[:12]}"
        elif _is_title(commit.message.partition("\n")[0]) or _merges_branch(commit):
            yield f"the subject of commit {commit.sha[:12]}"


def is_promotion(commit: Commit) -> bool:
    """Whether a commit's trailers name a candidate."""
    return not _SIGNS.isdisjoint(read_trailers(commit.message))


def merged_pulls(commits: Iterable[Commit]) -> set[int]:
    """Numbers of the pull requests that GitHub's merge and squash commits name."""
    subjects = [commit.message.partition("\n")[0].rstrip() for commit in commits]
    matches = (match for text in subjects for match in (_MERGED.match(text), _SQUASHED.search(text)))
    return {int(match[1]) for match in matches if match}


def _is_title(title: str) -> bool:
    """Whether a title begins with a promotion's mark, in any spelling."""
    if title.strip().casefold().startswith(TITLE_MARK.casefold()):
        return True
    read = ""
    for at, char in enumerate(title):
        read += plain_letters(char)
        if len(read) >= 9:
            return read in _TITLES and not title[at + 1 : at + 2].isalnum()
    return False


def _is_branch(branch: str) -> bool:
    return branch.casefold().startswith(BRANCH_PREFIX)


def _merges_branch(commit: Commit) -> bool:
    match = _MERGED.match(commit.message)
    return match is not None and _is_branch(match[2])
