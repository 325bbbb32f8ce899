"""The use case of ``effect``: the ledger of a project with a verdict on each change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Final

from coreloop.base.errors import GitError, UsageError
from coreloop.base.git.repository import Repository
from coreloop.base.project.tools import Tool, logged_names, resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.learn.effect.calls import Request, read_requests, tool_names
from coreloop.learn.effect.effect import Effect, find_effects, what_is_counted
from coreloop.learn.effect.ledger import Ledger, read_ledger
from coreloop.learn.effect.log import read_log
from coreloop.learn.effect.settled import id_of, is_settled, keep_settled, read_settled
from coreloop.learn.facts.file import EPOCH_DAY
from coreloop.observe.judgments import read_judgments

_READ_DAYS: Final = 220
"""Records that changes without a settled effect need: 90 days after, 56 before, and as many without calls."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The changes with their effects, oldest first, and the tools whose description is not known."""

    effects: tuple[Effect, ...]
    unknown: Mapping[str, str]

    def chosen(self, *, tool: str | None = None, id: str | None = None) -> "Effects":
        """Only the changes of a tool, or those with a proposal's id or the beginning of a commit's hash.

        Raises
        ------
        UsageError
            There are none.
        """
        effects = [effect for effect in self.effects if _fits(effect, tool, id)]
        if not effects and (tool is not None or id is not None):
            if tool is not None and tool in self.unknown:
                raise UsageError(f"{printable(tool)}: {self.unknown[tool]}")
            wanted = printable(tool or id or "")
            raise UsageError(f"no change of {wanted} in the base branch; run effect without options for all")
        return Effects(tuple(effects), self.unknown)


@dataclass(frozen=True, slots=True)
class KnownEffects:
    """The effects, or why git has no history to read."""

    effects: tuple[Effect, ...] = ()
    problem: str = ""


def read_effects(workspace: Workspace, *, now: datetime) -> KnownEffects:
    """As `run_effect`, but without a history to read there are none."""
    try:
        return KnownEffects(run_effect(workspace, now=now).effects)
    except GitError as error:
        return KnownEffects(problem=printable(f"effects are unknown: {error}"))


def run_effect(workspace: Workspace, *, now: datetime) -> Effects:
    """Read the ledger and the records, and judge every change.

    What cannot change any more is kept in ``data/audit/effects.json``, so that later runs read only records
    of the last `_READ_DAYS`; the file is safe to delete.

    Parameters
    ----------
    workspace : Workspace
        The project.
    now : datetime
        Aware.

    Raises
    ------
    GitError
        There is no repository or base branch, or the clone is shallow.
    WorkspaceError
        Records or verdicts cannot be read.
    """
    settled = read_settled(workspace)
    since = (now.date() - EPOCH_DAY).days - _READ_DAYS if settled else None
    has_records = workspace.records_dir.is_dir()
    with Repository(workspace.root) as repository:
        repository.require_history()
        base = repository.base(workspace.settings.forge.base)
        called = tool_names(workspace, since=since) if has_records else frozenset()
        called |= {effect.change.tool for effect in settled.values()}
        names = logged_names(called, root=workspace.root, configured=workspace.settings.tools)
        targets, unknown = _targets(workspace, {names.get(name, name) for name in called})
        folder = workspace.root.resolve().relative_to(repository.root.resolve())
        ledger = read_ledger(repository, base, targets, folder=PurePosixPath(folder.as_posix()), now=now)
    new = _effects(workspace, ledger, names, since=since, settled=settled)
    keep_settled(workspace, settled, [effect for effect in new if is_settled(effect, now)])
    by_change = {id_of(effect.change): effect for effect in new}
    # a revert that came after its effect was settled shows in the ledger only
    kept = {
        key: replace(effect, change=change)
        for change in ledger.changes
        if (effect := settled.get(key := id_of(change))) is not None
    }
    effects = [(kept | by_change)[id_of(change)] for change in ledger.changes]
    return Effects(tuple(effects), unknown)


def _effects(
    workspace: Workspace,
    ledger: Ledger,
    names: Mapping[str, str],
    *,
    since: int | None,
    settled: Mapping[str, Effect],
) -> list[Effect]:
    counting = what_is_counted(ledger)
    requests: Iterable[Request] = ()
    is_new = any(id_of(change) not in settled for change in ledger.changes)
    if is_new and workspace.records_dir.is_dir():
        requests = read_requests(workspace, read_judgments(workspace.judgments_dir), since=since)
    tools = frozenset(names)
    log = read_log(requests, counting.failures, names=lambda name: names.get(name, name), tools=tools)
    return find_effects(
        ledger,
        log,
        counting,
        settings=workspace.settings.effect,
        wanted=lambda change: id_of(change) not in settled,
    )


def _targets(workspace: Workspace, tools: set[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Where tools are defined; and why that is not known."""
    resolved = resolve_tools(tools, root=workspace.root, configured=workspace.settings.tools)
    found = {
        name: f"{tool.file}::{tool.qualname}" for name, tool in resolved.items() if isinstance(tool, Tool)
    }
    unknown = {name: tool.reason for name, tool in resolved.items() if not isinstance(tool, Tool)}
    return found, unknown


def _fits(effect: Effect, tool: str | None, id: str | None) -> bool:
    change = effect.change
    if tool is not None and change.tool != tool:
        return False
    return id is None or id in change.ids or (len(id) >= 7 and change.sha.startswith(id))
