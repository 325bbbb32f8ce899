"""A round of repair: the signal's actions become jobs, which are done at once or left to workers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.ladder import OFFLINE
from coreloop.answer.repair.actions import (
    INDEX_FILE,
    INDEX_MODULE,
    INJECT,
    MAX_REPAIRS,
    OTHER_MODEL,
    STRICT,
    SUGGEST_LINK,
    JobSpec,
    Reason,
    Targets,
    actions_for,
    jobs_for,
)
from coreloop.answer.repair.evidence import (
    MAX_FILES,
    evidence_of_file,
    likely_files,
    question_key,
    suggested_links,
)
from coreloop.answer.research.research_state import REPAIRED, Repaired, knowledge_of
from coreloop.answer.retrieve import SearchResult
from coreloop.answer.search.extract.python import read_imports
from coreloop.answer.search.index.run import index_paths, read_coverage
from coreloop.answer.search.index.search_index import find_fields
from coreloop.answer.search.index.tree import File, file_at
from coreloop.answer.search.provider import SearchLimits
from coreloop.base.errors import WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.jobs.queue import Job
from coreloop.runs.jobs.work import Handler, work_on_jobs
from coreloop.runs.load import load_run

MAX_CHAIN: Final = 50
"""Files of an import chain."""
REPAIR: Final = "repair"
"""Name of the steps."""
_READ: Final = re.compile(r"index\.file (?P<path>.*): done")  # index.file notes/a.md: done
USED_UP: Final = "no repair: this hour's rounds are used up (repair: max_per_hour)"
"""Stands in place of the jobs of a round."""


def job_handlers(deps: Deps) -> Mapping[str, Handler]:
    """Return what does each job, by the job's name."""
    workspace = deps.workspace

    def inject(job: Job) -> int:
        question = load_run(deps.store, job.payload["run"])[0].state.question
        root, location = workspace.root.resolve(), job.payload["path"]
        _inside(root, location)
        found = evidence_of_file(root, location, question, now=datetime.now(UTC))
        for evidence in found:
            deps.tables.inject(evidence)
        return len(found)

    def suggest(job: Job) -> str:
        details, now = dict(job.payload), datetime.now(UTC)
        target = details["code_symbol"]
        return deps.tables.suggest(action=SUGGEST_LINK, target=target, details=details, now=now).id

    return {
        INDEX_FILE: lambda job: _index(workspace, [job.payload["path"]]),
        INDEX_MODULE: lambda job: _index(workspace, _chain(workspace, job.payload["path"])),
        INJECT: inject,
        SUGGEST_LINK: suggest,
    }


def _index(workspace: Workspace, locations: list[str]) -> dict[str, int]:
    root = workspace.root.resolve()
    paths = [_inside(root, location) for location in locations]
    try:
        return dict(index_paths(workspace, paths, now=datetime.now(UTC)).counts)
    except WorkspaceError:
        if any(path.exists() for path in paths):
            raise
        return {}  # removed before it was indexed: nothing is left to do


def _chain(workspace: Workspace, location: str) -> list[str]:
    """Return a file and the project's files that it imports, directly or not, the nearest first."""
    chain = [location]
    for file in chain:
        imported = read_imports(file, workspace.root.resolve())
        chain += [name for name in imported if name not in chain][: MAX_CHAIN - len(chain)]
    return chain


def _inside(root: Path, location: str) -> Path:
    """Return the path of a location, which must be in the project.

    Raises
    ------
    WorkspaceError
        It is outside.
    """
    path = (root / location).resolve()
    if not path.is_relative_to(root):
        raise WorkspaceError("is outside of the project; repairs read nothing there", path=path)
    return path


