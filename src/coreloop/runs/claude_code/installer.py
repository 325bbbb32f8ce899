"""Install coreloop's hook and skills for an agent, and remove them again.

For Claude Code into a project, as a plugin of Claude Code, or as a section of ``AGENTS.md`` for other agents.
The manifest says what was written. It is written first and removed last, so that an interrupted installation
can be removed too.
"""

import json
import re
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
from coreloop.runs.claude_code.skills import LANGUAGES, TEMPLATES, Language, skill_files
from coreloop.runs.folder import FOLDER

Agent = Literal["claude-code", "plugin", "agents-md"]
AGENTS: Final[tuple[Agent, ...]] = get_args(Agent)
BACKUP: Final = ".claude/settings.json.coreloop-backup"
PLUGIN: Final = "coreloop-plugin"
MANIFEST: Final = ".claude/coreloop.json"
_MANIFESTS: Final = {"claude-code": MANIFEST, "plugin": f"{PLUGIN}/coreloop.json"}
HOOK: Final = ".claude/hooks/stop-hook.py"
IGNORED: Final = ".gitignore"
SECTION: Final = "AGENTS.md"
EVENTS: Final = ("Stop", "UserPromptSubmit")
"""At the end of a turn the hook may hold it; at its beginning it notes that a person has come."""
_BEGIN, _END = b"<!-- coreloop: begin -->\n", b"<!-- coreloop: end -->\n"
_IGNORED: Final = re.compile(r"\n?(?:\.research/\n)?(?:[^\n]+/runs/\n)?")
_ROOT: Final = b"# coreloop: commands in the folders below find the project by this file.\n"
_ABOUT: Final = {
    "name": "coreloop",
    "description": "Deep research that coreloop ends, not the model; findings are checked.",
    "version": "1.0.0",
    "author": {"name": "coreloop"},
    "license": "Apache-2.0",
}


class Manifest(msgspec.Struct, frozen=True):
    """What an installation wrote.

    Attributes
    ----------
    files : dict of str to str
        Paths below the project, and the SHA-256 of their contents.
    folders : tuple of str
        Folders that it created, the outer ones first.
    lease_s : int
        Of the hook's entry in the settings.
    created_settings : bool
        Whether there were no settings before; else `BACKUP` has them.
    ignored : str
        The text that it added to ``.gitignore``.
    created_ignored : bool
        Whether there was no such file before.
    """

    files: dict[str, str]
    folders: tuple[str, ...]
    lease_s: int
    created_settings: bool = False
    ignored: str = ""
    created_ignored: bool = False


