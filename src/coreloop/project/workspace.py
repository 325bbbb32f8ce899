"""Where a project's files lie."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from coreloop.errors import WorkspaceError
from coreloop.files import open_regular
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
    def is_configured(self) -> bool:
        """Whether there is a coreloop.yaml."""
        return (self.root / FILE_NAME).is_file()

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
        """What the collectors of all processes could not record, see `coreloop.observe.dropped_file`."""
        return self.audit_dir / "dropped.jsonl"

    @property
    def reach_file(self) -> Path:
        """Outcomes of reach checks, see `coreloop.promote.reach_log`."""
        return self.audit_dir / "reach.jsonl"

    @property
    def notified_file(self) -> Path:
        """What the command of ``notify:`` was told, see `coreloop.status.notify`."""
        return self.audit_dir / "notified.json"

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
            with open_regular(self.replays_file) as file:
                return frozenset(file.read().decode().splitlines()) - {""}
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
    root = find_root(start)
    return Workspace(root, load_settings(root))


def find_root(start: Path) -> Path:
    """The nearest parent of a folder with a coreloop.yaml, or the folder itself; absolute."""
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if (folder / FILE_NAME).is_file()), start)
