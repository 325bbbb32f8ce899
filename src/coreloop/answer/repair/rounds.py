"""A round of repair: the signal's actions become jobs, which are done at once or left to workers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.ladder import OFFLINE
from coreloop.answer.repair.actions import ACTIONS, MAX_REPAIRS, OTHER_MODEL, STRICT, Reason
from coreloop.answer.repair.store import Evidence, question_key
from coreloop.answer.research.research_state import REPAIRED, Repaired, knowledge_of
from coreloop.answer.research.run_searches import SearchResult
from coreloop.answer.search.extract.document import Unreadable, decode_text
from coreloop.answer.search.extract.kinds import read_document
from coreloop.answer.search.extract.python import read_imports
from coreloop.answer.search.extract.text import split_passages
from coreloop.answer.search.index.run import File, file_at, index_paths, read_coverage
from coreloop.answer.search.index.search_index import find_declared
from coreloop.answer.search.provider import Source
from coreloop.answer.text.terms import keys, term_set
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import open_regular
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.jobs.queue import Job
from coreloop.runs.jobs.work import Handler, work_on_jobs
from coreloop.runs.load import load_run
from coreloop.runs.state import State

MAX_CHAIN: Final = 50  # files of an import chain
_LINK: Final = "schema.link.suggest"
REPAIR: Final = "repair"  # name of the steps
MAX_FILES: Final = 5
_MAX_LOOKED_AT: Final = 2_000  # files whose beginning is read; of more, those whose names fit best
_HEAD_BYTES: Final = 16_000
_HEAD_CHARS: Final = 2_000
# Of the words of a question; a file with fewer of them is no target.
_LEAST_SHARE: Final = 0.3
# Without such a word, a docstring that has a column's words rarely means the column.
_SPEAKS: Final = re.compile(r"\b(?:columns?|fields?|tables?)\b|컬럼|필드|테이블", re.IGNORECASE)
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")  # getPage_2 -> get Page 2
_SYMBOL: Final = re.compile(r"^[^\S\n]*(?:async[^\S\n]+)?(?:def|class)[^\S\n]+(\w+)", re.MULTILINE)


Link = Mapping[str, str]


def job_handlers(deps: Deps) -> Mapping[str, Handler]:
    """Return what does each job, by the job's name."""
    root = deps.workspace.root.resolve()

    def index(job: Job) -> dict[str, int]:
        chain = [job.payload["path"]]
        for file in chain if job.name == "index.module" else ():
            imported = read_imports(file, root)
            chain += [name for name in imported if name not in chain][: MAX_CHAIN - len(chain)]
        paths = [path for path in [_inside(root, name) for name in chain] if path.exists()]
        return dict(index_paths(deps.workspace, paths, now=datetime.now(UTC)).counts)

    def inject(job: Job) -> bool:
        question, location = load_run(deps.store, job.payload["run"])[0].state.question, job.payload["path"]
        _inside(root, location)
        evidence = evidence_of_file(root, location, question, now=datetime.now(UTC))
        if evidence:
            deps.tables.inject(evidence)
        return evidence is not None

    def suggest(job: Job) -> str:
        return deps.tables.suggest(_LINK, dict(job.payload), now=datetime.now(UTC)).id

    return {"index.file": index, "index.module": index, "evidence.inject": inject, _LINK: suggest}


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
    case, targets = knowledge_of(run.state), _targets(run, deps, found)
    for round_, actions in _rounds(run, deps, reason):
        work = partial(_work, run, deps, actions, targets)
        done = tuple(run.step(REPAIR, f"{REPAIR}-{round_}", work, at_most=NOTHING))
        helps = any(not line.startswith(_LINK) for line in done)  # a link waits
        if helps or {STRICT, OTHER_MODEL} & {*actions}:
            repaired = Repaired(attempt=len(case.attempts), round=round_, actions=actions, jobs=done)
            run.record(events.Noted, name=REPAIRED, data=msgspec.to_builtins(repaired))
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
        yield round_, tuple(action for action in ACTIONS[reason][round_ - 1] if action not in idle)


def _targets(run: Run, deps: Deps, found: SearchResult) -> tuple[list[File], list[Link]]:
    """Return what the actions are about: files, the likeliest first, and links to suggest."""
    root, index, question = deps.workspace.root.resolve(), deps.workspace.index_file, run.state.question
    # what the settings name was read before the question; a repair looks in the rest of the project
    pending = read_coverage(deps.workspace, starts=[root]).pending if deps.searches_index else ()
    likely = likely_files(question, pending, root)
    symbols, fields = list(found.of("symbol")), list(found.of("schema"))
    for symbol in symbols:
        fields += find_declared(index, symbol.text, is_schema=True)
    # imports of what the round before has injected are followed
    injected = [file_at(root / source.location, source.location) for source in found.of("injected")]
    files = [*dict.fromkeys([*likely, *injected])][:MAX_FILES]
    return files, list(suggested_links(symbols, fields))


