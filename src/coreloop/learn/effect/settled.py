"""Effects that cannot change any more, kept in ``data/audit/effects.json``, which is safe to delete."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from coreloop.base.files import read_file, write_private
from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.effect import RECENT_DAYS, Effect
from coreloop.learn.effect.ledger import Change
from coreloop.learn.effect.verdict import HORIZON_DAYS, EffectVerdict

_VERSION: Final = 1
"""Of the file and of the estimate; effects of other versions are judged again."""


@dataclass(frozen=True, slots=True)
class _File:
    version: int
    effects: tuple[Effect, ...]


def id_of(change: Change) -> str:
    """What identifies a change in a ledger."""
    return f"{change.sha} {change.tool}"


def is_settled(effect: Effect, now: datetime) -> bool:
    """Whether later records say nothing new: its days are over, and a line in force is no longer watched."""
    if effect.since is None or effect.verdict is EffectVerdict.TOO_EARLY:
        return False
    days = HORIZON_DAYS + (RECENT_DAYS if effect.change.is_ours and not effect.change.reverted else 0)
    return now.date() > effect.since + timedelta(days=days)


def read_settled(workspace: Workspace) -> dict[str, Effect]:
    """Read the kept effects; none if the file is absent, damaged or of another version."""
    path = workspace.effects_file
    if not path.exists():
        return {}
    try:
        kept = msgspec.json.decode(read_file(path), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return {id_of(effect.change): effect for effect in kept.effects} if kept.version == _VERSION else {}


def keep_settled(workspace: Workspace, settled: Mapping[str, Effect], new: Iterable[Effect]) -> None:
    """Add effects to the kept ones."""
    more = {id_of(effect.change): effect for effect in new}
    if more:
        effects = tuple((dict(settled) | more).values())
        write_private(workspace.effects_file, msgspec.json.encode(_File(_VERSION, effects)))
