"""Phase F as a use case: a project's records in, the day's counterexamples out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from coreloop.base.date_range import Days
from coreloop.base.error_classes import known_types
from coreloop.base.project.workspace import Workspace
from coreloop.learn.mine.run import UNWATCHED, Mined, MiningOptions, Watch, open_mining
from coreloop.learn.proposals.proposal_files import COUNTEREXAMPLES, CounterexamplesFile, newest_night
from coreloop.learn.refine.gaps import ToolGaps, read_tool_gaps
from coreloop.learn.refine.propose import Refined, refine, write_refined
from coreloop.learn.verdicts.proposal_state import kept_states, rejected_keys, settled_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineRequest:
    """Options of ``refine``.

    Attributes
    ----------
    days : Days
        Whole UTC days to mine.
    mining : MiningOptions
        Which records, and how.
    min_failures : int, optional
        Failures that a group needs; the project's gate by default.
    min_chunk_len : int, optional
        Characters of a complete answer; the project's gate by default.
    excluded : tuple of str
        Failure labels and error classes to leave out.
    out : Path, optional
        Folder of the two files; the project's own by default.
    sanitized : bool
        Redact the files for sharing.
    environ : mapping of str to str
        May say where the knowledge gaps are, see `coreloop.learn.refine.gaps.read_tool_gaps`.
    """

    days: Days
    mining: MiningOptions = field(default_factory=MiningOptions)
    min_failures: int | None = None
    min_chunk_len: int | None = None
    excluded: tuple[str, ...] = ()
    out: Path | None = None
    sanitized: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RefineResult:
    """Result of ``refine``; ``gaps`` is in none of its files.

    Attributes
    ----------
    paths : tuple of Path
        The counterexamples file and the draft; empty if the window has no records and an older file is kept.
    kept : Path or None
        That older file.
    """

    refined: Refined
    document: CounterexamplesFile
    paths: tuple[Path, ...]
    mined: Mined
    gaps: tuple[ToolGaps, ...] = ()
    kept: Path | None = None


def run_refine(
    workspace: Workspace, request: RefineRequest, *, now: datetime, watch: Watch = UNWATCHED
) -> RefineResult:
    """Find failures that repeat, and write the counterexamples of the day.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : RefineRequest
        Options.
    now : datetime
        With time zone; its day is part of the file names.
    watch : Watch, optional
        Callbacks of the mining.

    Raises
    ------
    UsageError
        A name in ``excluded`` is neither a failure label nor an error class.
    WorkspaceError
        Records or verdicts cannot be read, or the folder cannot be written.
    GitError
        The clone is shallow, so what was promoted is not known.
    """
    excluded = known_types(request.excluded)
    gates = workspace.settings.gates.chosen(min_failures=request.min_failures)
    chunk_len = request.min_chunk_len
    with open_mining(workspace, request.mining, min_chunk_len=chunk_len, watch=watch) as mined:
        states = kept_states(workspace, mined.judgments)
        refined = refine(
            mined.files,
            request.days,
            workspace=workspace,
            min_failures=gates.min_failures,
            excluded=excluded,
            known=settled_keys(states),
            rejected=rejected_keys(states),
            merges=mined.merges(),
        )
        if request.sanitized:  # near misses may hold users' values
            refined = replace(
                refined,
                nearest=(),
                errors=(),
                unproposed=replace(refined.unproposed, undefined=(), withheld=()),
            )
        folder = request.out or workspace.counterexamples_dir
        workspace.keep_private(folder)
        document, paths = write_refined(refined, folder, now=now, sanitized=request.sanitized)
    gaps = tuple(read_tool_gaps(workspace, request.environ))
    kept = None if paths else newest_night(folder, COUNTEREXAMPLES)
    return RefineResult(refined, document, paths, mined, gaps, kept)
