"""What the first drafts would be, from the records that there are."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from coreloop.base.date_range import Days
from coreloop.base.errors import GitError
from coreloop.base.project.workspace import Workspace
from coreloop.learn.mine.folder import day_files, newest_day
from coreloop.learn.mine.run import Mined, MiningOptions, open_mining
from coreloop.learn.refine.run import Refined, refine
from coreloop.learn.verdicts.proposal_state import kept_states, settled_keys

_WINDOW: Final = timedelta(days=30)  # as `refine` by default
MAX_BYTES: Final = 8 << 20
"""Of the newest files: 2,760 real records of nine calls take 3.4 s of processor time. `refine` reads all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPreview:
    """The statements with a text that the records support.

    Attributes
    ----------
    n_records : int
        Of the 30 days before the newest record.
    drafts : tuple of tuple of str
        Tool and line, the most calls wasted first.
    undefined : tuple of str
        Tools with statements whose definition was not found, so that there is no text to mend.
    n_unread : int
        Older files that were not read, since the newest have `MAX_BYTES` already.
    """

    n_records: int
    drafts: tuple[tuple[str, str], ...] = ()
    undefined: tuple[str, ...] = ()
    n_unread: int = 0


def preview_drafts(workspace: Workspace, *, now: datetime, max_bytes: int = MAX_BYTES) -> DraftPreview | None:
    """Find the drafts of the newest 30 days with records; None without records. Nothing is written.

    Reads the newest files alone, up to ``max_bytes``.

    Raises
    ------
    WorkspaceError
        Records or verdicts are unreadable.
    """
    if not workspace.records_dir.is_dir():
        return None
    n_files = len(day_files(workspace.records_dir))
    with open_mining(workspace, MiningOptions(no_cache=True, max_bytes=max_bytes)) as mined:
        newest, n_unread = newest_day(mined.files), n_files - mined.n_files
        if newest is None:
            return DraftPreview(n_records=0, n_unread=n_unread) if n_unread else None
        until = min(newest, now.date())
        refined = _find(mined, Days(until - _WINDOW, until))
        drafts = [one for one in refined.statements if one.refused is None]
    return DraftPreview(
        n_records=refined.n_records,
        drafts=tuple((one.tool, one.line.removeprefix("- ")) for one in drafts),
        undefined=refined.unproposed.undefined,
        n_unread=n_unread,
    )


def _find(mined: Mined, days: Days) -> Refined:
    try:
        known = settled_keys(kept_states(mined.workspace, mined.judgments))
    except GitError:  # a shallow clone, or no commit yet: nothing is known to be promoted
        known = frozenset()
    least = mined.workspace.settings.gates.min_failures
    return refine(mined.files, days, workspace=mined.workspace, min_failures=least, known=known)
