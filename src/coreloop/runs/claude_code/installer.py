"""Install coreloop's hook and skills into a project for Claude Code, and remove them again.

The manifest says what was written. It is written first and removed last, so that an interrupted installation
can be removed too.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.base.claude_settings import (
    SETTINGS,
    InstallChange,
    decode_settings,
    refuse_links,
    with_hook,
    without,
    without_entry,
)
from coreloop.base.errors import GitError, UsageError, WorkspaceError
from coreloop.base.files import read_file, rewrite_file, write_public
from coreloop.base.git.repository import Repository
from coreloop.base.project.settings_file import FILE_NAME, load_settings
from coreloop.base.project.workspace import find_root
from coreloop.runs.claude_code.skills import LANGUAGES, TEMPLATES, Language, skill_files
from coreloop.runs.folder import FOLDER

BACKUP: Final = ".claude/settings.json.coreloop-backup"
MANIFEST: Final = ".claude/coreloop.json"
HOOK: Final = ".claude/hooks/stop-hook.py"
IGNORED: Final = ".gitignore"
EVENTS: Final = ("Stop", "UserPromptSubmit")
"""At the end of a turn the hook may hold it; at its beginning it notes that a person has come."""
_IGNORED: Final = re.compile(r"\n?(?:\.research/\n)?(?:[^\n]+/runs/\n)?")
_ROOT: Final = b"# coreloop: commands in the folders below find the project by this file.\n"


class Manifest(msgspec.Struct, frozen=True):
    """What an installation wrote.

    Attributes
    ----------
    files : dict of str to str
        Paths below the project, and the SHA-256 of their contents.
    folders : tuple of str
        Folders that it created, the outer ones first.
    inserted : dict of str to str
        By event, the text that it inserted into the settings, in this order.
    created_settings : bool
        Whether there were no settings before.
    ignored : str
        The text that it added to ``.gitignore``.
    created_ignored : bool
        Whether there was no such file before.
    """

    files: dict[str, str]
    folders: tuple[str, ...]
    inserted: dict[str, str]
    created_settings: bool
    ignored: str = ""
    created_ignored: bool = False


def project_root(folder: Path) -> Path:
    """Return where to install: the top of the git work tree of a folder, or the folder itself."""
    with suppress(GitError), Repository(folder) as repository:
        return repository.root
    return folder


def install(root: Path, *, lease_s: int, confirm: bool, language: Language = "ko") -> list[InstallChange]:
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
    contents = dict(_contents(root, language))
    _require_free(root, contents)
    path = root / SETTINGS
    old = read_file(path) if path.exists() else None
    text = decode_settings(old or b"{\n}\n", path) if old != b"" else ""
    inserted: dict[str, str] = {}
    for event in EVENTS:
        insertion = with_hook(text, event, _entry(lease_s), path)
        text, inserted[event] = insertion.text, insertion.inserted
    ignored = _ignored(root)
    changes = [InstallChange(SETTINGS, "write" if old is None else "add the hook to")]
    changes += [
        InstallChange(name, "write") for name in (*([] if old is None else [BACKUP]), *contents, MANIFEST)
    ]
    changes += [InstallChange(IGNORED, "add to")] if ignored else []
    if not confirm:
        return changes
    hashes = {name: sha256(content).hexdigest() for name, content in contents.items()}
    manifest = Manifest(
        hashes,
        tuple(_new_folders(root, contents)),
        inserted,
        old is None,
        ignored,
        not (root / IGNORED).exists(),
    )
    write_public(root / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    if old is not None:
        write_public(root / BACKUP, old)
    for name, content in contents.items():
        write_public(root / name, content)
    (write_public if old is None else rewrite_file)(path, text.encode())
    if ignored:
        _add_ignored(root / IGNORED, ignored)
    return changes


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


def _add_ignored(path: Path, lines: str) -> None:
    if path.exists():
        rewrite_file(path, read_file(path) + lines.encode())
    else:
        write_public(path, lines.encode())


def _without_ignored(path: Path, manifest: Manifest) -> bytes | None:
    """The file without the lines that were added; None to leave it alone."""
    lines = manifest.ignored.encode()
    if not lines or not path.is_file() or not read_file(path).endswith(lines):
        return None
    return read_file(path).removesuffix(lines)


def uninstall(root: Path, *, confirm: bool) -> list[InstallChange]:
    """Plan what to remove, and remove it with ``confirm``. Files that were changed since are kept.

    Raises
    ------
    UsageError
        Nothing is installed.
    WorkspaceError
        The hook's entry in the settings, or what is around it, was changed: remove it by hand first.
    """
    refuse_links(root, [MANIFEST, SETTINGS, IGNORED])
    manifest = _manifest(root)
    settings, changes = _restored(root, manifest)
    for name, digest in manifest.files.items():
        if (root / name).is_file():
            is_ours = sha256(read_file(root / name)).hexdigest() == digest
            changes.append(InstallChange(name, "remove" if is_ours else "keep (it was changed)"))
    if (root / BACKUP).is_file():
        same = settings is None or read_file(root / BACKUP) == settings
        changes.append(InstallChange(BACKUP, "remove" if same else "keep (the settings were changed)"))
    ignored = _without_ignored(root / IGNORED, manifest)
    is_removed = ignored == b"" and manifest.created_ignored
    if ignored is not None:
        changes.append(InstallChange(IGNORED, "remove" if is_removed else "take the lines out of"))
    changes.append(InstallChange(MANIFEST, "remove"))
    if confirm:
        if ignored is not None and not is_removed:
            rewrite_file(root / IGNORED, ignored)
        _remove(root, manifest, settings, changes)
    return changes


def _remove(root: Path, manifest: Manifest, settings: bytes | None, changes: list[InstallChange]) -> None:
    if settings is not None:
        rewrite_file(root / SETTINGS, settings)
    for change in changes:
        if change.what == "remove":
            (root / change.path).unlink(missing_ok=True)
    for folder in reversed(manifest.folders):
        with suppress(OSError):  # it has other files
            (root / folder).rmdir()


def _restored(root: Path, manifest: Manifest) -> tuple[bytes | None, list[InstallChange]]:
    """The settings without the hook; None to leave the file alone, or to remove it."""
    path = root / SETTINGS
    if not path.is_file() or "stop-hook.py" not in (text := decode_settings(read_file(path), path)):
        return None, []
    rest = text
    for event, inserted in reversed(manifest.inserted.items()):
        shorter = without(rest, inserted)
        if shorter is None:  # formatted anew
            shorter = without_entry(rest, event, HOOK, inserted)
        if shorter is None:
            raise WorkspaceError(
                f"the entry of {HOOK} was changed; remove it from hooks.{event} by hand, then run this again",
                path=path,
            )
        rest = shorter
    if manifest.created_settings and rest == "{\n}\n":
        return None, [InstallChange(SETTINGS, "remove")]
    return rest.encode(), [InstallChange(SETTINGS, "take the hook out of")]


def _contents(root: Path, language: Language) -> Iterator[tuple[str, bytes]]:
    yield HOOK, TEMPLATES.joinpath("stop_hook.py").read_bytes()
    for name, content in skill_files(language):
        yield f".claude/skills/{name}", content
    if not (find_root(root) / FILE_NAME).is_file():
        yield FILE_NAME, _ROOT


def _entry(lease_s: int) -> dict[str, Any]:
    command = f'python3 -I -S "$CLAUDE_PROJECT_DIR"/{HOOK} --lease {lease_s}'
    return {"hooks": [{"type": "command", "command": command, "timeout": 10}]}


def _require_free(root: Path, contents: dict[str, bytes]) -> None:
    refuse_links(root, [*contents, MANIFEST, SETTINGS, BACKUP, IGNORED])
    if (root / MANIFEST).exists():
        raise UsageError(f"{root}: installed already; run runs uninstall claude-code --confirm first")
    for name in (*contents, BACKUP):
        if (root / name).exists():
            raise WorkspaceError("exists; move it away", path=root / name)


def _new_folders(root: Path, contents: dict[str, bytes]) -> list[str]:
    folders = {above.as_posix() for name in contents for above in Path(name).parents if above != Path()}
    return [folder for folder in sorted(folders) if not (root / folder).exists()]


def _manifest(root: Path) -> Manifest:
    path = root / MANIFEST
    if not path.is_file():
        raise UsageError(f"{root}: nothing is installed for Claude Code")
    try:
        manifest = msgspec.json.decode(read_file(path), type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(f"is damaged ({error}); restore it from git", path=path) from error
    skills = {name for language in LANGUAGES for name, _ in skill_files(language)}
    known = {HOOK, FILE_NAME, *(f".claude/skills/{name}" for name in skills)}
    return msgspec.structs.replace(
        manifest,  # a repository could bring one that names other files
        files={
            name: digest
            for name, digest in manifest.files.items()
            if name in known and (name != FILE_NAME or digest == sha256(_ROOT).hexdigest())
        },
        ignored=manifest.ignored if _IGNORED.fullmatch(manifest.ignored) else "",
        folders=tuple(folder for folder in manifest.folders if _is_above(folder, known)),
    )


def _is_above(folder: str, known: set[str]) -> bool:
    return any(name.startswith(f"{folder}/") for name in known)
