"""Mining sessions of a project: the only place that combines what decides how a record counts.

Settings, verdicts, replays, the store and the executor meet here, so that all commands and services share
the same facts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from coreloop.base.date_range import Days
from coreloop.base.errors import CacheWriteError
from coreloop.base.git.promotions import project_merges
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.counting import MineSettings, mine_settings
from coreloop.learn.facts.file import FileFacts
from coreloop.learn.facts.oddities import LogOddities, find_oddities
from coreloop.learn.facts.store import open_store
from coreloop.learn.mine.executors import Executor
from coreloop.learn.mine.folder import day_files, read_folder
from coreloop.learn.mine.window import merge
from coreloop.observe.case_keys import known_case_key
from coreloop.observe.judgments import HumanVerdicts, read_verdicts
from coreloop.observe.reading.remote import Folder


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningOptions:
    """Which records to mine, and how.

    Attributes
    ----------
    in_dir : Path or Address, optional
        The records of the project's agent by default.
    own : bool
        What coreloop itself was asked, instead of the agent's records.
    jobs : int, optional
        Processes; the number of cores by default.
    no_cache : bool
        Read everything again and keep no facts.
    scheduler : str, optional
        Address of a Dask scheduler.
    max_bytes : int, optional
        Mine only the newest files, by name, that have no more bytes together.
    """

    in_dir: Folder | None = None
    own: bool = False
    jobs: int | None = None
    no_cache: bool = False
    scheduler: str | None = None
    max_bytes: int | None = None

    @property
    def is_of_agent(self) -> bool:
        """Whether the records are those of the project's agent."""
        return self.in_dir is None and not self.own

    def folder(self, workspace: Workspace) -> Folder:
        """The folder or address of the records."""
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
    judgments: HumanVerdicts
    not_cached: str = ""

    @property
    def n_files(self) -> int:
        """Files of records."""
        return len(self.files)

    @property
    def n_reused(self) -> int:
        """Files that an earlier run counted."""
        return sum(file.n_bytes_read is None for file in self.files)

    @property
    def n_bytes_read(self) -> int:
        """Bytes of the files that this run counted."""
        return sum(file.n_bytes_read or 0 for file in self.files)

    def merges(self) -> dict[str, datetime]:
        """When each promoted key came to the base branch.

        Raises
        ------
        GitError
            The clone is shallow, or git is missing.
        """
        return project_merges(self.workspace.root, base=self.workspace.settings.forge.base)


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
    check: bool = False,
    watch: Watch = UNWATCHED,
) -> Iterator[Mined]:
    """Read the facts of a project's records; they last as long as the session.

    Parameters
    ----------
    options : MiningOptions
        Where and how to mine.
    min_chunk_len : int, optional
        Characters of a complete answer; the setting of that name by default.
    check : bool
        Read all stored facts completely, and replace damaged ones.
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
    executor = Executor(options.jobs, options.scheduler)
    with ExitStack() as stack:
        not_cached = ""
        try:
            folder_of_facts = None if options.no_cache else workspace.facts_dir
            store = stack.enter_context(open_store(folder_of_facts, settings, check=check))
            files = read_folder(
                folder, settings, store=store, executor=executor, progress=watch.progress, max_bytes=limit
            )
            stack.callback(store.sweep, folder)
        except CacheWriteError as error:
            stack.close()
            files, not_cached = read_folder(folder, settings, max_bytes=limit), f"{error}"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MineResult:
    """Result of ``mine``.

    Attributes
    ----------
    days : Days
        From the first to the last that has a record.
    n_files, n_reused : int
        Files, and how many of them an earlier run counted.
    n_bytes_read : int
        Bytes that this run counted.
    n_records : int
        Records of the days.
    oddities : LogOddities
        Lines that were not mined, and fields that were read as absent, in all of the files.
    not_cached : str
        See `Mined`.
    """

    days: Days
    n_files: int
    n_reused: int
    n_bytes_read: int
    n_records: int
    oddities: LogOddities
    not_cached: str


def run_mine(
    workspace: Workspace, days: Days, options: MiningOptions, *, watch: Watch = UNWATCHED
) -> MineResult:
    """Build and check the stored facts of a project, and count its records of some days."""
    with open_mining(workspace, options, check=True, watch=watch) as mined:
        window = merge(mined.files, days)
        return MineResult(
            days=window.recorded(),
            n_files=mined.n_files,
            n_reused=mined.n_reused,
            n_bytes_read=mined.n_bytes_read,
            n_records=window.n_records(),
            oddities=find_oddities((file.path, file.oddities) for file in mined.files),
            not_cached=mined.not_cached,
        )
