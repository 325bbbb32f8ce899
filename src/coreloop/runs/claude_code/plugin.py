"""The same skills as a plugin of Claude Code, and as a section of ``AGENTS.md`` for other agents."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coreloop.base.claude_settings import InstallChange
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import read_file, rewrite_file, write_public
from coreloop.runs.claude_code.installer import EVENTS
from coreloop.runs.claude_code.skills import LANGUAGES, TEMPLATES, Language, skill_files

PLUGIN: Final = "coreloop-plugin"
AGENTS: Final = "AGENTS.md"
_BEGIN, _END = "<!-- coreloop: begin -->\n", "<!-- coreloop: end -->\n"


def install_plugin(root: Path, *, lease_s: int, confirm: bool, language: Language) -> list[InstallChange]:
    """Plan the folder of a plugin below a folder, and write it with ``confirm``.

    Raises
    ------
    WorkspaceError
        A planned file exists.
    """
    contents = dict(_plugin(lease_s, language))
    for name in contents:
        if (root / name).exists():
            raise WorkspaceError("exists; move it away", path=root / name)
    for name, content in contents.items() if confirm else ():
        write_public(root / name, content)
    return [InstallChange(name, "write") for name in contents]


def uninstall_plugin(root: Path, *, confirm: bool) -> list[InstallChange]:
    """Plan which files of the plugin to remove, and remove them. Those that were changed are kept.

    Raises
    ------
    UsageError
        There is no plugin.
    """
    if not (root / PLUGIN).is_dir():
        raise UsageError(f"{root}: no {PLUGIN} is here")
    names = dict.fromkeys(name for language in LANGUAGES for name, _ in _plugin(0, language))
    changes = [_removal(root, name) for name in names if (root / name).is_file()]
    for change in changes if confirm else ():
        if change.what == "remove":
            (root / change.path).unlink()
    if confirm:
        _remove_empty(root / PLUGIN)
    return changes


def _removal(root: Path, name: str) -> InstallChange:
    content = read_file(root / name)
    known = [dict(_plugin(0, language)).get(name) for language in LANGUAGES]
    is_ours = content in known or name.endswith("hooks.json")  # has the lease that was asked for
    return InstallChange(name, "remove" if is_ours else "keep (it was changed)")


def _remove_empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    if not any(folder.iterdir()):
        folder.rmdir()


def _plugin(lease_s: int, language: Language) -> Iterator[tuple[str, bytes]]:
    about = {
        "name": "coreloop",
        "description": "Deep research that coreloop ends, not the model; findings are checked.",
        "version": "1.0.0",
        "author": {"name": "coreloop"},
        "license": "Apache-2.0",
    }
    command = f'python3 -I -S "${{CLAUDE_PLUGIN_ROOT}}"/hooks/stop-hook.py --lease {lease_s}'
    entry = {"hooks": [{"type": "command", "command": command, "timeout": 10}]}
    hooks = {"hooks": {event: [entry] for event in EVENTS}}
    yield f"{PLUGIN}/.claude-plugin/plugin.json", _json(about)
    yield f"{PLUGIN}/hooks/hooks.json", _json(hooks)
    yield f"{PLUGIN}/hooks/stop-hook.py", TEMPLATES.joinpath("stop_hook.py").read_bytes()
    for name, content in skill_files(language):
        yield f"{PLUGIN}/skills/{name}", content


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def install_agents(root: Path, *, confirm: bool, language: Language) -> list[InstallChange]:
    """Plan a section of ``AGENTS.md`` for agents without skills, and write it with ``confirm``.

    Raises
    ------
    UsageError
        The section is there already.
    """
    path = root / AGENTS
    old = read_file(path) if path.exists() else None
    if old is not None and _BEGIN.encode() in old:
        raise UsageError(f"{path}: installed already; run runs uninstall agents-md --confirm first")
    section = _BEGIN.encode() + TEMPLATES.joinpath("agents", f"{language}.md").read_bytes() + _END.encode()
    if confirm and old is None:
        write_public(path, section)
    elif confirm and old is not None:
        rewrite_file(path, old + b"\n" + section)
    return [InstallChange(AGENTS, "write" if old is None else "add a section to")]


def uninstall_agents(root: Path, *, confirm: bool) -> list[InstallChange]:
    """Plan to take the section out of ``AGENTS.md``, and do it with ``confirm``.

    Raises
    ------
    UsageError
        There is none.
    """
    path = root / AGENTS
    text = read_file(path) if path.is_file() else b""
    before, begin, rest = text.partition(_BEGIN.encode())
    _, end, after = rest.partition(_END.encode())
    if not begin or not end:
        raise UsageError(f"{path}: has no section of coreloop")
    whole = before.removesuffix(b"\n") + after if before else after
    if confirm and whole:
        rewrite_file(path, whole)
    elif confirm:
        path.unlink()
    return [InstallChange(AGENTS, "take the section out of" if whole else "remove")]