def repair(run: Run, deps: Deps, reason: Reason, found: SearchResult) -> bool:
    """Do what answers a signal, in the next round that has something to do.

    Parameters
    ----------
    run : Run
        In an iteration.
    deps : Deps
        Queue and tables.
    reason : str
        Of the signal.
    found : SearchResult
        What the answer was given.

    Returns
    -------
    bool
        Whether another attempt can be better.
    """
    case = knowledge_of(run.state)
    targets = _targets(run, deps, found)
    for round_, actions in _rounds(run, deps, reason):
        specs = list(jobs_for(actions, targets))
        done = tuple(_do(run, deps, specs, round_) if specs else ())
        repaired = Repaired(attempt=len(case.attempts), round=round_, actions=actions, jobs=done)
        if USED_UP in done:
            _record(run, replace(repaired, actions=()))
            break
        helps = any(not line.startswith(SUGGEST_LINK) for line in done)  # a link waits
        if helps or {STRICT, OTHER_MODEL} & {*actions}:
            _record(run, repaired)
            run.record(events.Progressed, what=REPAIR)
            return case.request.may_repair
    return False


def asks_again(run: Run, deps: Deps, reason: Reason) -> bool:
    """Whether a signal would let a model be asked once more, strictly or another one."""
    later = [action for _, actions in _rounds(run, deps, reason) for action in actions]
    return knowledge_of(run.state).request.may_repair and bool({STRICT, OTHER_MODEL} & {*later})


def _rounds(run: Run, deps: Deps, reason: Reason) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the rounds that are left with their actions, without those that change nothing.

    Strictness changes nothing for a model that only quotes, nor another model where there is one.
    """
    idle = {STRICT} if deps.ladder.name == OFFLINE else set()
    idle |= set() if deps.ladder.rest else {OTHER_MODEL}
    done = knowledge_of(run.state).repairs
    for round_ in range(done[-1].round + 1 if done else 1, MAX_REPAIRS + 1):
        yield round_, tuple(action for action in actions_for([reason], round_) if action not in idle)


def _record(run: Run, repaired: Repaired) -> None:
    run.record(events.Noted, name=REPAIRED, data=msgspec.to_builtins(repaired))


def _targets(run: Run, deps: Deps, found: SearchResult) -> Targets:
    root, index, question = deps.workspace.root.resolve(), deps.workspace.index_file, run.state.question
    # what the settings name was read before the question; a repair looks in the rest of the project
    pending = read_coverage(deps.workspace, starts=[root]).pending
    likely = likely_files(question, pending, root)
    files = [*dict.fromkeys([*likely, *_read_before(run, root)])][:MAX_FILES]
    symbols = tuple(found.of("symbol"))
    spoken_of = (field for symbol in symbols for field in find_fields(index, symbol.text, SearchLimits()))
    return Targets(
        run_id=run.run_id,
        question_key=question_key(question),
        files=tuple(files),
        links=tuple(suggested_links(symbols, [*found.of("schema"), *spoken_of])),
    )


def _read_before(run: Run, root: Path) -> Iterator[File]:
    """Yield the files that the round before has read, whose imports the next one follows."""
    for line in (line for repair in knowledge_of(run.state).repairs for line in repair.jobs):
        if match := _READ.fullmatch(line):
            path = match["path"]
            yield file_at(root / path, path)


def _do(run: Run, deps: Deps, specs: Sequence[JobSpec], round_: int) -> list[str]:
    """Put jobs into the queue and do them, as a step; returns a line for each that was not done before."""

    def work(_key: str) -> tuple[Any, Amount]:
        most = deps.workspace.settings.repair.max_per_hour
        if not deps.tables.take_repair(datetime.now(UTC), most=most):
            return [USED_UP], NOTHING
        jobs = put_jobs(deps, specs)
        open_ = [job.id for job in jobs if not job.is_finished]
        if knowledge_of(run.state).request.may_repair and open_:
            work_on_jobs(deps.queue, job_handlers(deps), open_)
        return [_line(deps.queue.get(job_id)) for job_id in open_], NOTHING

    return list(run.step(REPAIR, f"{REPAIR}-{round_}", work, at_most=NOTHING))


def put_jobs(deps: Deps, specs: Sequence[JobSpec]) -> list[Job]:
    """Put jobs into the queue."""
    return [deps.queue.put(spec.name, spec.payload, key=spec.key, priority=spec.priority) for spec in specs]


def _line(job: Job) -> str:
    about = job.payload.get("path") or job.payload.get("code_symbol", "")
    return f"{job.name} {about}: {job.status}"
