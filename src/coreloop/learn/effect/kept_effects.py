"""Effects that are kept in ``data/audit/effects.json``, which is safe to delete.

Those that cannot change any more outlive their records; the others are reused while nothing has changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

import msgspec

from coreloop.base.files import read_file, write_private
from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.description_changes import Change
from coreloop.learn.effect.effect import RECENT_DAYS, Effect
from coreloop.learn.effect.verdict import HORIZON_DAYS, EffectVerdict

_VERSION: Final = 6
"""Of the file and of the estimate; effects of other versions are judged again."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What an earlier run found.

    Attributes
    ----------
    newest : tuple of Effect
        The effect of every change.
    unknown : dict of str to str
        Tools whose description is not known, with the reason.
    state : str
        The `state_of` the project then.
    """

    version: int = _VERSION
    state: str = ""
    newest: tuple[Effect, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)

    def settled(self, now: datetime) -> dict[str, Effect]:
        """The effects that cannot change any more, by `id_of` their change."""
        return {id_of(effect.change): effect for effect in self.newest if _is_settled(effect, now)}


def id_of(change: Change) -> str:
    """What identifies a change in a ledger."""
    return f"{change.sha} {change.tool}"


def _is_settled(effect: Effect, now: datetime) -> bool:
    """Whether later records say nothing new: its days are over, and a line in force is no longer watched."""
    if effect.since is None or effect.verdict is EffectVerdict.TOO_EARLY:
        return False
    days = HORIZON_DAYS + (RECENT_DAYS if effect.change.is_ours and not effect.change.reverted else 0)
    return now.date() > effect.since + timedelta(days=days)


def state_of(workspace: Workspace, base_sha: str, now: datetime) -> str:
    """A hash of what effects depend on: the branch, records, verdicts, settings and the day.

    The file of the current day does not count: it is not over yet.
    """
    folders = (workspace.judgments_dir, workspace.records_dir)
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    others = (workspace.replays_file, workspace.root / "coreloop.yaml")
    stats = [
        (f"{path}", path.stat().st_size, path.stat().st_mtime_ns)
        for path in (*paths, *others)
        if path.exists() and not (path.parent == workspace.records_dir and path.stem == f"{now:%Y-%m-%d}")
    ]
    return blake2b(f"{_VERSION} {base_sha} {now.date()} {stats}".encode(), digest_size=16).hexdigest()


def read_kept(workspace: Workspace) -> Kept:
    """Read what is kept; nothing if the file is absent, damaged or of another version."""
    path = workspace.effects_file
    if not path.exists():
        return Kept()
    try:
        kept = msgspec.json.decode(read_file(path), type=Kept)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Kept()
    return kept if kept.version == _VERSION else Kept()


def keep(workspace: Workspace, kept: Kept) -> None:
    """Keep the effect of every change."""
    write_private(workspace.effects_file, msgspec.json.encode(kept))
