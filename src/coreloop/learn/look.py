"""What traces that exist already say: imported into a folder that is removed again, and mined."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import polars as pl

from coreloop.base.error_classes import TRANSIENT
from coreloop.base.errors import UsageError
from coreloop.base.messages import LONE
from coreloop.base.project.settings import Settings, ToolSettings
from coreloop.base.project.workspace import Workspace
from coreloop.base.tempfiles import temporary_folder
from coreloop.learn.facts.schema import KEY, NO_QUESTION
from coreloop.learn.mine.folder import MiningOptions, open_mining
from coreloop.learn.mine.window import (
    EVERY_DAY,
    IS_COUNTED,
    IS_FAILED,
    IS_FAILURE,
    Window,
    count_sources,
    merge,
)
from coreloop.learn.proposals.entry import ErrorRow, Statement
from coreloop.learn.propose import refine
from coreloop.learn.statements.logged_calls import MAX_REQUESTS
from coreloop.observe.importers.append_requests import ImportReport, land
from coreloop.observe.importers.files import find_trace_files, first_reason
from coreloop.observe.importers.recognition import Watching, all_suffixes, read_all, recognise
from coreloop.observe.reading.outcome import RequestOutcome, Unseen

MIN_COMPARED: Final = 3
"""Values of an argument that are looked up: with fewer, a share says nothing."""
NOWHERE: Final = "nowhere before"
_MIN_CASES: Final = 3  # failing and others, that a statement about a tool needs
_MAX_NAMED: Final = 3
_IS_UNKNOWN: Final = pl.col("outcome") == int(RequestOutcome.UNKNOWN)
_IS_LONE: Final = (pl.col("question") == NO_QUESTION) & (pl.col("session") == 0)


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
    formats : dict of str to dict
        By format: ``files``, ``requests`` and ``calls`` that were read, each once.
    n_unknown : int
        Files of no format that is read.
    report : ImportReport
        What was read; its calls count each request once, unlike the traces.
    n_requests, n_failed : int
        Requests, and those of them that failed.
    n_failed_calls : int
        Calls that failed; `Unseen.guessed` of them only read like failures.
    unseen : Unseen
        What the traces do not say, or their records do not hold.
    missing : tuple of str
        What the traces lack, and how to get it.
    next : str
        What to do next.
    """

    formats: dict[str, dict[str, int]]
    n_unknown: int = 0
    report: ImportReport
    n_requests: int
    n_failed: int
    n_failed_calls: int
    unseen: Unseen
    errors: tuple[ErrorRow, ...]
    statements: tuple[Statement, ...]
    arguments: tuple[ArgumentOrigin, ...]
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
    if not recognised.by_importer:
        raise UsageError(first_reason(recognised.unread))
    with temporary_folder("coreloop-look-") as root:
        workspace = Workspace(root, Settings())
        parts = read_all(recognised, watching)
        report = replace(land(parts, workspace.records_dir, workspace.settings, root), n_files=len(files))
        formats = {
            name: {"files": recognised.formats[name], **counts} for name, counts in report.formats.items()
        }
        looked = _mine(workspace, report, now, formats)
    return replace(looked, n_unknown=len(recognised.unread))