def project_root(folder: Path) -> Path:
    """Return where to install: the top of the git work tree of a folder, or the folder itself."""
    with suppress(GitError), Repository(folder) as repository:
        return repository.root
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
        The folder is absent, a file of the user has the path of a planned one, or the settings cannot be
        changed.
    """
    if not root.is_dir():
        raise WorkspaceError("is not a folder; check --project", path=root)
    if agent == "agents-md":
        return _add_section(root / SECTION, confirm=confirm, language=language)
    contents = dict(_contents(root, agent, lease_s, language))
    _require_free(root, agent, contents)
    old, settings = None, None
    if agent == "claude-code":
        old, settings = _with_hook(root / SETTINGS, lease_s)
    ignored = _ignored(root) if agent == "claude-code" else ""
    backup = {} if old is None else {BACKUP: old}
    names = [*backup, *contents, _MANIFESTS[agent]]
    changes = [InstallChange(SETTINGS, "add the hook to" if backup else "write")] if settings else []
    changes += [InstallChange(name, "write") for name in names]
    changes += [InstallChange(IGNORED, "add to")] if ignored else []
    if confirm:
        manifest = Manifest(
            {name: sha256(content).hexdigest() for name, content in contents.items()},
            tuple(_new_folders(root, contents)),
            lease_s,
            created_settings=old is None,
            ignored=ignored,
            created_ignored=not (root / IGNORED).exists(),
        )
        written = msgspec.json.format(msgspec.json.encode(manifest))
        for name, content in {_MANIFESTS[agent]: written, **backup, **contents}.items():
            write_public(root / name, content)
        if settings is not None:
            _replace(root / SETTINGS, settings)
        if ignored:
            path = root / IGNORED
            _replace(path, (read_file(path) if path.exists() else b"") + ignored.encode())
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
    manifest = _manifest(root, agent)
    rewritten, changes = dict[str, bytes](), list[InstallChange]()
    if agent == "claude-code":
        changes += _without_hook(root, manifest, rewritten)
        changes += _without_ignored(root / IGNORED, manifest, rewritten)
    for name, digest in manifest.files.items():
        if (root / name).is_file():
            is_ours = sha256(read_file(root / name)).hexdigest() == digest
            changes.append(InstallChange(name, "remove" if is_ours else "keep (it was changed)"))
    changes.append(InstallChange(_MANIFESTS[agent], "remove"))
    for name, content in rewritten.items() if confirm else ():
        rewrite_file(root / name, content)
    if confirm:
        _remove(root, changes, manifest.folders)
    return changes


def _remove(root: Path, changes: list[InstallChange], folders: tuple[str, ...]) -> None:
    for change in changes:
        if change.what == "remove":
            (root / change.path).unlink(missing_ok=True)
    for folder in reversed(folders):
        with suppress(OSError):  # it has other files
            (root / folder).rmdir()


def _replace(path: Path, content: bytes) -> None:
    (rewrite_file if path.exists() else write_public)(path, content)


def _with_hook(path: Path, lease_s: int) -> tuple[bytes | None, bytes]:
    """Return the settings as they are, None without any, and with the hook."""
    old = read_file(path) if path.exists() else None
    text = with_hook(
        decode_settings(old or b"", path), EVENTS, _entry(f'"$CLAUDE_PROJECT_DIR"/{HOOK}', lease_s), path
    )
    return old, text.encode()


def _without_hook(root: Path, manifest: Manifest, rewritten: dict[str, bytes]) -> Iterator[InstallChange]:
    """Plan the settings without the hook, or no settings."""
    path, backup = root / SETTINGS, root / BACKUP
    old = read_file(backup) if backup.is_file() else b""
    rest = old
    if path.is_file() and "stop-hook.py" in (text := decode_settings(read_file(path), path)):
        entry = _entry(f'"$CLAUDE_PROJECT_DIR"/{HOOK}', manifest.lease_s)
        rest = without_hook(text, decode_settings(old, backup), EVENTS, entry, path, script=HOOK).encode()
        if manifest.created_settings and not rest:
            yield InstallChange(SETTINGS, "remove")
        else:
            rewritten[SETTINGS] = rest
            yield InstallChange(SETTINGS, "take the hook out of")
    if backup.is_file():
        yield InstallChange(BACKUP, "remove" if rest == old else "keep (the settings were changed)")


def _ignored(root: Path) -> str:
    """What ``.gitignore`` lacks: runs and their views, which contain questions."""
    try:
        with Repository(root) as repository:
            names = (FOLDER, f"{load_settings(root).data_dir}/runs")
            missing = [name for name in names if not repository.is_ignored(f"{name}/x")]
    except GitError:
        return ""
    path = root / IGNORED
    is_torn = path.is_file() and not read_file(path).endswith(b"\n") and bool(read_file(path))
    return ("\n" if is_torn else "") + "".join(f"{name}/\n" for name in missing) if missing else ""


def _without_ignored(path: Path, manifest: Manifest, rewritten: dict[str, bytes]) -> Iterator[InstallChange]:
    """Plan the file without the lines that were added, if they are its last."""
    lines = manifest.ignored.encode()
    if not lines or not path.is_file() or not read_file(path).endswith(lines):
        return
    rest = read_file(path).removesuffix(lines)
    if rest or not manifest.created_ignored:
        rewritten[IGNORED] = rest
    yield InstallChange(IGNORED, "take the lines out of" if IGNORED in rewritten else "remove")


def _contents(root: Path, agent: Agent, lease_s: int, language: Language) -> Iterator[tuple[str, bytes]]:
    hook = TEMPLATES.joinpath("stop_hook.py").read_bytes()
    folder = ".claude"
    if agent == "plugin":
        folder = PLUGIN
        entry = _entry('"${CLAUDE_PLUGIN_ROOT}"/hooks/stop-hook.py', lease_s)
        yield f"{PLUGIN}/.claude-plugin/plugin.json", _json(_ABOUT)
        yield f"{PLUGIN}/hooks/hooks.json", _json({"hooks": {event: [entry] for event in EVENTS}})
    yield f"{folder}/hooks/stop-hook.py", hook
    for name, content in skill_files(language):
        yield f"{folder}/skills/{name}", content
    if agent == "claude-code" and not (find_root(root) / FILE_NAME).is_file():
        yield FILE_NAME, _ROOT


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _entry(script: str, lease_s: int) -> dict[str, Any]:
    command = f"python3 -I -S {script} --lease {lease_s}"
    return {"hooks": [{"type": "command", "command": command, "timeout": 10}]}


def _require_free(root: Path, agent: Agent, contents: dict[str, bytes]) -> None:
    manifest = _MANIFESTS[agent]
    refuse_links(root, [*contents, manifest, SETTINGS, BACKUP, IGNORED])
    if (root / manifest).exists():
        raise UsageError(f"{root}: installed already; run runs uninstall {agent} --confirm first")
    for name in (*contents, *([BACKUP] if agent == "claude-code" else [])):
        if (root / name).exists():
            raise WorkspaceError("exists; move it away", path=root / name)


def _new_folders(root: Path, contents: dict[str, bytes]) -> list[str]:
    folders = {above.as_posix() for name in contents for above in Path(name).parents if above != Path()}
    return [folder for folder in sorted(folders) if not (root / folder).exists()]


def _manifest(root: Path, agent: Agent) -> Manifest:
    path = root / _MANIFESTS[agent]
    if not path.is_file():
        raise UsageError(f"{root}: nothing is installed for {agent}")
    try:
        manifest = msgspec.json.decode(read_file(path), type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(f"is damaged ({error}); restore it from git", path=path) from error
    known = {name for each in LANGUAGES for name, _ in _contents(root, agent, 0, each)} | {FILE_NAME}
    return msgspec.structs.replace(
        manifest,  # a repository could bring one that names other files
        files={
            name: digest
            for name, digest in manifest.files.items()
            if name in known and (name != FILE_NAME or digest == sha256(_ROOT).hexdigest())
        },
        ignored=manifest.ignored if _IGNORED.fullmatch(manifest.ignored) else "",
        folders=tuple(
            folder for folder in manifest.folders if any(name.startswith(f"{folder}/") for name in known)
        ),
    )


def _add_section(path: Path, *, confirm: bool, language: Language) -> list[InstallChange]:
    old = read_file(path) if path.exists() else b""
    if _BEGIN in old:
        raise UsageError(f"{path}: installed already; run runs uninstall agents-md --confirm first")
    text = TEMPLATES.joinpath("agents", f"{language}.md").read_bytes()
    is_new = not path.exists()
    if confirm:
        _replace(path, old + (b"" if is_new else b"\n") + _BEGIN + text + _END)
    return [InstallChange(SECTION, "write" if is_new else "add a section to")]


def _take_section_out(path: Path, *, confirm: bool) -> list[InstallChange]:
    text = read_file(path) if path.is_file() else b""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise UsageError(f"{path}: has no section of coreloop")
    whole = before.removesuffix(b"\n") + after
    if confirm and whole:
        rewrite_file(path, whole)
    elif confirm:
        path.unlink()
    return [InstallChange(SECTION, "take the section out of" if whole else "remove")]
