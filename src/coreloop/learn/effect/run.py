"""The use case of ``effect``: the ledger of a project with a verdict on each change.

Effects are kept in ``data/audit/effects.json``, which is safe to delete. Those that cannot change any more
outlive their records; the others are reused while nothing has changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from coreloop.base.date_range import Days
from coreloop.base.errors import GitError, UsageError
from coreloop.base.files import read_file, write_private
from coreloop.base.git.repository import Repository
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.learn.facts.read_lines import FileFacts
from coreloop.learn.mine.folder import mine
from coreloop.learn.mine.window import merge

if TYPE_CHECKING:
    from coreloop.learn.effect.description_changes import Change, Ledger
    from coreloop.learn.effect.effect import Effect

_READ_DAYS: Final = 220
"""Records that changes without a settled effect need: 90 days after, 56 before, and as many without calls."""
_VERSION: Final = 8
"""Of the file of effects and of the estimate; effects of other versions are judged again."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The changes with their effects, oldest first, and the tools whose description is not known.

    Attributes
    ----------
    problem : str
        Why git has no history to read.
    state, judged_on : str, date
        The `_state_of` the project, and the day of the run.
    """

    effects: "tuple[Effect, ...]" = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    version: int = _VERSION
    state: str = ""
    judged_on: date = date.min

    def chosen(self, *, tool: str | None = None, id: str | None = None) -> "Effects":
        """Only the changes of a tool, or those with a proposal's id or the beginning of a commit's hash.

        Raises
        ------
        UsageError
            There are none.
        """
        effects = tuple(effect for effect in self.effects if _fits(effect.change, tool, id))
        if not effects and (tool or id):
            reason = self.unknown.get(tool or "", "no change of it in the base branch")
            raise UsageError(f"{printable(tool or id or '')}: {reason}; run effect without options for all")
        return Effects(effects, self.unknown)


def read_effects(workspace: Workspace, **options: Any) -> Effects:
    """As `run_effect`, but without a history to read there are none."""
    try:
        return run_effect(workspace, **options)
    except GitError as error:
        return Effects(problem=f"effects are unknown: {error}")


def run_effect(
    workspace: Workspace,
    *,
    now: datetime,
    files: Sequence[FileFacts] | None = None,
    repository: Repository | None = None,
    keep: bool = True,
) -> Effects:
    """Read the ledger and the records, and judge every change.

    Only whole days count, so records of the current UTC day change nothing until it is over. What cannot
    change any more is kept in ``data/audit/effects.json``, so that later runs read only records
    of the last `_READ_DAYS`; the file is safe to delete.

    Parameters
    ----------
    workspace : Workspace
        The project.
    now : datetime
        Aware.
    files : sequence of FileFacts, optional
        The facts of its records, where the caller has opened them.
    repository : Repository, optional
        The project's, where the caller has opened it.
    keep : bool
        Whether to write the file.

    Raises
    ------
    GitError
        There is no repository or base branch, or the clone is shallow.
    WorkspaceError
        Records or verdicts cannot be read.
    """
    repository = repository or Repository(workspace.root)
    repository.require_history()
    base = repository.base(workspace.settings.forge.base)
    kept, state = read_kept(workspace), _state_of(workspace, base, now)
    if kept.state == state:
        return kept
    if files is None and workspace.records_dir.is_dir():
        files = mine(workspace).files
    found = replace(_judge(workspace, repository, files or (), kept, now), state=state, judged_on=now.date())
    if keep and (found.effects or (not found.unknown and workspace.audit_dir.is_dir())):
        write_private(workspace.effects_file, msgspec.json.encode(found))
    return found


def _judge(
    workspace: Workspace, repository: Repository, files: Sequence[FileFacts], kept: Effects, now: datetime
) -> Effects:
    from coreloop.descriptions.find_tools import logged_names

    settled = {_id_of(one.change): one for one in kept.effects if _is_settled(one, kept.judged_on)}
    since = now.date() - timedelta(days=_READ_DAYS) if settled else date.min
    window = merge(files, Days(since, now.date() - timedelta(days=1)))
    dated = (group.calls for group in window.requests if not group.alike.is_undated)
    called = {call.tool for calls in dated for call in calls if call.is_known}
    called |= {effect.change.tool for effect in settled.values()}
    names = logged_names(called, workspace)
    ledger, unknown = _read_ledger(workspace, repository, {names.get(name, name) for name in called}, now)
    changes = {_id_of(change): change for change in ledger.changes}
    new = [change for id, change in changes.items() if id not in settled]
    # a revert that came after its effect was settled shows in the ledger only
    effects = {id: replace(settled[id], change=changes[id]) for id in changes.keys() & settled.keys()}
    if new:
        from coreloop.learn.effect.count_calls import read_log  # imports polars
        from coreloop.learn.effect.effect import EffectFinder, what_is_counted

        failures = what_is_counted(new)
        log = read_log(window, failures, names=names, audit_dir=workspace.audit_dir)
        finder = EffectFinder(ledger, log, timedelta(days=workspace.settings.effect.deploy_lag_days))
        effects |= {_id_of(change): finder.find(change) for change in new}
    return Effects(tuple(effects[id] for id in changes), unknown)


def _read_ledger(
    workspace: Workspace, repository: Repository, tools: set[str], now: datetime
) -> "tuple[Ledger, dict[str, str]]":
    """The ledger, and why it is not known where a tool is defined."""
    from coreloop.base.project.tools import Tool
    from coreloop.descriptions.find_tools import find_tools
    from coreloop.learn.effect.description_changes import read_ledger

    found = find_tools(tools, workspace, only_places=True)
    targets = {name: f"{its.file}::{its.qualname}" for name, its in found.items() if isinstance(its, Tool)}
    unknown = {name: its.reason for name, its in found.items() if not isinstance(its, Tool)}
    folder = PurePosixPath(workspace.root.resolve().relative_to(repository.root.resolve()).as_posix())
    base = repository.base(workspace.settings.forge.base)
    return read_ledger(repository, base, targets, folder=folder, now=now), unknown


def _fits(change: "Change", tool: str | None, id: str | None) -> bool:
    is_named = id is None or id in change.ids or (len(id) >= 7 and change.sha.startswith(id))
    return is_named and tool in {None, change.tool}


def _id_of(change: "Change") -> str:
    """What identifies a change in a ledger."""
    return f"{change.sha} {change.tool}"


def _is_settled(effect: "Effect", judged_on: date) -> bool:
    """Whether later records say nothing new: its days are over, and a line in force is no longer watched."""
    from coreloop.learn.effect.effect import RECENT_DAYS
    from coreloop.learn.effect.verdict import HORIZON_DAYS, EffectVerdict

    if effect.since is None or effect.verdict is EffectVerdict.TOO_EARLY:
        return False
    days = HORIZON_DAYS + (RECENT_DAYS if effect.change.is_ours and not effect.change.reverted else 0)
    return judged_on > effect.since + timedelta(days=days)


def _state_of(workspace: Workspace, base_sha: str, now: datetime) -> str:
    """A hash of what effects depend on: the branch, records, verdicts, settings and the day.

    Files of the current day do not count: it is not over yet.
    """
    folders = (workspace.judgments_dir, workspace.records_dir)
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    others, today = (workspace.replays_file, workspace.root / "coreloop.yaml"), f"{now:%Y-%m-%d}"
    stats = [
        (f"{path}", path.stat().st_size, path.stat().st_mtime_ns)
        for path in (*paths, *others)
        if path.exists() and not (path.parent == workspace.records_dir and path.name.startswith(today))
    ]
    return blake2b(f"{_VERSION} {base_sha} {now.date()} {stats}".encode(), digest_size=16).hexdigest()


class _Kept(msgspec.Struct, tag_field="version", tag=_VERSION):
    """The file of effects, which are decoded only where there are any."""

    state: str
    judged_on: date
    unknown: dict[str, str]
    effects: msgspec.Raw


def read_kept(workspace: Workspace) -> Effects:
    """Read what is kept; nothing if the file is absent, damaged or of another version."""
    if not workspace.effects_file.exists():
        return Effects()
    try:
        kept = msgspec.json.decode(read_file(workspace.effects_file), type=_Kept)
        effects: Any = ()
        if bytes(kept.effects) != b"[]":
            from coreloop.learn.effect.effect import Effect

            effects = msgspec.json.decode(kept.effects, type=tuple[Effect, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Effects()
    return Effects(effects, kept.unknown, state=kept.state, judged_on=kept.judged_on)
