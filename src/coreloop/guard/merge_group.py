"""The rules for a merge group: each promotion in it, and in the entries before it, is approved and proved."""

from collections.abc import Callable, Iterator
from typing import Final

from coreloop.base.git.repository import Commit
from coreloop.guard.added_lines import stray_lines
from coreloop.guard.approval import approved_by, authorships_of, refuse_unknown, why_unapproved
from coreloop.guard.change import PathChange
from coreloop.guard.event import MergeGroupEvent
from coreloop.guard.labels import refuse_merging
from coreloop.guard.markers import (
    GuardFacts,
    is_repeated,
    machine_lines,
    marks_of,
    outside,
    promoting_of,
    promotions_of,
    refuse_repeated,
    usable_settings,
)
from coreloop.guard.promotion import refuse_files, refuse_trailers


def group_reasons(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    """Why a group must not be merged."""
    for rule in (_merging, usable_settings) if facts.unusable else _RULES:
        yield from rule(event, facts)


def _merging(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    for pull in promotions_of(facts):
        yield from refuse_merging(pull)


def _contents(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    for commit in promoting_of(facts):
        repeating = [pull for pull in promotions_of(facts) if is_repeated(pull, [commit], facts)]
        for pull in repeating:
            yield from refuse_repeated(
                pull, (commit.sha, *(made.sha for made in authorships_of(pull, facts.authorships))), facts
            )
        if not repeating:
            yield from refuse_trailers(commit, facts.settings)
            yield from refuse_files(_brought(commit, facts), commit, sha=commit.sha, facts=facts)


def _brought(commit: Commit, facts: GuardFacts) -> tuple[PathChange, ...]:
    """What a promotion of a group changes; with later commits, such as a suggestion, if only they prove it.

    Whoever wrote these: from the promotion's parent on, the bytes are those of a proved promotion. Without
    known pull requests nobody has approved the later commits.
    """
    own = facts.files.get(commit.sha, ())
    versions = (own, *(facts.repairs.get(commit.sha, ()) if facts.pulls else ()))
    proved = (
        files for files in versions if not any(refuse_files(files, commit, sha=commit.sha, facts=facts))
    )
    return next(proved, own)


def _lines(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    promoting = {commit.sha: _brought(commit, facts) for commit in promoting_of(facts)}
    stray = stray_lines(facts.added_lines, promoting)
    brought = machine_lines(event, facts)
    yield from (outside(line, event, facts) for line in stray if line in brought)


def _approved(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    for pull in promotions_of(facts):
        marks = marks_of(pull.head_sha, pull.message)
        commits = [commit for commit in facts.commits if marks & marks_of(commit.sha, commit.message)]
        if not approved_by(pull, commits, facts):
            yield f"#{pull.number} is queued, but {why_unapproved(pull, facts)}"
        yield from refuse_unknown(pull, (), facts)


def _known(event: MergeGroupEvent, facts: GuardFacts) -> Iterator[str]:
    """Every promotion must have a known pull request, and every promoting pull request a promotion."""
    if event.number is None:
        yield "the queue's branch names no pull request; merge the promotion without the queue"
    elif event.number not in {pull.number for pull in facts.pulls}:
        yield f"#{event.number} is in the group, but --pulls does not list it; re-run this job"
    promoting = list(promoting_of(facts))
    marks = [marks_of(commit.sha, commit.message) for commit in promoting]
    for pull in promotions_of(facts):
        if not any(map(marks_of(pull.head_sha, pull.message).intersection, marks)):
            yield (
                f"#{pull.number} is queued as a promotion, but the group has no commit of it; take it "
                "out of the queue and queue it again"
            )
    pull_marks = set[str]().union(*(marks_of(pull.head_sha, pull.message) for pull in promotions_of(facts)))
    for commit in promoting:
        if pull_marks.isdisjoint(marks_of(commit.sha, commit.message)):
            yield (
                f"commit {commit.sha[:12]} is a promotion, but no queued pull request is known to "
                "bring it; take its pull request out of the queue and merge it without the queue"
            )
    if not promoting and not machine_lines(event, facts):
        yield (
            "a title or branch in the group is a promotion's, but no commit is one; take that "
            "pull request out of the queue"
        )


_RULES: Final[tuple[Callable[[MergeGroupEvent, GuardFacts], Iterator[str]], ...]] = (
    _merging,
    _contents,
    _lines,
    _approved,
    _known,
)
