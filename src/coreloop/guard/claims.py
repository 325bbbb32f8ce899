"""Signs that a pull request or a commit is coreloop's: any sign counts, a forged sign too."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from coreloop.base.git.repository import Commit
from coreloop.base.git.trailers import BRANCH_PREFIX, promoted_keys
from coreloop.guard.event import ReportedPull

_TITLE: Final = re.compile(r"\[coreloop-[rf]\] docs\(")
_BRANCH: Final = re.compile(
    rf"{BRANCH_PREFIX}(?:docstring|caveat)-\S+-[0-9]{{8}}(?:-[0-9]{{1,2}})?", re.IGNORECASE
)
# GitHub's subject of a merge commit; for a head in another repository it names that repository's owner.
_MERGED: Final = re.compile(r"Merge pull request #([0-9]{1,9}) from [^/\s]+/(\S+)")
_SQUASHED: Final = re.compile(r"\(#([0-9]{1,9})\)$")


def claims_of_pull(pull: ReportedPull, *, titled: bool, named: bool = True) -> Iterator[str]:
    """Signs on a pull request itself: its words if ``titled``, its branch's name if ``named``."""
    if titled and _is_title(pull.title):
        yield "its title"
    if titled and promoted_keys(pull.message):
        yield "trailers in its description"
    if named and is_branch(pull.branch):
        yield "its branch"


def claims_of_commits(commits: Iterable[Commit], *, named: bool = True) -> Iterator[str]:
    """Signs in commit messages: trailers, titles, and the branches that GitHub's merges name if ``named``."""
    for commit in commits:
        if promoted_keys(commit.message):
            yield f"trailers of commit {commit.sha[:12]}"
        elif _is_title(commit.message.partition("\n")[0]) or (named and _merges_branch(commit)):
            yield f"the subject of commit {commit.sha[:12]}"


def merged_pulls(commits: Iterable[Commit]) -> set[int]:
    """Numbers of the pull requests that GitHub's merge and squash commits name."""
    subjects = [commit.message.partition("\n")[0].rstrip() for commit in commits]
    matches = (match for text in subjects for match in (_MERGED.match(text), _SQUASHED.search(text)))
    return {int(match[1]) for match in matches if match}


def _is_title(title: str) -> bool:
    """Whether a title begins as a promotion's: ``[CORELOOP-R] docs(``, in any case."""
    return _TITLE.match(title.strip().casefold()) is not None


def is_branch(branch: str) -> bool:
    """Whether a branch has a name that promote gives, which ends in a day."""
    return _BRANCH.fullmatch(branch) is not None


def _merges_branch(commit: Commit) -> bool:
    match = _MERGED.match(commit.message)
    return match is not None and is_branch(match[2])
