"""Effects that are kept in ``data/audit/effects.json``, which is safe to delete.

Those that cannot change any more outlive their records; the others are reused while nothing has changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from coreloop.base.files import read_file, write_private
from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.description_changes import Change
from coreloop.learn.effect.effect import RECENT_DAYS, Effect
from coreloop.learn.effect.verdict import HORIZON_DAYS, EffectVerdict
from coreloop.learn.facts.file import EPOCH_DAY, FileFacts

_VERSION: Final = 5
"""Of the file and of the estimate; effects of other versions are judged again."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What an earlier run found.

    Attributes
    ----------
    settled : tuple of Effect
        Effects that cannot change any more.
    newest : tuple of Effect
        The effect of every change.
    unknown : dict of str to str
        Tools whose description is not known, with the reason.
    base : str
        The base branch's commit.
    tools : tuple of str
        The called tools, which decide with the commit what the ledger is.
    state, content : str
        The `state_of` the project then, and the `content_of` its records.
    """

    version: int = _VERSION
    state: str = ""
    content: str = ""
    base: str = ""
    tools: tuple[str, ...] = ()
    settled: tuple[Effect, ...] = ()
    newest: tuple[Effect, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def by_change(self) -> dict[str, Effect]:
        """The settled effects by `id_of` their change."""
        return {id_of(effect.change): effect for effect in self.settled}


def id_of(change: Change) -> str:
    """What identifies a change in a ledger."""
    return f"{change.sha} {change.tool}"


def is_settled(effect: Effect, now: datetime) -> bool:
    """Whether later records say nothing new: its days are over, and a line in force is no longer watched."""
    if effect.since is None or effect.verdict is EffectVerdict.TOO_EARLY:
        return False
    days = HORIZON_DAYS + (RECENT_DAYS if effect.change.is_ours and not effect.change.reverted else 0)
    return now.date() > effect.since + timedelta(days=days)


def state_of(workspace: Workspace, base_sha: str, now: datetime) -> str:
    """A hash of what effects depend on: the branch, records, verdicts, settings and the day."""
    return _digest(base_sha, now.date(), _stats(workspace, records=True))


def content_of(workspace: Workspace, base_sha: str, files: Sequence[FileFacts], now: datetime) -> str:
    """As `state_of`, but records of the current day do not count: it is not over yet."""
    today = (now.date() - EPOCH_DAY).days
    records = [
        (f"{file.path}", sorted((day, n) for day, n in file.days.items() if day < today))
        if max(file.days) >= today or not isinstance(file.path, Path)
        else _stat(file.path)
        for file in files
        if min(file.days, default=today) < today
    ]
    return _digest(base_sha, now.date(), _stats(workspace, records=False), records)


def _stats(workspace: Workspace, *, records: bool) -> list[tuple[str, int, int]]:
    folders = (workspace.judgments_dir, *([workspace.records_dir] if records else []))
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    others = (workspace.replays_file, workspace.root / "coreloop.yaml")
    return [_stat(path) for path in (*paths, *others) if path.exists()]


def _stat(path: Path) -> tuple[str, int, int]:
    stat = path.stat()
    return f"{path}", stat.st_size, stat.st_mtime_ns


def _digest(*parts: object) -> str:
    return blake2b(f"{_VERSION} {parts}".encode(), digest_size=16).hexdigest()


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


def keep(workspace: Workspace, kept: Kept, new: Kept, now: datetime) -> None:
    """Keep the effect of every change, and add those that are settled now."""
    settled = kept.by_change | {id_of(one.change): one for one in new.newest if is_settled(one, now)}
    write_private(workspace.effects_file, _encoded(replace(new, settled=tuple(settled.values()))))


def _encoded(kept: Kept) -> bytes:
    return msgspec.json.encode(kept)
