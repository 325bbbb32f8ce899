"""What all requests of a log share: the project's settings, read in another's server."""

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from coreloop.base.categories import Categories
from coreloop.observe import case_keys
from coreloop.observe.drops import drop
from coreloop.observe.journal import Journal
from coreloop.observe.record_parts import CONTEXTS

if TYPE_CHECKING:
    from coreloop.base.project.score_rule import OutcomeRule
    from coreloop.base.project.settings import Settings

RECORDS: Final = "ai-ask"
OWN_RECORDS: Final = "own"
_DISABLED_BY: Final = ("DARTLAB_AUDIT_DISABLE", "CORELOOP_AUDIT_DISABLE")


class LogSettings(NamedTuple):
    """What all requests of a log share. Not a dataclass: importing that module takes 10 ms."""

    journal: Journal
    tools_version: str | None
    keys: list[bytes]
    """The key of cases, once it was needed; an empty one stands for none."""
    categories: Categories = Categories()
    selectors: Mapping[str, Sequence[str]] = {}
    failed_results: Mapping[str, frozenset[str]] = {}
    """The project's rule, if it has one."""
    outcome: "OutcomeRule | None" = None
    contexts: Journal | None = None

    def case_key(self) -> bytes:
        """The key of cases; empty if it cannot be read or made."""
        if not self.keys:  # reading the environment and the file each time would double the time of a flush
            try:
                self.keys.append(case_keys.case_key(self.journal.folder.parent))
            except OSError:
                drop("case_key")
                return b""
        return self.keys[0]


def folder_of(data_dir: str | os.PathLike[str] | None) -> tuple[str, bool]:
    """The named data folder, or the working directory; and whether it was named."""
    # Absolute, because the process may change its working directory. Path takes five times as long.
    folder = os.getcwd() if data_dir is None else os.fspath(data_dir)  # noqa: PTH109
    return folder if folder.startswith("/") else os.path.abspath(folder), data_dir is not None  # noqa: PTH100


@lru_cache(maxsize=32)
def log_settings(folder: str, named: bool, log: str) -> LogSettings | None:
    """Load the settings for a named data folder or for the working directory; records go to ``audit/LOG``.

    None if recording is turned off, which a process reads once a folder.
    """
    if is_disabled():
        return None
    start = Path(folder)
    root = next((folder for folder in (start, *start.parents) if (folder / "coreloop.yaml").is_file()), None)
    version = os.environ.get("CORELOOP_TOOLS_VERSION") or tools_version_of(root or start)
    data_dir = start if named else (root or start) / (os.environ.get("CORELOOP_DATA_DIR") or "data")
    unset = LogSettings(Journal(data_dir / "audit" / log), version, [])
    if root is None:
        return unset
    try:
        from coreloop.base.errors import CoreloopError
        from coreloop.base.project.settings import Settings
        from coreloop.base.project.settings_file import load_settings
    except ModuleNotFoundError:  # a server can do without PyYAML
        drop("settings_need_pyyaml")
        return unset
    try:
        settings = load_settings(root)
    except (CoreloopError, OSError):
        drop("settings")
        settings = Settings()
    folder_of_log = (start if named else root / settings.data_dir) / "audit" / log
    return project_settings(settings, folder_of_log, version)


def project_settings(settings: "Settings", folder: Path, version: str | None = None) -> LogSettings:
    """The settings of a log in a folder."""
    return LogSettings(
        Journal(folder),
        version,
        [],
        Categories((rule.label, rule.any) for rule in settings.categories),
        settings.selectors(),
        settings.failed_results(),
        settings.outcome_rule(),
        Journal(folder.parent / CONTEXTS) if settings.measure.contexts and folder.name == RECORDS else None,
    )


def is_disabled() -> bool:
    given = [os.environ.get(name, "").strip().lower() for name in _DISABLED_BY]
    return any(value in {"1", "true", "yes", "on"} for value in given)


def tools_version_of(folder: Path) -> str | None:
    """Return the checked-out commit of the git repository that contains a folder; None without any."""
    parents = (parent for parent in (folder, *folder.parents) if (parent / ".git").exists())
    repository = next(parents, None)
    if repository is None:
        return None
    import subprocess  # once a process and folder

    command = ("git", "-c", "safe.directory=*", "rev-parse", "--verify", "HEAD")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
