"""Add a hook to Claude Code's settings, and take it out: byte for byte, if nothing else changed since.

What the installers share: that of runs, and that of recording.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coreloop.base.errors import WorkspaceError

SETTINGS: Final = ".claude/settings.json"


@dataclass(frozen=True, slots=True)
class InstallChange:
    """A file, and what happens to it."""

    path: str
    what: str


def with_hook(text: str, events: Iterable[str], entry: dict[str, Any], path: Path) -> str:
    """Add an entry to the hooks of events.

    Parameters
    ----------
    text : str
        Of the settings file.
    events : iterable of str
        ``Stop`` or others.
    entry : dict
        A group of hooks.
    path : Path
        For messages.

    Raises
    ------
    WorkspaceError
        The text is not JSON, or ``hooks`` or its member has another type.
    """
    settings = parsed_settings(text, path)
    hooks = settings.setdefault("hooks", {})
    for event in events:
        if not isinstance(hooks, dict) or not isinstance(hooks.setdefault(event, []), list):
            raise WorkspaceError(
                f"hooks.{event} is not a list of an object hooks; correct it first", path=path
            )
        hooks[event].append(entry)
    return _written(settings, text)


def without_hook(text: str, events: Iterable[str], path: Path, *, script: str) -> str:
    """Take the entry out of settings that were changed since; if they were not, the caller has the original.

    Parameters
    ----------
    text : str
        Of the settings file.
    events, path
        As for `with_hook`.
    script : str
        What the command of the entry's only hook has, whatever else of it was changed.

    Raises
    ------
    WorkspaceError
        An event has not exactly one such entry: remove it by hand first.
    """
    settings = parsed_settings(text, path)
    for event in events:
        hooks = settings.get("hooks")
        entries = hooks.get(event) if isinstance(hooks, dict) else None
        kept = [each for each in entries if not _is_of(each, script)] if isinstance(entries, list) else []
        if not isinstance(entries, list) or len(kept) != len(entries) - 1:
            raise WorkspaceError(
                f"the entry of {script} was changed; remove it from hooks.{event} by hand, "
                "then run this again",
                path=path,
            )
        settings["hooks"] = {**settings["hooks"], event: kept}
        if not kept:
            del settings["hooks"][event]
    if not settings["hooks"]:
        del settings["hooks"]
    return _written(settings, text)


def decode_settings(data: bytes, path: Path) -> str:
    """Decode a settings file, or raise `WorkspaceError`."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise WorkspaceError("is not UTF-8; save it as UTF-8 first", path=path) from error


def refuse_links(root: Path, names: Iterable[str]) -> None:
    """Raise `WorkspaceError` if a path below the project leads out of it."""
    for name in names:
        if not (root / name).resolve().is_relative_to(root.resolve()):
            raise WorkspaceError("leads out of the project; remove the link", path=root / name)


def _is_of(entry: Any, script: str) -> bool:
    match entry:
        case {"hooks": [{"command": str(command)}]}:
            return script in command
    return False


def _written(settings: dict[str, Any], like: str) -> str:
    """Write JSON with the indentation of a text."""
    found = re.search(r"\n([ \t]+)\S", like)
    return json.dumps(settings, indent=found[1] if found else 2, ensure_ascii=False) + "\n"


def parsed_settings(text: str, path: Path) -> dict[str, Any]:
    """Decode the JSON of a settings file, or raise `WorkspaceError`."""
    try:
        settings = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise WorkspaceError(f"is not JSON ({error}); correct it first", path=path) from error
    if not isinstance(settings, dict):
        raise WorkspaceError("is not a JSON object; correct it first", path=path)
    return settings
