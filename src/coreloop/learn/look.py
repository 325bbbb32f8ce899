"""What traces that exist already say: imported into a folder that is removed again, and mined."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.messages import LONE
from coreloop.base.project.settings import Settings, ToolSettings
from coreloop.base.project.workspace import Workspace
from coreloop.base.tempfiles import temporary_folder
from coreloop.learn.facts.read_lines import NO_QUESTION
from coreloop.learn.mine.folder import MiningOptions, mine
from coreloop.learn.mine.requests import Requests
from coreloop.learn.mine.window import EVERY_DAY, Window, merge
from coreloop.learn.proposals.entry import MIN_CASES
from coreloop.learn.propose import FoundStatements, find_statements
from coreloop.learn.statements.logged_calls import MAX_REQUESTS, CaseLog
from coreloop.observe.importers.append_requests import ImportReport, RequestLog
from coreloop.observe.importers.files import OWN, find_trace_files, first_reason
from coreloop.observe.importers.recognition import Watching, all_suffixes, read_all, recognise
from coreloop.observe.reading.outcome import RequestOutcome

MIN_COMPARED: Final = 3
"""Values of an argument that are looked up: with fewer, a share says nothing."""
NOWHERE: Final = "nowhere before"
_MAX_NAMED: Final = 3
_MAX_LISTED: Final = 8  # as of lines


@dataclass(frozen=True, slots=True)
class ArgumentOrigin:
    """Where an argument's values had occurred before the call: places and shares, most frequent first."""

    tool: str
    argument: str
    places: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What traces say.

    Attributes
    ----------
    n_unknown : int
        Files of no format that is read.
    report : ImportReport
        What was read, with the ``files`` of each format, and what the traces do not say.
    n_requests, n_failed : int
        Requests, and those of them that failed.
    n_failed_calls : int
        Calls that failed; `Unseen.guessed` of them only read like failures.
    listed : tuple of (str, str)
        Tools and arguments whose few values separate the failing calls; only a source declares such a list.
    missing : tuple of str
        What the traces lack, and how to get it.
    next : str
        What to do next.
    """

    n_unknown: int = 0
    report: ImportReport
    n_requests: int
    n_failed: int
    n_failed_calls: int
    found: FoundStatements
    arguments: tuple[ArgumentOrigin, ...]
    listed: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    next: str


def look(paths: Sequence[Path], *, now: datetime, watching: Watching = nullcontext) -> Looked:
    """Read traces of any known format, and mine them; nothing is kept.

    Parameters
    ----------
    paths : sequence of Path
        Files, and folders to search.
    now : datetime
        With time zone.
    watching : callable, optional
        Shows the progress.

    Raises
    ------
    WorkspaceError
        A path is absent or cannot be read.
    UsageError
        No file has a request of a known format.
    """
    files = find_trace_files(paths, all_suffixes(), now_s=now.timestamp())
    recognised = recognise(files)
    own = [file for file in recognised.unread if file.reason.startswith(OWN)]
    if not recognised.by_importer:
        raise UsageError(first_reason(recognised.unread))
    with temporary_folder("coreloop-look-") as root:
        workspace = Workspace(root, Settings())
        parts = read_all(recognised, watching)
        report = RequestLog(workspace.records_dir, workspace.settings, root).append(parts)
        formats = {
            name: Counter(files=recognised.formats[name], **counts) for name, counts in report.formats.items()
        }
        report = replace(report, n_files=len(files), formats=formats)
        looked = replace(_mine(workspace, report), n_unknown=len(recognised.unread))
        return replace(looked, next="run `dartlab-coreloop refine` on the records here") if own else looked


def _mine(workspace: Workspace, report: ImportReport) -> Looked:
    if not report.added:
        raise UsageError(f"no request can be read; skipped: {'; '.join(report.skipped_lines()[:3])}")
    named = {name: ToolSettings() for name in report.tools}  # statements are about known tools only
    settings = replace(workspace.settings, tools=named)
    mined = mine(replace(workspace, settings=settings), MiningOptions(no_cache=True))
    window = merge(mined.files, EVERY_DAY)
    found = find_statements(window, mined.workspace)
    arguments = argument_rows(found.log)
    unclear = [f"a cause {row.suggestion}" for row in found.errors if row.mender == "unknown yet"]
    then = "`dartlab-coreloop import` these files" if report.tools else "record its calls"
    return Looked(
        report=report,
        n_requests=sum(group.n for group in window.requests),
        n_failed=window.n_of(RequestOutcome.FAILURE),
        n_failed_calls=sum(n for call, n in window.calls.items() if call.error_class),
        found=found,
        arguments=arguments,
        listed=tuple(_listed(found)),
        missing=(
            *_missing_of_calls(window, found.log),
            *_missing_of_requests(window),
            *dict.fromkeys(unclear[:_MAX_NAMED]),
        ),
        next=f"in the agent's project, `dartlab-coreloop init`, then {then}",
    )


def argument_rows(log: CaseLog) -> tuple[ArgumentOrigin, ...]:
    """Where the arguments of all tools came from, the most used first."""
    places: dict[tuple[str, str], Counter[str]] = {}
    for call in (call for request in log.requests for call in request.calls):
        for name, value in call.values.items():
            if value.sources is not None and value.kind != "empty":
                place = next(iter(value.sources), NOWHERE)
                places.setdefault((call.tool, name), Counter())[place] += 1
    rows = []
    for (tool, name), count in sorted(places.items(), key=lambda item: (-item[1].total(), item[0])):
        most = sorted(count.items(), key=lambda item: (-item[1], item[0]))[:_MAX_NAMED]
        shares = tuple((place, n / count.total()) for place, n in most)
        rows += [ArgumentOrigin(tool, name, shares)] if count.total() >= MIN_COMPARED else []
    return tuple(rows)


def _listed(found: FoundStatements) -> Iterator[tuple[str, str]]:
    """The arguments of tools without a line that take a few texts, of which no failing call has any."""
    said = {statement.tool for statement in found.statements}
    texts = defaultdict[tuple[str, str, bool], list[tuple[int | None, int]]](list)
    for call, case in ((call, it.case) for it in found.log.requests for call in it.calls if not call.retry):
        for name, value in call.values.items():
            if value.kind == "text" and call.tool not in said:
                texts[call.tool, name, call.ok].append((value.value, case))
    for (tool, name, _), failed in [item for item in texts.items() if not item[0][2]]:
        worked = Counter(value for value, _ in texts.get((tool, name, True), ()))
        is_list = 1 < len(worked) <= _MAX_LISTED and worked.total() >= MIN_CASES * len(worked)
        if (
            is_list
            and worked.keys().isdisjoint(dict(failed))
            and len({case for _, case in failed}) >= MIN_CASES
        ):
            yield tool, name


def _missing_of_calls(window: Window, log: CaseLog) -> Iterator[str]:
    values = (value for request in log.requests for call in request.calls for value in call.values.values())
    n = sum(n for call, n in window.calls.items() if call.is_known)
    if not n and not window.unseen().calls:
        yield "calls of tools: these traces have none"
    elif any(call.ok for call in window.calls) and all(value.sources is None for value in values):
        yield "results of tools: without them it is not known where arguments come from"
    if n and not any(call.error_class for call in window.calls):
        yield f"failed calls: none of {n:,}; a failure is flagged by the trace, or its text says so"


def _missing_of_requests(window: Window) -> Iterator[str]:
    groups, n = window.requests, sum(group.n for group in window.requests)
    sessions = {session for group in groups for session in group.column("session")}
    if n > MAX_REQUESTS:
        yield f"requests: errors, lines and arguments are of {MAX_REQUESTS:,}, drawn evenly"
    if window.n_of(RequestOutcome.SUCCESS) and not window.n_of(RequestOutcome.FAILURE):
        yield "failed requests: no trace says that one failed; import scores, or judge some by hand"
    if sum(map(_n_lone, groups)) * 2 > n:
        yield f"sessions: {LONE}"
    elif len(sessions) == 1 and sessions != {0}:
        yield "more sessions: what calls of one show counts as one case, unless their questions differ"
    elif sessions == {0} and not any(any(group.column("client")) for group in groups):
        yield "sessions or identifiers: without them, a question asked again in other words counts twice"
    if {group.alike.model for group in groups} == {""}:
        yield "names of models: a change of model looks like a change of the tools"


def _n_lone(group: Requests) -> int:
    """How many have neither a question nor a session."""
    rows = zip(*map(group.column, ("question", "session", "outcome")), strict=True)
    return sum(row[:2] == (NO_QUESTION, 0) and row[2] != RequestOutcome.UNKNOWN for row in rows)
