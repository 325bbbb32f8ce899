"""Where a project's files lie, and how a file that others read is written: whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from coreloop.errors import WorkspaceError
from coreloop.project.settings import FILE_NAME, Settings, load_settings


@dataclass(frozen=True, slots=True)
class Workspace:
    """A project's folder and its settings.

    Parameters
    ----------
    root : Path
        Absolute; holds coreloop.yaml, if there is one.
    settings : Settings
        What coreloop.yaml says.
    """

    root: Path
    settings: Settings

    @property
    def audit_dir(self) -> Path:
        return self.root / self.settings.data_dir / "audit"

    @property
    def records_dir(self) -> Path:
        return self.audit_dir / "ai-ask"

    @property
    def candidates_dir(self) -> Path:
        return self.audit_dir / "candidates"

    @property
    def counterexamples_dir(self) -> Path:
        return self.audit_dir / "counterexamples"

    @property
    def judgments_dir(self) -> Path:
        return self.audit_dir / "judgments"

    @property
    def rollups_dir(self) -> Path:
        """What mining made of the records: a cache, which can be deleted."""
        return self.audit_dir / "rollups"

    @property
    def knowledge_dir(self) -> Path:
        return self.root / self.settings.data_dir / "ai" / "knowledge"

    @property
    def knowledge_file(self) -> Path:
        """The knowledge database, under the name that dartlab gave it."""
        return self.knowledge_dir / "dartlab_knowledge.db"

    @property
    def archive_dir(self) -> Path:
        """Snapshots of the knowledge database, in clear text."""
        return self.knowledge_dir / "_archive"

    @property
    def audit_notes_dir(self) -> Path:
        """Notes that people write about companies, ``{stock code}.md``."""
        return self.root / self.settings.data_dir / "dart" / "auditAnalysis"

    @property
    def replays_file(self) -> Path:
        """Ids of the requests that coreloop made itself, one a line: they are never mined."""
        return self.audit_dir / "replays.txt"

    @property
    def dropped_file(self) -> Path:
        """What the collectors of all processes could not record, see `coreloop.outcomes`."""
        return self.audit_dir / "dropped.jsonl"

    @property
    def reach_file(self) -> Path:
        """Outcomes of reach checks, see `coreloop.outcomes`."""
        return self.audit_dir / "reach.jsonl"

    def keep_private(self, path: Path) -> None:
        """Close a folder or a file of coreloop's own to other users, as a clone or an older version left it.

        Nothing happens to what is not below `audit_dir` or `knowledge_dir.parent`, or is another user's.
        """
        own = {self.audit_dir.resolve(), self.knowledge_dir.parent.resolve()}
        if own.isdisjoint(path.resolve().parents) or not hasattr(os, "geteuid"):
            return
        with suppress(OSError):  # not there yet, or a file system without modes
            status = path.stat()
            if status.st_uid == os.geteuid() and status.st_mode & 0o077:
                path.chmod(status.st_mode & 0o700)

    def replayed(self) -> frozenset[str]:
        """The ids in the replays file."""
        try:
            return frozenset(self.replays_file.read_text(encoding="utf-8").splitlines())
        except FileNotFoundError:
            return frozenset()
        except (OSError, UnicodeDecodeError) as error:
            raise WorkspaceError(f"cannot be read ({error})", path=self.replays_file) from error


def open_workspace(start: Path) -> Workspace:
    """The workspace that a folder belongs to.

    Parameters
    ----------
    start : Path
        Its nearest parent with a coreloop.yaml is the root; without one, ``start`` is.

    Raises
    ------
    SettingsError
        coreloop.yaml cannot be used.
    """
    start = start.absolute()
    root = next((folder for folder in (start, *start.parents) if (folder / FILE_NAME).is_file()), start)
    return Workspace(root, load_settings(root))


def append_private(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a file of mode 0600 with one write, so that two processes cannot mix theirs.

    Raises
    ------
    WorkspaceError
        The file cannot be written.
    """
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise WorkspaceError(f"cannot be written ({error.strerror or error})", path=path) from error


def write_private(path: Path, data: bytes) -> None:
    """Write a file of mode 0600 in a folder of mode 0700: under a name beside it, then renamed.

    Raises
    ------
    WorkspaceError
        The folder cannot be made or the disk is full; ``path`` is as it was.
    """
    _write(path, data, file_mode=0o600, folder_mode=0o700)


def write_public(path: Path, data: bytes) -> None:
    """`write_private` for a file that everybody may read, as far as the umask lets them.

    Raises
    ------
    WorkspaceError
        The folder cannot be made or the disk is full; ``path`` is as it was.
    """
    _write(path, data, file_mode=0o666, folder_mode=0o777)


def _write(path: Path, data: bytes, *, file_mode: int, folder_mode: int) -> None:
    # tempfile.mkstemp would make it 0600, and the umask cannot be asked without setting it
    temporary = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        path.parent.mkdir(mode=folder_mode, parents=True, exist_ok=True)
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file_mode)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            with suppress(FileNotFoundError):  # it was renamed, or never made
                temporary.unlink()
    except OSError as error:
        raise WorkspaceError(f"cannot be written ({error.strerror or error})", path=path) from error


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator["Lock"]:
    """Let one process at a time read, decide and write in a folder; with ``shared``, let all read.

    The lock is the operating system's, so it ends with the process however that ends. Where there is no
    ``fcntl`` (Windows) the last writer wins.
    """
    try:
        import fcntl
    except ImportError:
        yield Lock(None)
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise WorkspaceError(f"cannot be written ({error.strerror or error})", path=folder) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield Lock(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held: its open file."""

    descriptor: int | None

    def is_alone(self) -> bool:
        """Turn a shared lock into one that nobody else has, if nobody else has it; else it is lost."""
        if self.descriptor is None:
            return True
        import fcntl

        with suppress(BlockingIOError):
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False
