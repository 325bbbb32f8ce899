"""Install coreloop's hook and skills for an agent, and remove them again.

For Claude Code into a project, as a plugin of Claude Code, or as a section of ``AGENTS.md`` for other agents.
The manifest says what was written. It is written first and removed last, so that an interrupted installation
can be removed too.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
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
_TEMPLATES: Final = files("coreloop.runs.claude_code").joinpath("templates")
_LONG, _SHORT = "deep-research", "dr"
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
    originals : dict of str to (str or None)
        The texts of edited files before, None for a file that it created.
    ignored : str
        The text that it added to ``.gitignore``.
    """

    files: dict[str, str]
    folders: tuple[str, ...]
    originals: dict[str, str | None] = {}
    ignored: str = ""


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
    ignored = _ignored(root) if agent == "claude-code" else ""
    originals = _originals(root, ignored) if agent == "claude-code" else {}
    edited = dict(_edited(root, originals, lease_s, ignored))
    verbs = {SETTINGS: "add the hook to", IGNORED: "add to"}
    changes = [
        *(InstallChange(name, "write" if originals[name] is None else verbs[name]) for name in edited),
        *(InstallChange(name, "write") for name in (*contents, _MANIFESTS[agent])),
    ]
    if confirm:
        digests = {name: _digest(content) for name, content in (contents | edited).items()}
        manifest = Manifest(digests, tuple(_new_folders(root, contents)), originals, ignored)
        written = msgspec.json.format(msgspec.json.encode(manifest))
        for name, content in {_MANIFESTS[agent]: written, **contents, **edited}.items():
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
    manifest = _manifest(root, agent)
    rests = dict(_rests(root, manifest))
    changes = [InstallChange(name, "remove" if rest is None else "clean") for name, rest in rests.items()]
    for name, digest in manifest.files.items():
        if name not in manifest.originals and (root / name).is_file():
            is_ours = _digest(read_file(root / name)) == digest
            changes.append(InstallChange(name, "remove" if is_ours else "keep (it was changed)"))
    changes.append(InstallChange(_MANIFESTS[agent], "remove"))
    if confirm:
        for name, rest in rests.items():
            if rest is not None:
                rewrite_file(root / name, rest)
        _remove(root, changes, manifest.folders)
    return changes


def skill_files(language: Language) -> Iterator[tuple[str, bytes]]:
    """Yield the paths below a folder of skills, and their contents; ``dr`` is a short name of the longest."""
    for skill in sorted(_TEMPLATES.joinpath("skills", language).iterdir(), key=lambda entry: entry.name):
        for name, content in _files(skill, skill.name):
            yield name, content
            if skill.name == _LONG:
                text = content.decode().replace(f"name: {_LONG}\n", f"name: {_SHORT}\n", 1)
                yield name.replace(_LONG, _SHORT, 1), text.encode()


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{name}/{entry.name}")
        else:
            yield f"{name}/{entry.name}", entry.read_bytes()


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _remove(root: Path, changes: list[InstallChange], folders: tuple[str, ...]) -> None:
    for change in changes:
        if change.what == "remove":
            (root / change.path).unlink(missing_ok=True)
    for folder in reversed(folders):
        with suppress(OSError):  # it has other files
            (root / folder).rmdir()


def _write(path: Path, content: bytes) -> None:
    (rewrite_file if path.exists() else write_public)(path, content)


def _originals(root: Path, ignored: str) -> dict[str, str | None]:
    """Return the texts of the files that are edited; None for one that is absent."""
    paths = [root / name for name in (SETTINGS, *([IGNORED] if ignored else []))]
    return {
        path.relative_to(root).as_posix(): decode_settings(read_file(path), path) if path.exists() else None
        for path in paths
    }


def _edited(
    root: Path, originals: Mapping[str, str | None], lease_s: int, ignored: str
) -> Iterator[tuple[str, bytes]]:
    for name, original in originals.items():
        if name == SETTINGS:
            entry = _entry(f'"$CLAUDE_PROJECT_DIR"/{HOOK}', lease_s)
            yield name, with_hook(original or "", EVENTS, entry, root / name).encode()
        else:
            yield name, f"{original or ''}{ignored}".encode()


