"""Record a project's sessions of Claude Code: a Stop hook that reads the session's own file after each turn.

The hooks of single calls are not used: of five calls that a model asked for, Claude Code 2.1.331 told them of
three. A call with rejected arguments or of an unknown tool reaches no hook, but stands in the session's file.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.base.claude_settings import (
    SETTINGS,
    InstallChange,
    decode_settings,
    parsed_settings,
    refuse_links,
    with_hook,
    without_hook,
)
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import read_file, rewrite_file, write_public
from coreloop.base.project.workspace import Workspace
from coreloop.observe.importers import claude_code
from coreloop.observe.importers.append_requests import ImportReport, run_import

COMMAND: Final = "dartlab-coreloop observe turn"
# Not asynchronous: Claude Code ends such a hook with its own process, so a script's turn would be lost.
_ENTRY: Final[dict[str, Any]] = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 60}]}


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
    path, old = _settings(root)
    if _is_installed(old, path):
        raise UsageError(f"{root}: installed already; run observe uninstall claude-code --confirm first")
    text = with_hook(old or "", ["Stop"], _ENTRY, path)
    if confirm:
        (write_public if old is None else rewrite_file)(path, text.encode())
    return [InstallChange(SETTINGS, "write" if old is None else "add the hook to")]


def uninstall(root: Path, *, confirm: bool) -> list[InstallChange]:
    """Plan to take the hook out, and do so with ``confirm``. Records stay.

    Raises
    ------
    UsageError
        It is not installed.
    WorkspaceError
        The hook's entry, or what is around it, was changed: remove it by hand first.
    """
    path, text = _settings(root)
    if text is None or not _is_installed(text, path):
        raise UsageError(f"{root}: Claude Code is not recorded here")
    rest = without_hook(text, ["Stop"], path, script=COMMAND)
    is_empty = rest.strip() == "{}"
    if confirm and is_empty:
        path.unlink()
        with suppress(OSError):  # other files are in it
            path.parent.rmdir()
    elif confirm:
        rewrite_file(path, rest.encode())
    return [InstallChange(SETTINGS, "remove" if is_empty else "take the hook out of")]


def _settings(root: Path) -> tuple[Path, str | None]:
    """The settings file, and its text if it exists."""
    refuse_links(root, [SETTINGS])
    path = root / SETTINGS
    return path, decode_settings(read_file(path), path) if path.is_file() else None


def _is_installed(text: str | None, path: Path) -> bool:
    hooks = parsed_settings(text or "", path).get("hooks")
    return isinstance(hooks, dict) and COMMAND in str(hooks.get("Stop"))


def read_turn(told: bytes) -> Path:
    """Read the session's file from what Claude Code tells its hooks.

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
    return Path(path)


def record_turn(transcript: Path, workspace: Workspace, *, now_s: float) -> ImportReport:
    """Record the finished turns of a session, and tasks of its sub-agents, that have no record yet.

    Raises
    ------
    WorkspaceError
        The session's file cannot be read, or the records cannot be written.
    """
    agents = transcript.with_suffix("") / claude_code.AGENTS
    paths = (transcript, agents) if any(agents.glob("**/*.jsonl")) else (transcript,)
    return run_import(claude_code.NAME, paths, workspace, now_s=now_s)