def _mine(
    workspace: Workspace, report: ImportReport, now: datetime, formats: dict[str, dict[str, int]]
) -> Looked:
    if not report.added:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in report.skipped.most_common(3))
        raise UsageError(f"no request can be read; skipped: {reasons}")
    named = {name: ToolSettings() for name in report.tools}  # statements are about known tools only
    settings = replace(workspace.settings, tools=named)
    with open_mining(replace(workspace, settings=settings), MiningOptions(no_cache=True)) as mined:
        found = refine(mined, EVERY_DAY, now=now, min_failures=settings.gates.min_failures).document
        window = merge(mined.files, EVERY_DAY)
        requests = window.all_requests().collect()
        calls = window.all_calls().select(*KEY, "tool", "error_class", "result_bytes").collect()
        arguments, unseen, unknown = argument_rows(window), window.unseen(), window.unknown_calls
    tools = Counter(calls["tool"].sort())
    for tool, _, n in unknown.iter_rows():
        tools[tool] += n
    then = "`dartlab-coreloop import` these files" if report.tools else "record its calls"
    return Looked(
        formats=formats,
        report=replace(report, tools=tools),
        n_requests=len(requests),
        n_failed=requests.filter(IS_FAILURE).height,
        n_failed_calls=calls.filter(IS_FAILED).height,
        unseen=unseen,
        errors=tuple(replace(row, task="") for row in found.errors),  # no code is at hand
        statements=found.statements,
        arguments=arguments,
        missing=(
            *_missing_of_calls(calls, unseen, arguments),
            *_missing_of_requests(requests, is_one_day=report.first_day == report.last_day),
            *_missing_of_tools(calls),
        ),
        next=f"in the agent's project, `dartlab-coreloop init`, then {then}",
    )


def argument_rows(window: Window) -> tuple[ArgumentOrigin, ...]:
    """Where the arguments of all tools came from, the most used first."""
    rows = count_sources(window)
    texts = window.texts_of("sources", rows["sources"])
    places: dict[tuple[str, str], Counter[str]] = {}
    for tool, name, sources, n in rows.iter_rows():
        listed = json.loads(texts.get(sources, "[]"))
        places.setdefault((tool, name), Counter())[str(listed[0]) if listed else NOWHERE] += n
    return tuple(
        ArgumentOrigin(tool, name, tuple((place, n / count.total()) for place, n in count.most_common(3)))
        for (tool, name), count in sorted(places.items(), key=lambda item: (-item[1].total(), item[0]))
        if count.total() >= MIN_COMPARED
    )


def _missing_of_calls(
    calls: pl.DataFrame, unseen: Unseen, arguments: Sequence[ArgumentOrigin]
) -> Iterator[str]:
    if calls.is_empty() and not unseen.calls:
        yield "calls of tools: these traces have none"
    elif not (arguments or calls["result_bytes"].count()):
        yield "results of tools: without them it is not known where arguments come from"
    if not calls.is_empty() and calls.filter(IS_FAILED).is_empty():
        yield f"failed calls: none of {len(calls):,}; a failure is flagged by the trace, or its text says so"


def _missing_of_requests(requests: pl.DataFrame, *, is_one_day: bool) -> Iterator[str]:
    if len(requests) > MAX_REQUESTS:
        yield f"requests: errors and lines are of {MAX_REQUESTS:,}, drawn evenly"
    if not requests.filter(IS_FAILURE).height and requests.filter(IS_COUNTED).height:
        yield "failed requests: no trace says that one failed; import scores, or judge some by hand"
    if is_one_day and not requests["undated"].any():
        yield "a second day: with one, nobody knows whether a cause lasts"
    if requests.filter(_IS_LONE, ~_IS_UNKNOWN).height * 2 > len(requests):
        yield f"sessions: {LONE}"
    elif requests["session"][0] and requests["session"].n_unique() == 1:
        yield "more sessions: what calls of one show counts as one case, unless their questions differ"
    elif not (requests["session"] != 0).any() and requests["case"].null_count() == len(requests):
        yield "sessions or identifiers: without them, a question asked again in other words counts twice"
    if requests["model"].n_unique() == 1 and not requests["model"][0]:
        yield "names of models: a change of model looks like a change of the tools"


def _missing_of_tools(calls: pl.DataFrame) -> Iterator[str]:
    failing = calls.filter(~pl.col("error_class").is_in(["", *TRANSIENT]))
    requests = failing.group_by("tool").agg(n=pl.struct(KEY).n_unique())
    if few := sorted(requests.filter(pl.col("n") < _MIN_CASES)["tool"]):
        named = ", ".join(few[:_MAX_NAMED])
        more = f" and {len(few) - _MAX_NAMED:,} more" if len(few) > _MAX_NAMED else ""
        needed = f"{_MIN_CASES} failing requests and as many others"
        yield f"more failures of {named}{more}: a cause needs {needed}"