def _rests(root: Path, manifest: Manifest) -> Iterator[tuple[str, bytes | None]]:
    """Yield what is left of each edited file: as it was, if nothing else was changed; None for nothing."""
    for name, original in manifest.originals.items():
        path = root / name
        if not path.is_file():
            continue
        now = read_file(path)
        if name == SETTINGS and _digest(now) == manifest.files.get(name):
            yield name, None if original is None else original.encode()
        elif name == SETTINGS and b"stop-hook.py" in now:
            yield name, without_hook(decode_settings(now, path), EVENTS, path, script=HOOK).encode()
        elif name == IGNORED and manifest.ignored and now.endswith(manifest.ignored.encode()):
            rest = now.removesuffix(manifest.ignored.encode())
            yield name, rest if rest or original is not None else None


def _ignored(root: Path) -> str:
    """What ``.gitignore`` lacks: runs and their views, which contain questions."""
    try:
        with Repository(root) as repository:
            names = (FOLDER, f"{load_settings(root).data_dir}/runs")
            missing = [name for name in names if not repository.is_ignored(f"{name}/x")]
    except GitError:
        return ""
    path = root / IGNORED
    is_torn = path.is_file() and read_file(path)[-1:] not in {b"", b"\n"}
    return ("\n" if is_torn else "") + "".join(f"{name}/\n" for name in missing) if missing else ""


def _contents(root: Path, agent: Agent, lease_s: int, language: Language) -> Iterator[tuple[str, bytes]]:
    folder = ".claude"
    if agent == "plugin":
        folder = PLUGIN
        entry = _entry('"${CLAUDE_PLUGIN_ROOT}"/hooks/stop-hook.py', lease_s)
        yield f"{PLUGIN}/.claude-plugin/plugin.json", _json(_ABOUT)
        yield f"{PLUGIN}/hooks/hooks.json", _json({"hooks": {event: [entry] for event in EVENTS}})
    yield f"{folder}/hooks/stop-hook.py", _TEMPLATES.joinpath("stop_hook.py").read_bytes()
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
    refuse_links(root, [*contents, manifest, SETTINGS, IGNORED])
    if (root / manifest).exists():
        raise UsageError(f"{root}: installed already; run runs uninstall {agent} --confirm first")
    for name in contents:
        if (root / name).exists():
            raise WorkspaceError("exists; move it away", path=root / name)


def _new_folders(root: Path, contents: dict[str, bytes]) -> list[str]:
    folders = {above.as_posix() for name in contents for above in Path(name).parents if above != Path()}
    return [folder for folder in sorted(folders) if not (root / folder).exists()]


def _manifest(root: Path, agent: Agent) -> Manifest:
    """Read the manifest; one that a repository brings names no other files than an installation."""
    path = root / _MANIFESTS[agent]
    if not path.is_file():
        raise UsageError(f"{root}: nothing is installed for {agent}")
    try:
        read = msgspec.json.decode(read_file(path), type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(f"is damaged ({error}); restore it from git", path=path) from error
    known = {name for each in LANGUAGES for name, _ in _contents(root, agent, 0, each)} | {SETTINGS}
    listed = {name: digest for name, digest in read.files.items() if name in known}
    if read.files.get(FILE_NAME) == _digest(_ROOT):
        listed[FILE_NAME] = _digest(_ROOT)
    return Manifest(
        listed,
        tuple(folder for folder in read.folders if any(name.startswith(f"{folder}/") for name in known)),
        {name: text for name, text in read.originals.items() if name in {SETTINGS, IGNORED}},
        read.ignored if _IGNORED.fullmatch(read.ignored) else "",
    )


def _add_section(path: Path, *, confirm: bool, language: Language) -> list[InstallChange]:
    is_new = not path.exists()
    old = b"" if is_new else read_file(path)
    if _BEGIN in old:
        raise UsageError(f"{path}: installed already; run runs uninstall agents-md --confirm first")
    if confirm:
        text = _TEMPLATES.joinpath("agents", f"{language}.md").read_bytes()
        _write(path, old + (b"" if is_new else b"\n") + _BEGIN + text + _END)
    return [InstallChange(SECTION, "write" if is_new else "add a section to")]


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
