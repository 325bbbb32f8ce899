"""Record a project's sessions of Claude Code: a Stop hook that reads the session's own file after each turn.

The hooks of single calls are not used: of five calls that a model asked for, Claude Code 2.1.331 told them of
three. A call with rejected arguments or of an unknown tool reaches no hook, but stands in the session's file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.base.claude_settings import (
    SETTINGS,
    InstallChange,
    decode_settings,
    refuse_links,
    with_hook,
    without_hook,
)
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import read_file, rewrite_file, write_public
from coreloop.base.project.workspace import Workspace
from coreloop.observe.importers import claude_code
from coreloop.observe.importers.append_requests import ImportReport, ImportRequest, run_import

MANIFEST: Final = ".claude/coreloop-record.json"
COMMAND: Final = "dartlab-coreloop observe turn"
_ENTRY: Final[dict[str, Any]] = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 60}]}
"""Not asynchronous: Claude Code ends such a hook with its own process, so a script's turn would be lost."""


class _Manifest(msgspec.Struct, frozen=True):
    """The settings as they were before, None without any, and whether their folder was absent."""

    original: str | None
    created_folder: bool


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """What a Stop hook is told: the session's file."""

    transcript: Path


def install(root: Path, *, confirm: bool) -> list[InstallChange]:
    """Plan the hook, and write it with ``confirm``; everything else in the settings stays as it is.

    Raises
    ------
    UsageError
        It is installed already.
    WorkspaceError
        The folder is absent, or the settings cannot be changed.
    """
    if not root.is_dir():
        raise WorkspaceError("is not a folder; check --project", path=root)
    refuse_links(root, [MANIFEST, SETTINGS])
    if (root / MANIFEST).exists():
        raise UsageError(f"{root}: installed already; run observe uninstall claude-code --confirm first")
    path = root / SETTINGS
    is_new_folder = not path.parent.exists()
    old = decode_settings(read_file(path), path) if path.exists() else None
    text = with_hook(old or "", ["Stop"], _ENTRY, path)
    if confirm:
        manifest = _Manifest(old, is_new_folder)
        write_public(root / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
        (write_public if old is None else rewrite_file)(path, text.encode())
    verb = "write" if old is None else "add the hook to"
    return [InstallChange(SETTINGS, verb), InstallChange(MANIFEST, "write")]


def uninstall(root: Path, *, confirm: bool) -> list[InstallChange]:
    """Plan to take the hook out, and do so with ``confirm``. Records stay.

    Raises
    ------
    UsageError
        It is not installed.
    WorkspaceError
        The hook's entry, or what is around it, was changed: remove it by hand first.
    """
    refuse_links(root, [MANIFEST, SETTINGS])
    manifest = _read_manifest(root)
    path = root / SETTINGS
    changes = []
    rest: str | None = None
    if path.is_file() and COMMAND in (text := decode_settings(read_file(path), path)):
        rest = manifest.original or ""
        if text != with_hook(rest, ["Stop"], _ENTRY, path):
            rest = without_hook(text, ["Stop"], path, script=COMMAND)
        is_ours = manifest.original is None and rest == ""
        changes.append(InstallChange(SETTINGS, "remove" if is_ours else "take the hook out of"))
    changes.append(InstallChange(MANIFEST, "remove"))
    if confirm:
        _remove(root, rest, changes)
        if manifest.created_folder and not any(path.parent.iterdir()):
            path.parent.rmdir()
    return changes


def _remove(root: Path, rest: str | None, changes: list[InstallChange]) -> None:
    if rest is not None and changes[0].what != "remove":
        rewrite_file(root / SETTINGS, rest.encode())
    for change in changes:
        if change.what == "remove":
            (root / change.path).unlink(missing_ok=True)


def read_turn(told: bytes) -> AgentTurn:
    """Read what Claude Code tells its hooks.

    Raises
    ------
    UsageError
        It is not that.
    """
    try:
        given = msgspec.json.decode(told, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError("reads on stdin what Claude Code tells a Stop hook, which was not JSON") from error
    path = given.get("transcript_path")
    if not isinstance(path, str) or not path.endswith(".jsonl"):
        raise UsageError("Claude Code named no file of the session (transcript_path)")
    return AgentTurn(Path(path))


def record_turn(turn: AgentTurn, workspace: Workspace, *, now_s: float) -> ImportReport:
    """Record the finished turns of a session, and tasks of its sub-agents, that have no record yet.

    Raises
    ------
    WorkspaceError
        The session's file cannot be read, or the records cannot be written.
    """
    agents = turn.transcript.with_suffix("") / claude_code.AGENTS
    paths = (turn.transcript, agents) if any(agents.glob("**/*.jsonl")) else (turn.transcript,)
    request = ImportRequest(
        source=claude_code.NAME, paths=paths, folder=workspace.records_dir, root=workspace.root
    )
    return run_import(request, workspace.settings, now_s=now_s)


def _read_manifest(root: Path) -> _Manifest:
    path = root / MANIFEST
    if not path.is_file():
        raise UsageError(f"{root}: Claude Code is not recorded here")
    try:
        return msgspec.json.decode(read_file(path), type=_Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(f"is damaged ({error}); restore it from git", path=path) from error
