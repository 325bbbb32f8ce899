"""The errors that a user can cause, as one tree.

    CoreloopError
    ├── SettingsError      coreloop.yaml: file, line, field
    ├── UsageError         an option or an argument that cannot be meant
    └── WorkspaceError     a file or a folder that cannot be read or written

A command prints the message on one line and exits 2; so a message says what happened and what to do next.
"""

from pathlib import Path


class CoreloopError(Exception):
    """Base of every error that coreloop raises on purpose."""


class SettingsError(CoreloopError):
    """coreloop.yaml cannot be used as it stands."""

    def __init__(self, message: str, *, path: Path, line: int | None = None) -> None:
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {message}")
        self.path = path
        self.line = line


class UsageError(CoreloopError):
    """An option or an argument that cannot be meant."""


class WorkspaceError(CoreloopError):
    """A file or a folder that cannot be read or written."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
