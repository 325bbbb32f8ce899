"""Install coreloop's hook and skills for an agent, and remove them again.

For Claude Code into a project, as a plugin of Claude Code, or as a section of ``AGENTS.md`` for other agents.
The manifest says what was written. It is written first and removed last, so that an interrupted installation
can be removed too.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, get_args

import msgspec

from coreloop.base.claude_settings import (
    SETTINGS,
    InstallChange,
    decode_settings,
    refuse_links,
    with_hook,
    without_hook,
)
from coreloop.base.errors import GitError, UsageError, WorkspaceError
from coreloop.base.files import read_file, rewrite_file, write_public
from coreloop.base.git.repository import Repository
from coreloop.base.project.settings_file import FILE_NAME, load_settings
from coreloop.base.project.workspace import find_root
from coreloop.runs.folder import FOLDER

Agent = Literal["claude-code", "plugin", "agents-md"]
Language = Literal["ko", "en"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
PLUGIN: Final = "coreloop-plugin"
MANIFEST: Final = ".claude/coreloop.json"
_MANIFESTS: Final = {"claude-code": MANIFEST, "plugin": f"{PLUGIN}/coreloop.json"}
HOOK: Final = ".claude/hooks/stop-hook.py"
IGNORED: Final = ".gitignore"
SECTION: Final = "AGENTS.md"
EVENTS: Final = ("Stop", "UserPromptSubmit")
"""At the end of a turn the hook may hold it; at its beginning it notes that a person has come."""
_TEMPLATES: Final = Path(__file__).with_name("templates")
_LONG, _SHORT = "deep-research", "dr"
_BEGIN, _END = b"<!-- coreloop: begin -->\n", b"<!-- coreloop: end -->\n"
_ROOT: Final = b"# coreloop: commands in the folders below find the project by this file.\n"
_ABOUT: Final = {
    "name": "coreloop",
    "description": "Deep research that coreloop ends, not the model; findings are checked.",
    "version": "1.0.0",
    "author": {"name": "coreloop"},
    "license": "Apache-2.0",
}


class WrittenFile(msgspec.Struct, frozen=True):
    """The SHA-256 of what an installation wrote, and the text before, None for a file that it created."""

    digest: str
    before: str | None = None


def project_root(folder: Path) -> Path:
    """Return where to install: the top of the git work tree of a folder, or the folder itself."""
    with suppress(GitError):
        return Repository(folder).root
    return folder


def install(
    root: Path, *, lease_s: int, confirm: bool, language: Language = "ko", agent: Agent = "claude-code"
) -> list[InstallChange]:
    """Plan the files, and write them with ``confirm``.

    Parameters
    ----------
    root : Path
        The project's folder.
    lease_s : int
        After so many seconds without a commit, the hook lets the turn end.
    confirm : bool
        Write; otherwise only return what would be written.
    language : str
        Of the skills.
    agent : str
        What to install for.

    Raises
    ------
    UsageError
        It is installed already.
    WorkspaceError
        A file of the user has the path of a planned one, or the settings cannot be changed.
    """
    if agent == "agents-md":
        return _add_section(root / SECTION, confirm=confirm, language=language)
    contents = dict(_contents(agent, lease_s, language))
    if agent == "plugin" or (find_root(root) / FILE_NAME).is_file():
        contents.pop(FILE_NAME, None)
    _require_free(root, agent, contents)
    edited = dict(_edited(root, lease_s)) if agent == "claude-code" else {}
    before = {name: _text(root / name) for name in edited}
    changes = [
        *(InstallChange(name, "write" if before[name] is None else "add to") for name in edited),
        *(InstallChange(name, "write") for name in (*contents, _MANIFESTS[agent])),
    ]
    if confirm:
        contents |= edited
        files = {name: WrittenFile(_digest(content), before.get(name)) for name, content in contents.items()}
        manifest = msgspec.json.format(msgspec.json.encode(files))
        for name, content in {_MANIFESTS[agent]: manifest, **contents}.items():
            _write(root / name, content)
    return changes


def uninstall(root: Path, *, confirm: bool, agent: Agent = "claude-code") -> list[InstallChange]:
    """Plan what to remove, and remove it with ``confirm``. Files that were changed since are kept.

    Raises
    ------
    UsageError
        Nothing is installed.
    WorkspaceError
        The hook's entry in the settings, or what is around it, was changed: remove it by hand first.
    """
    if agent == "agents-md":
        return _take_section_out(root / SECTION, confirm=confirm)
    refuse_links(root, [_MANIFESTS[agent], SETTINGS, IGNORED])
    manifest, changes = _manifest(root, agent), list[InstallChange]()
    for name, file in manifest.items():
        now = read_file(root / name) if (root / name).is_file() else None
        if now is None:
            continue
        rest = _rest(root, name, file, now)
        kept = "keep (it was changed)" if rest == now else "clean"
        changes.append(InstallChange(name, "remove" if rest is None else kept))
        if confirm and rest is not None and rest != now:
            rewrite_file(root / name, rest)
    changes.append(InstallChange(_MANIFESTS[agent], "remove"))
    if not confirm:
        return changes
    for change in changes:
        if change.what == "remove":
            (root / change.path).unlink()
    for folder in sorted({above for name in manifest for above in Path(name).parents[:-1]}, reverse=True):
        with suppress(OSError):  # it has other files
            (root / folder).rmdir()
    return changes


def skill_files(language: Language) -> Iterator[tuple[str, bytes]]:
    """Yield the paths below a folder of skills, and their contents; ``dr`` is a short name of the longest."""
    skills = _TEMPLATES / "skills" / language
    for path in sorted(skills.rglob("*.md")):
        name, content = path.relative_to(skills).as_posix(), path.read_bytes()
        yield name, content
        if name.startswith(f"{_LONG}/"):
            text = content.decode().replace(f"name: {_LONG}\n", f"name: {_SHORT}\n", 1)
            yield name.replace(_LONG, _SHORT, 1), text.encode()


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    (rewrite_file if path.exists() else write_public)(path, content)


def _text(path: Path) -> str | None:
    return decode_settings(read_file(path), path) if path.exists() else None


def _edited(root: Path, lease_s: int) -> Iterator[tuple[str, bytes]]:
    entry = _entry(f'"$CLAUDE_PROJECT_DIR"/{HOOK}', lease_s)
    yield SETTINGS, with_hook(_text(root / SETTINGS) or "", EVENTS, entry, root / SETTINGS).encode()
    with suppress(GitError):
        missing = [name for name in _ignored(root) if not Repository(root).is_ignored(f"{name}x")]
        if missing:
            before = (_text(root / IGNORED) or "").removesuffix("\n")
            yield IGNORED, "\n".join([*([before] if before else []), *missing, ""]).encode()


def _ignored(root: Path) -> tuple[str, str]:
    """What git must not see: runs and their views, which contain questions."""
    return f"{FOLDER}/", f"{load_settings(root).data_dir}/runs/"


def _rest(root: Path, name: str, file: WrittenFile, now: bytes) -> bytes | None:
    """Return what is left of a file: as it was, if nothing else was changed; None for nothing."""
    before = None if file.before is None else file.before.encode()
    if name == IGNORED:
        ours = {line.encode() for line in _ignored(root)}.difference((before or b"").splitlines())
        rest = b"".join(line for line in now.splitlines(keepends=True) if line.strip() not in ours)
        return before if rest.removesuffix(b"\n") == (before or b"").removesuffix(b"\n") else rest
    if _digest(now) == file.digest and (name != FILE_NAME or now == _ROOT):
        return before
    if name == SETTINGS and b"stop-hook.py" in now:
        path = root / name
        return without_hook(decode_settings(now, path), EVENTS, path, script=HOOK).encode()
    return now


def _contents(agent: Agent, lease_s: int, language: Language) -> Iterator[tuple[str, bytes]]:
    folder = ".claude"
    if agent == "plugin":
        folder = PLUGIN
        entry = _entry('"${CLAUDE_PLUGIN_ROOT}"/hooks/stop-hook.py', lease_s)
        yield f"{PLUGIN}/.claude-plugin/plugin.json", _json(_ABOUT)
        yield f"{PLUGIN}/hooks/hooks.json", _json({"hooks": {event: [entry] for event in EVENTS}})
    yield f"{folder}/hooks/stop-hook.py", (_TEMPLATES / "stop_hook.py").read_bytes()
    for name, content in skill_files(language):
        yield f"{folder}/skills/{name}", content
    yield FILE_NAME, _ROOT


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _entry(script: str, lease_s: int) -> dict[str, Any]:
    command = f"python3 -I -S {script} --lease {lease_s}"
    return {"hooks": [{"type": "command", "command": command, "timeout": 10}]}


def _require_free(root: Path, agent: Agent, contents: dict[str, bytes]) -> None:
    manifest = _MANIFESTS[agent]
    refuse_links(root, [*contents, manifest, SETTINGS, IGNORED])
    if (root / manifest).exists():
        raise UsageError(f"{root}: installed already; run runs uninstall {agent} --confirm first")
    for name in contents:
        if (root / name).exists():
            raise WorkspaceError("exists; move it away", path=root / name)


def _manifest(root: Path, agent: Agent) -> dict[str, WrittenFile]:
    """Read the manifest; one that a repository brings names no other files than an installation."""
    path = root / _MANIFESTS[agent]
    if not path.is_file():
        raise UsageError(f"{root}: nothing is installed for {agent}")
    try:
        files = msgspec.json.decode(read_file(path), type=dict[str, WrittenFile])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(f"is damaged ({error}); restore it from git", path=path) from error
    known = {name for each in LANGUAGES for name, _ in _contents(agent, 0, each)} | {SETTINGS, IGNORED}
    return {name: file for name, file in files.items() if name in known}


def _add_section(path: Path, *, confirm: bool, language: Language) -> list[InstallChange]:
    old = read_file(path) if path.exists() else b""
    if _BEGIN in old:
        raise UsageError(f"{path}: installed already; run runs uninstall agents-md --confirm first")
    if confirm:
        text = (_TEMPLATES / "agents" / f"{language}.md").read_bytes()
        _write(path, old + (b"\n" if old else b"") + _BEGIN + text + _END)
    return [InstallChange(SECTION, "add a section to" if old else "write")]


def _take_section_out(path: Path, *, confirm: bool) -> list[InstallChange]:
    before, begin, rest = (read_file(path) if path.is_file() else b"").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise UsageError(f"{path}: has no section of coreloop")
    whole = before.removesuffix(b"\n") + after
    if confirm and whole:
        rewrite_file(path, whole)
    elif confirm:
        path.unlink()
    return [InstallChange(SECTION, "clean" if whole else "remove")]
