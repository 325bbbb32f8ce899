"""Mining sessions of a project: the only place that combines what decides how a record counts.

Settings, verdicts, replays, the cache and the executor meet here, so that all commands and services share
the same facts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl

from coreloop.base.errors import CacheWriteError
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.counting import MineSettings, mine_settings
from coreloop.learn.facts.file import FileFacts
from coreloop.learn.mine.folder import day_files, read_folder
from coreloop.observe.case_keys import known_case_key
from coreloop.observe.judgments import HumanVerdicts, read_verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningOptions:
    """Which records to mine, and how.

    Attributes
    ----------
    in_dir : Path, optional
        The records of the project's agent by default; may be at an address, see `named_folder`.
    own : bool
        What coreloop itself was asked, instead of the agent's records.
    no_cache : bool
        Read everything again and keep no facts.
    max_bytes : int, optional
        Mine only the newest files, by name, that have no more bytes together.
    """

    in_dir: Path | None = None
    own: bool = False
    no_cache: bool = False
    max_bytes: int | None = None

    @property
    def is_of_agent(self) -> bool:
        """Whether the records are those of the project's agent."""
        return self.in_dir is None and not self.own

    def folder(self, workspace: Workspace) -> Path:
        """The folder of the records."""
        if self.own:
            return workspace.own_records_dir
        return self.in_dir or workspace.records_dir


@dataclass(frozen=True, slots=True)
class Mined:
    """The facts of a folder of records, and the verdicts with which its requests count.

    Attributes
    ----------
    files : sequence of FileFacts
        In the order of the file names; usable until the session is closed.
    judgments : Judgments
        All verdicts of the project.
    not_cached : str
        Why the facts could not be kept; empty if they were, or with ``no_cache``.
    """

    workspace: Workspace
    files: Sequence[FileFacts]
    judgments: HumanVerdicts = field(default_factory=HumanVerdicts)
    not_cached: str = ""


def _ignore(*_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Callbacks for the progress of mining.

    Attributes
    ----------
    progress : callable
        Called with the bytes counted so far and the bytes to count.
    opened : callable
        Called with the session when all records are counted.
    """

    progress: Callable[[int, int], None] = _ignore
    opened: Callable[[Mined], None] = _ignore


UNWATCHED: Final = Watch()


@contextmanager
def open_mining(
    workspace: Workspace,
    options: MiningOptions,
    *,
    min_chunk_len: int | None = None,
    watch: Watch = UNWATCHED,
) -> Iterator[Mined]:
    """Read the facts of a project's records; they last as long as the session.

    Parameters
    ----------
    options : MiningOptions
        Where and how to mine.
    min_chunk_len : int, optional
        Characters of a complete answer; the setting of that name by default.
    watch : Watch, optional
        Callbacks.

    Raises
    ------
    WorkspaceError
        The folder, a file in it or a file of verdicts cannot be read. No folder is created.
    """
    folder, limit = options.folder(workspace), options.max_bytes
    judgments = read_verdicts(workspace.judgments_dir)
    day_files(folder)  # raise errors before any folder is created
    settings = _mine_settings(workspace, judgments, min_chunk_len)
    cache, not_cached = None if options.no_cache else workspace.facts_dir, ""
    executor = workspace.settings.executor
    read = partial(read_folder, folder, settings, executor=executor, progress=watch.progress, max_bytes=limit)
    try:
        files = read(cache=cache)
    except (OSError, pl.exceptions.PolarsError, CacheWriteError) as error:
        files, not_cached = read(), f"{error}"
    mined = Mined(workspace, files, judgments, not_cached)
    watch.opened(mined)
    yield mined


def _mine_settings(workspace: Workspace, judgments: HumanVerdicts, min_chunk_len: int | None) -> MineSettings:
    gates = workspace.settings.gates.chosen(min_chunk_len=min_chunk_len)
    return mine_settings(
        workspace.settings,
        gates.min_chunk_len,
        replayed=workspace.replayed(),
        verdicts=judgments.of_requests(),
        case_key=known_case_key(workspace.audit_dir),
    )
