"""The demo from end to end: a scratch project, its requests and records, its proposals and a promotion."""

import importlib.util
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from coreloop.admin.demo.agent import answer
from coreloop.admin.demo.effect import SimulatedEffect, simulate_effect
from coreloop.admin.demo.promoting import Promoted, promote_statement
from coreloop.admin.demo.script import PACKAGE, PROJECT, scripted_requests
from coreloop.base.date_range import Days
from coreloop.base.errors import GitError, WorkspaceError
from coreloop.base.project.workspace import open_workspace
from coreloop.learn.mine.folder import MiningOptions
from coreloop.learn.propose import NightRequest, PatternResult, RefineResult, run_pattern, run_refine
from coreloop.observe import AuditCollector

_N_DAYS: Final = 30
"""As many as the window of the commands has, so that they need no options in the demo's folder."""

_SEED: Final = 7  # the questions and proposals are the same each time
_MINING: Final = MiningOptions(no_cache=True)  # a few hundred records


def demo_days(now: datetime) -> Days:
    """Return the days of a demo's records: the last whole ones, since a record of the future is an alarm."""
    return Days(now.date() - timedelta(days=_N_DAYS), now.date() - timedelta(days=1))


@dataclass(frozen=True, slots=True)
class DemoCounts:
    """Numbers of the requests that the scripted agent answered, of its calls and of failed calls."""

    n_requests: int
    n_calls: int
    n_failed_calls: int


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The outcome; `failed` is the git error that stopped the promotion."""

    refined: RefineResult
    promoted: Promoted | None = None
    failed: GitError | None = None


DemoStage = DemoCounts | PatternResult | RefineResult | Promoted | SimulatedEffect


def run_demo(
    folder: Path, *, now: datetime, tell: Callable[[DemoStage], None] = lambda _: None
) -> DemoResult:
    """Run the whole loop in a new or empty folder.

    Parameters
    ----------
    folder : Path
        Becomes a small project and, if there is a statement to promote, a git repository.
    now : datetime
        UTC; the requests are of the days before, the proposals of this day.
    tell : callable
        Called with the outcome of each stage when the stage ends.

    Raises
    ------
    WorkspaceError
        The folder is not empty, or cannot be written.
    """
    make_project(folder)
    tell(record_requests(folder, seed=_SEED, now=now))
    tell(propose_candidates(folder, now=now))
    refined = refine_failures(folder, now=now)
    tell(refined)
    first = next((entry for entry in refined.document.statements if entry.suggested_append), None)
    if first is None:
        return DemoResult(refined)
    try:
        promoted = promote_statement(folder, refined.paths[0], first.id)
    except GitError as error:
        error.add_note("the proposals are complete, only the promotion was skipped")
        return DemoResult(refined, failed=error)
    tell(promoted)
    lead = promoted.plan.proposal
    tell(simulate_effect(folder, lead.engine, lead.lines, seed=_SEED))
    return DemoResult(refined, promoted)


def make_project(folder: Path) -> None:
    """Copy the demo's tool package and coreloop.yaml into a new or empty folder.

    Raises
    ------
    WorkspaceError
        The folder is not empty, or cannot be written.
    """
    try:
        if folder.exists() and any(folder.iterdir()):
            raise WorkspaceError("is not empty; name a new folder", path=folder)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT, folder, ignore=ignore, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise WorkspaceError(f"cannot be written ({error})", path=folder) from error


def record_requests(folder: Path, *, seed: int, now: datetime, count: int = 300) -> DemoCounts:
    """Let the scripted agent answer its questions; every request becomes a line of the audit log.

    Parameters
    ----------
    folder : Path
        The demo's project.
    seed : int
        The same seed gives the same questions, calls and times of day.
    now : datetime
        As in `run_demo`.
    count : int
        Number of requests.
    """
    tools = load_tools(folder, PACKAGE)
    start_s = int(datetime.combine(demo_days(now).since, time(), tzinfo=UTC).timestamp())
    n_calls = n_failed = 0
    for request in scripted_requests(seed, count):
        moment_ns = (start_s + request.offset_min * 60) * 1_000_000_000
        collector = AuditCollector(
            request.question,
            provider="demo",
            model="scripted",
            session_id=request.session,
            data_dir=folder / "data",
            clock_ns=partial(int, moment_ns),
        )
        answered = answer(request, tools, collector)
        n_calls += answered.n_calls
        n_failed += answered.n_failed_calls
    return DemoCounts(count, n_calls, n_failed)


def propose_candidates(folder: Path, *, now: datetime) -> PatternResult:
    """Run `pattern` on a demo's records."""
    return run_pattern(open_workspace(folder), NightRequest(days=demo_days(now), mining=_MINING), now=now)


def refine_failures(folder: Path, *, now: datetime) -> RefineResult:
    """Run `refine` on a demo's records."""
    return run_refine(open_workspace(folder), NightRequest(days=demo_days(now), mining=_MINING), now=now)


def load_tools(project: Path, package: str) -> Mapping[str, Callable[..., object]]:
    """Import the tool package of a project folder, without touching ``sys.path``.

    Parameters
    ----------
    project : Path
        The folder that contains the package.
    package : str
        Name of the package.

    Returns
    -------
    Mapping
        Tool name to function. Each call imports again, so a process can load two projects.

    Raises
    ------
    ImportError
        The folder contains no such package.
    """
    init = project / package / "__init__.py"
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    spec = importlib.util.spec_from_file_location(
        package, init, submodule_search_locations=[str(init.parent)]
    )
    if spec is None or spec.loader is None or not init.is_file():
        raise ImportError(f"no package {package} in {project}", name=package, path=str(init))
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)
    tools: Mapping[str, Callable[..., object]] = module.TOOLS
    return tools