def _work(
    run: Run, deps: Deps, actions: Sequence[str], targets: tuple[list[File], list[Link]], _key: str
) -> tuple[list[str], Amount]:
    """Put jobs into the queue and do them; returns a line for each that was not done before."""
    open_ = [job.id for job in put_jobs(deps, run.state, actions, *targets) if not job.is_finished]
    if knowledge_of(run.state).request.may_repair and open_:
        work_on_jobs(deps.queue, job_handlers(deps), open_)
    return [_line(deps.queue.get(job_id)) for job_id in open_], NOTHING


def put_jobs(
    deps: Deps, run: State, actions: Sequence[str], files: Sequence[File], links: Sequence[Link] = ()
) -> list[Job]:
    """Put the jobs of actions into the queue: the same ones for the same content of the files."""
    jobs = []
    for link in links if _LINK in actions else ():
        key = f"{_LINK} {link['code_symbol']} {link['schema_ref']}"
        jobs.append(deps.queue.put(_LINK, link, key=key))
    payloads: dict[str, dict[str, Any]] = {
        "index.file": {},
        "index.module": {"recursive": True},
        "evidence.inject": {"run": run.run_id},  # which has the question: the queue holds no text of users
    }
    for action in [action for action in actions if action in payloads]:
        about = f"{action} {question_key(run.question)}" if action == "evidence.inject" else action
        for file in files:
            payload = {"path": file.location, **payloads[action]}
            jobs.append(deps.queue.put(action, payload, key=f"{about} {file.location} {file.version}"))
    return jobs


def _line(job: Job) -> str:
    about = job.payload.get("path") or job.payload.get("code_symbol", "")
    return f"{job.name} {about}: {job.status}"


def evidence_of_file(root: Path, location: str, question: str, *, now: datetime) -> Evidence | None:
    """Return a file's best passage for a question; None if the file has no text.

    Parameters
    ----------
    root : Path
        Of the project.
    location : str
        Of the file, see `coreloop.answer.search.provider.Source`.
    question : str
        Text of a user: only compared.
    now : datetime
        With a time zone.
    """
    file, document = file_at(root / location, location), read_document(root / location, location)
    passages = () if isinstance(document, Unreadable) else split_passages(document)
    asked = term_set(question)
    best = max(passages, key=lambda part: len(asked & term_set(f"{part.heading}\n{part.text}")), default=None)
    if best is None:
        return None
    return Evidence(
        question=question_key(question),
        location=location,
        symbol=best.heading,
        line=best.line,
        content=best.text,
        version=file.version,
        created_at=now,
    )


def likely_files(question: str, files: Sequence[File], root: Path) -> list[File]:
    """Return the files that most likely answer a question, at most `MAX_FILES`, the likeliest first.

    Compared are their names, symbols and first lines, as `coreloop.answer.text.terms.terms` reads them.

    Parameters
    ----------
    question : str
        Text of a user: only compared.
    files : sequence of File
        Files that are stale or not indexed.
    root : Path
        Of the project.
    """
    asked = term_set(question)
    by_name = sorted(files, key=lambda file: -len(asked & term_set(file.location)))[:_MAX_LOOKED_AT]
    shared = {file: len(asked & term_set(_beginning(root, file.location))) for file in by_name}
    likely = [file for file, number in shared.items() if number > _LEAST_SHARE * len(asked)]
    return sorted(likely, key=lambda file: (-shared[file], file.location))[:MAX_FILES]


def suggested_links(symbols: Sequence[Source], fields: Sequence[Source]) -> Iterator[Link]:
    """Yield links between symbols and parts of schemas that are named alike, or that the symbol speaks of.

    ``customer_rate`` is ``customers.rate``; a docstring that has the words of a table and of its column
    speaks of the column.
    """
    for symbol, field in product(symbols, fields):
        owner, _, last = field.title.rpartition(".")
        name, whole = _words(last), _words(f"{owner.rpartition('.')[2]} {last}")
        if _words(symbol.title.rpartition(".")[2]) in (name, whole):
            reason = f"both are named {last.strip('#')}"
        elif whole > name and _SPEAKS.search(symbol.text) and whole <= keys(symbol.text):
            reason = f"{symbol.title} speaks of {last}"
        else:
            continue
        yield {"code_symbol": symbol.reference, "schema_ref": field.reference, "reason": reason}


def _words(name: str) -> frozenset[str]:
    return keys(" ".join(_PART.findall(name)))


def _beginning(root: Path, location: str) -> str:
    """The name, symbols and first lines of a file."""
    data = b""
    with suppress(OSError), open_regular(root / location) as file:
        data = file.read(_HEAD_BYTES)
    text = decode_text(data if len(data) < _HEAD_BYTES else data[: data.rfind(b"\n") + 1])
    read = text if isinstance(text, str) else ""
    return "\n".join([location, *_SYMBOL.findall(read), read[:_HEAD_CHARS]])
