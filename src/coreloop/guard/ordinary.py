"""Recognise ordinary work without loading the rules, which takes longer."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from coreloop.guard.change import Texts
from coreloop.guard.claims import claims_of_commits, claims_of_event, claims_of_pull
from coreloop.guard.event import MergeGroupEvent, PullRequestEvent, ReportedPull
from coreloop.history.repository import Commit

# '    - First: show', '"""- First: show', 'Sums.\n- First: show' in a one-line string, and an escaped dash.
_LOOK: Final = re.compile(rb"(?:^|\\n|[\"'])[ \t\f]*- \S|\\(?:x2d|u002d|U0000002d|0?55|N\{)", re.IGNORECASE)


def is_ordinary(
    event: PullRequestEvent | MergeGroupEvent,
    pulls: Iterable[ReportedPull],
    commits: Iterable[Commit],
    files: Iterable[Texts],
) -> bool:
    """Whether nothing can be a sign of a promotion: no words, and no added line that looks like a bullet.

    Parameters
    ----------
    pulls : iterable of ReportedPull
        Those of a merge group.
    commits : iterable of Commit
        Commits of the head that are not in the base.
    files : iterable of Texts
        All changed Python files.
    """
    if isinstance(event, PullRequestEvent):
        stated = any(claims_of_event(event, titled=True))
    else:
        stated = any(claim for pull in pulls for claim in claims_of_pull(pull, titled=True))
    if stated or any(claims_of_commits(commits)):
        return False
    return not any(has_look(file.new, file.old) for file in files)


def has_look(new: bytes, old: bytes) -> bool:
    """Whether the new bytes gain a line that looks like a docstring's bullet."""
    added = Counter(new.splitlines()) - Counter(old.splitlines())
    return any(map(_LOOK.search, added))
