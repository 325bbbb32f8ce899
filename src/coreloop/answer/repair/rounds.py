"""A round of repair: the signal's actions become jobs, which are done at once or left to workers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.offline import NAME as OFFLINE
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
    Target,
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
from coreloop.answer.repair.store import RepairStore
from coreloop.answer.research.research_state import REPAIRED, Repaired, knowledge_of
from coreloop.answer.retrieve import SearchResult
from coreloop.answer.search.extract.python import read_imports
from coreloop.answer.search.index.run import index_paths, read_coverage
from coreloop.answer.search.index.search_index import find_fields
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source
from coreloop.base.errors import WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.jobs.job import Job
from coreloop.runs.jobs.work import Handler, work_on_jobs
from coreloop.runs.load import load_run

MAX_CHAIN: Final = 50
"""Files of an import chain."""


def job_handlers(deps: Deps) -> Mapping[str, Handler]:
    """Return what does each job, by the job's name."""
    workspace = deps.workspace
    return {
        INDEX_FILE: lambda job: _index(workspace, [job.payload["path"]]),
        INDEX_MODULE: lambda job: _index(workspace, _chain(workspace, job.payload["path"])),
        INJECT: lambda job: _inject(deps, job.payload),
        SUGGEST_LINK: lambda job: _suggest(deps.tables, job.payload),
    }


def _index(workspace: Workspace, locations: list[str]) -> dict[str, int]:
    root = workspace.root.resolve()
    paths = [_inside(root, location) for location in locations]
    try:
        return dict(index_paths(workspace, paths, now=_now()).counts)
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


def _inject(deps: Deps, payload: Mapping[str, Any]) -> int:
    question = load_run(deps.store, payload["run"])[0].state.question
    root = deps.workspace.root.resolve()
    _inside(root, payload["path"])
    found = evidence_of_file(root, payload["path"], question, now=_now())
    for evidence in found:
        deps.tables.inject(evidence)
    return len(found)


def _suggest(tables: RepairStore, payload: Mapping[str, Any]) -> str:
    suggestion = tables.suggest(
        action=SUGGEST_LINK, target=payload["code_symbol"], details=dict(payload), now=_now()
    )
    return suggestion.id


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


def _now() -> datetime:
    return datetime.now(UTC)


REPAIR: Final = "repair"
"""Name of the steps."""
_READ: Final = re.compile(r"index\.file (?P<path>.*): done")  # index.file notes/a.md: done
USED_UP: Final = "no repair: this hour's rounds are used up (repair: max_per_hour)"
"""Stands in place of the jobs of a round."""


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
    first = case.repairs[-1].round + 1 if case.repairs else 1
    for round_ in range(first, MAX_REPAIRS + 1):
        actions = _applicable(actions_for([reason], round_), deps)
        specs = list(jobs_for(actions, targets))
        done = _do(run, deps, specs, round_) if specs else []
        helps = [line for line in done if not line.startswith((SUGGEST_LINK, USED_UP))]  # a link waits
        repaired = Repaired(attempt=len(case.attempts), round=round_, actions=actions, jobs=tuple(done))
        if helps or {STRICT, OTHER_MODEL} & set(actions):
            _record(run, repaired)
            run.record(events.Progressed, what=REPAIR)
            return case.request.may_repair
        if USED_UP in done:
            _record(run, replace(repaired, actions=()))
            break
    return False


def asks_again(run: Run, deps: Deps, reason: Reason) -> bool:
    """Whether a signal would let a model be asked once more, strictly or another one."""
    case = knowledge_of(run.state)
    first = case.repairs[-1].round + 1 if case.repairs else 1
    actions = (actions_for([reason], round_) for round_ in range(first, MAX_REPAIRS + 1))
    return case.request.may_repair and any(
        {STRICT, OTHER_MODEL} & {*_applicable(names, deps)} for names in actions
    )


def _record(run: Run, repaired: Repaired) -> None:
    run.record(events.Noted, name=REPAIRED, data=msgspec.to_builtins(repaired))


def _applicable(actions: Sequence[str], deps: Deps) -> tuple[str, ...]:
    """Leave out what changes nothing: strictness for a model that only quotes, and another one of one."""
    idle = {STRICT} if deps.ladder.name == OFFLINE else set()
    idle |= set() if deps.ladder.rest else {OTHER_MODEL}
    return tuple(action for action in actions if action not in idle)


def _targets(run: Run, deps: Deps, found: SearchResult) -> Targets:
    root = deps.workspace.root.resolve()
    # what the settings name was read before the question; a repair looks in the rest of the project
    pending = read_coverage(deps.workspace, starts=[root]).pending
    stale = [Target(path=file.location, version=file.version) for file in pending]
    likely = likely_files(run.state.question, stale, root)
    files = [*dict.fromkeys([*found.stale, *likely, *_read_before(run, root)])][:MAX_FILES]
    symbols = tuple(found.of("symbol"))
    return Targets(
        run_id=run.run_id,
        question_key=question_key(run.state.question),
        files=tuple(files),
        links=tuple(suggested_links(symbols, [*found.of("schema"), *_spoken_of(deps, symbols)])),
    )


def _read_before(run: Run, root: Path) -> Iterator[Target]:
    """Yield the files that the round before has read, whose imports the next one follows."""
    for line in (line for repair in knowledge_of(run.state).repairs for line in repair.jobs):
        if match := _READ.fullmatch(line):
            with suppress(OSError):  # removed since
                status = (root / match["path"]).stat()
                yield Target(path=match["path"], version=f"{status.st_size}-{status.st_mtime_ns}")


def _spoken_of(deps: Deps, symbols: Sequence[Source]) -> Iterator[Source]:
    """Yield the parts of schemas that fit what symbols say of themselves."""
    for symbol in symbols:
        yield from find_fields(deps.workspace.index_file, symbol.text, SearchLimits())


def _do(run: Run, deps: Deps, specs: Sequence[JobSpec], round_: int) -> list[str]:
    """Put jobs into the queue and do them, as a step; returns a line for each that was not done before."""

    def call(_key: str) -> tuple[Any, Amount]:
        return _work(run, deps, specs), NOTHING

    return list(run.step(REPAIR, f"{REPAIR}-{round_}", call, at_most=NOTHING))


def _work(run: Run, deps: Deps, specs: Sequence[JobSpec]) -> list[str]:
    asked = knowledge_of(run.state).request
    if not deps.tables.take_repair(datetime.now(UTC), most=deps.workspace.settings.repair.max_per_hour):
        return [USED_UP]
    jobs = [deps.queue.put(spec.name, spec.payload, key=spec.key, priority=spec.priority) for spec in specs]
    open_ = [job.id for job in jobs if not job.is_finished]
    if asked.may_repair and open_:
        work_on_jobs(deps.queue, job_handlers(deps), open_)
    return [_line(deps.queue.get(job_id)) for job_id in open_]


def _line(job: Job) -> str:
    about = job.payload.get("path") or job.payload.get("code_symbol", "")
    return f"{job.name} {about}: {job.status}"
