"""Add a hook to the text of Claude Code's settings, whose formatting stays, and take it out again.

What the installers share: that of runs, and that of recording.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coreloop.base.errors import WorkspaceError

_DECODER: Final = json.JSONDecoder()
SETTINGS: Final = ".claude/settings.json"
_SPACE: Final = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class InstallChange:
    """A file, and what happens to it."""

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Insertion:
    """A changed text, and what was inserted into it."""

    text: str
    inserted: str


def with_hook(text: str, event: str, entry: dict[str, Any], path: Path) -> Insertion:
    """Add an entry to the hooks of an event; nothing else of the text changes.

    Parameters
    ----------
    text : str
        Of the settings file.
    event : str
        ``Stop`` or another one.
    entry : dict
        A group of hooks.
    path : Path
        For messages.

    Raises
    ------
    WorkspaceError
        The text is not JSON, or ``hooks`` or its member has another type.
    """
    if not text.strip():
        created = json.dumps({"hooks": {event: [entry]}}, indent=2, ensure_ascii=False) + "\n"
        return Insertion(text + created, created)
    settings = _parsed(text, path)
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict) or not isinstance(hooks.get(event, []), list):
        raise WorkspaceError(f"hooks.{event} is not a list of an object hooks; correct it first", path=path)
    where, value = _place(text, settings, event, entry)
    inserted = _laid_out(text, where, value)
    changed = text[: where.at] + inserted + text[where.at :]
    expected = settings | {"hooks": hooks | {event: [*hooks.get(event, []), entry]}}
    if json.loads(changed) != expected:
        raise WorkspaceError("the hook cannot be added here; add it by hand", path=path)
    return Insertion(changed, inserted)


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


def without(text: str, inserted: str) -> str | None:
    """Take out what was inserted; None if the text does not have it exactly once, or would not be JSON."""
    if text.count(inserted) != 1:
        return None
    rest = text.replace(inserted, "", 1)
    try:
        json.loads(rest or "{}")
    except (ValueError, RecursionError):  # a member that was added beside it left its comma
        return rest if not rest.strip() else None
    return rest


def without_entry(text: str, event: str, script: str, inserted: str) -> str | None:
    """Take out the entry of a script from settings that were formatted anew since.

    Parameters
    ----------
    text : str
        Of the settings file, which is JSON.
    event : str
        Of the hook.
    script : str
        Path of the script; the entry's only hook has it in its command.
    inserted : str
        What was inserted; ``hooks`` and the event that came with it are taken out if nothing else is in them.

    Returns
    -------
    str or None
        None unless there is exactly one such entry; everything else stays as it is.
    """
    try:
        settings = json.loads(text)
        entries = settings["hooks"][event]
        own = [place for place, entry in enumerate(entries) if _is_of(entry, script)]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    if len(own) != 1:
        return None
    hooks = _member(text, _skip(text, 0), "hooks")
    rest = _cut(text, _member(text, hooks, event), own[0])
    for key, above in ((event, ("hooks",)), ("hooks", ())):
        container = _skip(rest, 0)
        for name in above:
            container = _member(rest, container, name)
        if f'"{key}"' in inserted and not _members(rest, _member(rest, container, key)):
            keys = [member.key for member in _members(rest, container)]
            rest = _cut(rest, container, keys.index(key))
    return rest


def _is_of(entry: Any, script: str) -> bool:
    hooks = entry["hooks"]
    return len(hooks) == 1 and script in hooks[0]["command"]


def _cut(text: str, start: int, place: int) -> str:
    """Take a member out of the container at ``start``, with the comma beside it."""
    members = _members(text, start)
    begin, end = members[place].start, members[place].end
    if place + 1 < len(members):
        end = members[place + 1].start
    elif place:
        begin = members[place - 1].end
    else:
        begin, end = start + 1, _skip(text, end)
    return text[:begin] + text[end:]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a container takes another member: behind its last one, or behind its bracket."""

    at: int
    depth: int
    is_empty: bool


def _place(text: str, settings: dict[str, Any], event: str, entry: dict[str, Any]) -> tuple[_Place, str]:
    """The innermost existing container, and the text of what it gets."""
    start = _SPACE.match(text).end()  # type: ignore[union-attr]
    if "hooks" not in settings:
        return _end_of(text, start, 1), f'"hooks": {_json({event: [entry]}, 1)}'
    hooks = _member(text, start, "hooks")
    if event not in settings["hooks"]:
        return _end_of(text, hooks, 2), f'"{event}": {_json([entry], 2)}'
    return _end_of(text, _member(text, hooks, event), 3), _json(entry, 3)


def _json(value: Any, depth: int) -> str:
    return json.dumps(value, indent="\t", ensure_ascii=False).replace("\n", "\n" + "\t" * depth)


def _laid_out(text: str, place: _Place, value: str) -> str:
    """Indent as the text does; a text on one line stays on one line."""
    if "\n" not in text.strip():
        compact = re.sub(r"\n\t*", "", value)
        return compact if place.is_empty else f", {compact}"
    found = re.search(r"\n([ \t]+)\S", text)
    indent = found[1] if found else "  "
    block = "\n" + "\t" * place.depth + value
    block = re.sub(r"\t", lambda _: indent, block)
    ends_line = re.match(r"[ \t]*\r?\n\s*[}\]]", text[place.at :])  # {, and } on the next line
    tail = "\n" + indent * (place.depth - 1) if place.is_empty and not ends_line else ""
    whole = f"{'' if place.is_empty else ','}{block}{tail}"
    return whole.replace("\n", "\r\n") if "\r\n" in text else whole


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of a container: its key ("" in a list), and where it, its value and its end are."""

    key: str
    start: int
    value: int
    end: int


def _members(text: str, start: int) -> list[_Member]:
    """The members of the container at a place."""
    members, at = [], _skip(text, start + 1)
    while text[at] not in "]}":
        key, begin = "", at
        if text[start] == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        members.append(_Member(key, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return members


def _member(text: str, start: int, name: str) -> int:
    # of equal keys the last counts
    return [member.value for member in _members(text, start) if member.key == name][-1]


def _end_of(text: str, start: int, depth: int) -> _Place:
    members = _members(text, start)
    return _Place(members[-1].end, depth, False) if members else _Place(start + 1, depth, True)


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WorkspaceError(f"is not JSON ({error}); correct it first", path=path) from error
    if not isinstance(settings, dict):
        raise WorkspaceError("is not a JSON object; correct it first", path=path)
    return settings
