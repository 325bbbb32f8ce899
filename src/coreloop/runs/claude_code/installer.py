"""Install coreloop's Stop hook and skills into a project for Claude Code, and remove them again.

The manifest says what was written. It is written first and removed last, so that an interrupted installation
can be removed too.
"""

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.base.claude_settings import (
    SETTINGS,
    InstallChange,
    decode_settings,
    refuse_links,
    with_stop_hook,
    without,
    without_entry,
)
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import read_file, rewrite_file, write_public

SKILLS: Final = ("deep-research", "dr", "research-pause", "research-stop")
BACKUP: Final = ".claude/settings.json.coreloop-backup"
MANIFEST: Final = ".claude/coreloop.json"
HOOK: Final = ".claude/hooks/stop-hook.py"
_TEMPLATES: Final = files("coreloop.runs.claude_code").joinpath("templates")


class Manifest(msgspec.Struct, frozen=True):
    """What an installation wrote.

    Attributes
    ----------
    files : dict of str to str
        Paths below the project, and the SHA-256 of their contents.
    folders : tuple of str
        Folders that it created, the outer ones first.
    inserted : str
        The text that it inserted into the settings.
    created_settings : bool
        Whether there were no settings before.
    """

    files: dict[str, str]
    folders: tuple[str, ...]
    inserted: str
    created_settings: bool


def install(root: Path, *, lease_s: int, confirm: bool) -> list[InstallChange]:
    """Plan the files, and write them with ``confirm``.

    Parameters
    ----------
    root : Path
        The project's folder.
    lease_s : int
        After so many seconds without a commit, the hook lets the turn end.
    confirm : bool
        Write; otherwise only return what would be written.

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
    contents = dict(_contents())
    _require_free(root, contents)
    path = root / SETTINGS
    old = read_file(path) if path.exists() else None
    inserted = with_stop_hook(
        decode_settings(old or b"{\n}\n", path) if old != b"" else "", _entry(lease_s), path
    )
    changes = [InstallChange(SETTINGS, "write" if old is None else "add the hook to")]
    changes += [
        InstallChange(name, "write") for name in (*([] if old is None else [BACKUP]), *contents, MANIFEST)
    ]
    if not confirm:
        return changes
    hashes = {name: sha256(content).hexdigest() for name, content in contents.items()}
    manifest = Manifest(hashes, tuple(_new_folders(root, contents)), inserted.inserted, old is None)
    write_public(root / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    if old is not None:
        write_public(root / BACKUP, old)
    for name, content in contents.items():
        write_public(root / name, content)
    (write_public if old is None else rewrite_file)(path, inserted.text.encode())
    return changes


def uninstall(root: Path, *, confirm: bool) -> list[InstallChange]:
    """Plan what to remove, and remove it with ``confirm``. Files that were changed since are kept.

    Raises
    ------
    UsageError
        Nothing is installed.
    WorkspaceError
        The hook's entry in the settings, or what is around it, was changed: remove it by hand first.
    """
    refuse_links(root, [MANIFEST, SETTINGS])
    manifest = _manifest(root)
    settings, changes = _restored(root, manifest)
    for name, digest in manifest.files.items():
        if (root / name).is_file():
            is_ours = sha256(read_file(root / name)).hexdigest() == digest
            changes.append(InstallChange(name, "remove" if is_ours else "keep (it was changed)"))
    if (root / BACKUP).is_file():
        same = settings is None or read_file(root / BACKUP) == settings
        changes.append(InstallChange(BACKUP, "remove" if same else "keep (the settings were changed)"))
    changes.append(InstallChange(MANIFEST, "remove"))
    if confirm:
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
    rest = without(text, manifest.inserted)
    if rest is None:  # formatted anew
        rest = without_entry(text, HOOK, manifest.inserted)
    if rest is None:
        raise WorkspaceError(
            f"the entry of {HOOK} was changed; remove it from hooks.Stop by hand, then run this again",
            path=path,
        )
    if manifest.created_settings and rest == "{\n}\n":
        return None, [InstallChange(SETTINGS, "remove")]
    return rest.encode(), [InstallChange(SETTINGS, "take the hook out of")]


def _contents() -> Iterator[tuple[str, bytes]]:
    yield HOOK, _TEMPLATES.joinpath("stop_hook.py").read_bytes()
    for name in SKILLS:
        path = _TEMPLATES.joinpath("skills", name, "SKILL.md")
        yield f".claude/skills/{name}/SKILL.md", path.read_bytes()


def _entry(lease_s: int) -> dict[str, Any]:
    command = f'python3 -I -S "$CLAUDE_PROJECT_DIR"/{HOOK} --lease {lease_s}'
    return {"hooks": [{"type": "command", "command": command, "timeout": 10}]}


def _require_free(root: Path, contents: dict[str, bytes]) -> None:
    refuse_links(root, [*contents, MANIFEST, SETTINGS, BACKUP])
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
    known = {HOOK, *(f".claude/skills/{name}/SKILL.md" for name in SKILLS)}
    return msgspec.structs.replace(
        manifest,  # a repository could bring one that names other files
        files={name: digest for name, digest in manifest.files.items() if name in known},
        folders=tuple(folder for folder in manifest.folders if _is_above(folder, known)),
    )


def _is_above(folder: str, known: set[str]) -> bool:
    return any(name.startswith(f"{folder}/") for name in known)
