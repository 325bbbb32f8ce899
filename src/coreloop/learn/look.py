"""What traces that exist already say: imported into a folder that is removed again, and mined."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl

from coreloop.base.date_range import Days
from coreloop.base.error_classes import TRANSIENT
from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.settings import Settings, ToolSettings
from coreloop.base.project.workspace import Workspace
from coreloop.base.tempfiles import temporary_folder
from coreloop.learn.mine.run import MiningOptions, open_mining
from coreloop.learn.mine.window import IS_COUNTED, IS_FAILURE, Window, merge
from coreloop.learn.proposals.entry import Statement
from coreloop.learn.proposals.task import ErrorRow
from coreloop.learn.refine.run import RefineRequest, run_refine
from coreloop.observe.importers import importers, openai_chat, otlp
from coreloop.observe.importers.append_requests import ImportReport, Watching, land
from coreloop.observe.importers.files import UNREADABLE, TraceFile, find_trace_files
from coreloop.observe.importers.recognise import recognise
from coreloop.observe.reading.outcome import RequestOutcome, Unseen

MIN_COMPARED: Final = 3
"""Values of an argument that are looked up: with fewer, a share says nothing."""
NOWHERE: Final = "nowhere before"
_MIN_CASES: Final = 3  # failing and others, that a statement about a tool needs
_KEY: Final = ("file", "offset")
_HEAD_BYTES: Final = 8192  # two records of the largest size


@dataclass(frozen=True, slots=True)
class ArgumentOrigin:
    """Where an argument's values had occurred before the call: places and shares, most frequent first."""

    tool: str
    argument: str
    n_values: int
    places: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Looked:
    """What traces say.

    Attributes
    ----------
    formats : dict of str to int
        Files by format.
    n_unknown : int
        Files of no known format.
    report : ImportReport
        What was read.
    n_requests, n_failed : int
        Requests, and those of them that failed.
    unseen : Unseen
        What the traces do not say, or their records do not hold.
    missing : tuple of str
        What the traces lack, and how to get it.
    few_failures : tuple of str
        Tools that fail in too few requests for a cause.
    """

    formats: dict[str, int]
    n_unknown: int
    report: ImportReport
    n_requests: int
    n_failed: int
    unseen: Unseen
    errors: tuple[ErrorRow, ...]
    statements: tuple[Statement, ...]
    arguments: tuple[ArgumentOrigin, ...]
    missing: tuple[str, ...]
    few_failures: tuple[str, ...] = ()


def look(paths: Sequence[Path], *, now: datetime, watching: Watching = nullcontext) -> Looked:
    """Read traces of any known format, and mine them; nothing is kept.

    Parameters
    ----------
    paths : sequence of Path
        Files, and folders to search.
    now : datetime
        With time zone.
    watching : callable, optional
        Adds progress callbacks to the files.

    Raises
    ------
    WorkspaceError
        A path is absent or cannot be read.
    UsageError
        No file has a request of a known format.
    """
    suffixes = tuple(sorted({suffix for importer in importers().values() for suffix in importer.suffixes}))
    files = find_trace_files(paths, suffixes, now_s=now.timestamp())
    newest = datetime.fromtimestamp(now.timestamp() - min(file.quiet_s for file in files), UTC)
    readers = {name: importer.read for name, importer in importers().items()}
    readers[openai_chat.NAME] = partial(openai_chat.read, undated=newest)
    by_format, others = recognise(files, readers)
    if not by_format:
        hint = "; coreloop's own records are read by refine, in their project" * _has_records(files)
        n_files = number_of(len(files), "file")
        raise UsageError(f"no request in {n_files}; known formats: {', '.join(readers)}{hint}")
    with temporary_folder("coreloop-look-") as root:
        workspace = Workspace(root, Settings())
        report = ImportReport(n_files=len(files))
        for name, known in by_format.items():
            with watching(known) as watched:
                landed = land(readers[name](watched), workspace.records_dir, workspace.settings, root)
            report = _added(report, landed)
        looked = _mine(_with_tools(workspace, report), report, now, undated=newest, formats=by_format)
    formats = {name: len(known) for name, known in by_format.items()}
    return replace(looked, formats=formats, n_unknown=len(others))


def _has_records(files: Sequence[TraceFile]) -> bool:
    for file in files:
        with suppress(*UNREADABLE), file.open() as opened:
            if b'"tool_sequence_hash"' in opened.read(_HEAD_BYTES):
                return True
    return False


def _added(total: ImportReport, more: ImportReport) -> ImportReport:
    days = [day for day in (total.first_day, total.last_day, more.first_day, more.last_day) if day]
    return replace(
        total,
        records=total.records + more.records,
        added=total.added + more.added,
        already_there=total.already_there + more.already_there,
        skipped=total.skipped + more.skipped,
        dropped=total.dropped + more.dropped,
        tools=total.tools + more.tools,
        first_day=min(days, default=None),
        last_day=max(days, default=None),
    )


def _with_tools(workspace: Workspace, report: ImportReport) -> Workspace:
    """The scratch project with a definition of every tool, so that statements are about known tools."""
    source = "".join(
        f"def tool_{number}(**arguments):\n    pass\n\n\n" for number in range(len(report.tools))
    )
    (workspace.root / "tools.py").write_text(source, encoding="utf-8")
    tools = {
        name: ToolSettings(target=f"tools.py::tool_{number}") for number, name in enumerate(report.tools)
    }
    return replace(workspace, settings=replace(workspace.settings, tools=tools))


def _mine(
    workspace: Workspace,
    report: ImportReport,
    now: datetime,
    *,
    undated: datetime,
    formats: Collection[str],
) -> Looked:
    first, last = report.first_day, report.last_day
    if first is None or last is None:
        raise UsageError("the traces hold no request with a time")
    days = Days(date.fromisoformat(first), date.fromisoformat(last))
    options = MiningOptions()
    refined = run_refine(workspace, RefineRequest(days=days, mining=options), now=now)
    with open_mining(workspace, options) as mined:
        window = merge(mined.files, days)
        requests = window.all_requests().collect()
        calls = window.all_calls().join(requests.lazy().select(*_KEY, "outcome"), on=_KEY).collect()
        arguments = argument_rows(window)
        unseen, unknown = window.unseen(), window.unknown_calls
    tools = Counter(calls["tool"].sort())  # each request once, unlike the traces
    for tool, _, n in unknown.iter_rows():
        tools[tool] += n
    return Looked(
        formats={},
        n_unknown=0,
        report=replace(report, tools=tools),
        n_requests=len(requests),
        n_failed=requests.filter(IS_FAILURE).height,
        unseen=unseen,
        errors=tuple(replace(row, task="") for row in refined.document.errors),  # no code is at hand
        statements=refined.document.statements,
        arguments=arguments,
        missing=(
            *_missing_results(calls, unseen, arguments),
            *_missing_answers(requests, formats),
            *_missing(report, requests, calls, undated),
        ),
        few_failures=_tools_with_few_failures(calls),
    )


def argument_rows(window: Window) -> tuple[ArgumentOrigin, ...]:
    """Where the arguments of all tools came from, the most used first."""
    key = [*_KEY, "call"]
    rows = (
        window.all_arguments()
        .filter(pl.col("sources").is_not_null())
        .join(window.all_calls().select(*key, "tool"), on=key)
        .group_by("tool", "name", "sources")
        .agg(n=pl.len())
        .sort("tool", "name", "sources")
        .collect()
    )
    texts = window.texts_of("sources", rows["sources"])
    places: dict[tuple[str, str], Counter[str]] = {}
    for tool, name, sources, n in rows.iter_rows():
        listed = json.loads(texts.get(sources, "[]"))
        places.setdefault((tool, name), Counter())[str(listed[0]) if listed else NOWHERE] += n
    counted_rows = sorted(places.items(), key=lambda item: (-item[1].total(), item[0]))
    return tuple(
        ArgumentOrigin(
            tool, name, count.total(), tuple((place, n / count.total()) for place, n in count.most_common(3))
        )
        for (tool, name), count in counted_rows
        if count.total() >= MIN_COMPARED
    )


def _missing_results(
    calls: pl.DataFrame, unseen: Unseen, arguments: Sequence[ArgumentOrigin]
) -> Iterator[str]:
    if calls.is_empty() and not unseen.calls:
        yield "calls of tools: these traces have none"
    elif not calls["result_bytes"].count():
        yield "results of tools: without them it is not known where arguments come from"
    elif not arguments:
        yield (
            f"more calls: where an argument comes from is shown for arguments with {MIN_COMPARED} "
            "values or more"
        )


def _missing_answers(requests: pl.DataFrame, formats: Collection[str]) -> Iterator[str]:
    """What to switch on where most answers are unknown: OpenTelemetry leaves texts out unless asked."""
    is_unknown = pl.col("outcome") == int(RequestOutcome.UNKNOWN)
    if 2 * requests.filter(is_unknown).height <= len(requests):
        return
    switch = (
        "; OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true lets OpenTelemetry capture them"
        if otlp.NAME in formats
        else ""
    )
    yield f"answers: without them, nobody knows which requests failed{switch}"


def _missing(
    report: ImportReport, requests: pl.DataFrame, calls: pl.DataFrame, undated: datetime
) -> Iterator[str]:
    """What else would let these traces say more."""
    is_one_model = requests["model"].n_unique() == 1 and not requests["model"][0]
    is_alone = not (requests["session"] != 0).any() and requests["case"].null_count() == len(requests)
    n_undated = requests.filter(pl.col("ts_us") == round(undated.timestamp() * 1e6)).height
    if not calls.is_empty() and not calls.filter(pl.col("error_class") != "").height:
        yield (
            "failed calls: no result reads as one; one begins with Error: or ValueError:, or is "
            '{"error": "…"}'
        )
    if not requests.filter(IS_FAILURE).height and requests.filter(IS_COUNTED).height:
        yield "failed requests: no trace says that one failed; import scores, or judge some by hand"
    if n_undated:
        yield (
            f"times: {number_of(n_undated, 'request')} without one count on the newest file's "
            'day; "ts": "2026-04-25T09:30:00Z" beside the messages gives one, and a second day '
            "shows whether a cause lasts"
        )
    elif report.first_day == report.last_day:
        yield "a second day: with one, nobody knows whether a cause lasts"
    if is_alone:
        yield "sessions or identifiers: without them, a question asked again in other words counts twice"
    if is_one_model:
        yield "names of models: a change of model looks like a change of the tools"
    few = _tools_with_few_failures(calls)
    if few:
        yield (
            f"more failures of {number_of(len(few), 'tool')}: a cause needs {_MIN_CASES} failing "
            "requests and as many others"
        )
    yield (
        "the tools' source: in the agent's project, `dartlab-coreloop init` and `import` also show in which "
        "state objects were, and draft texts for docstrings"
    )


def _tools_with_few_failures(calls: pl.DataFrame) -> tuple[str, ...]:
    failing = calls.filter(~pl.col("error_class").is_in(["", *TRANSIENT]))
    requests = failing.group_by("tool").agg(n=pl.struct(_KEY).n_unique())
    return tuple(sorted(requests.filter(pl.col("n") < _MIN_CASES)["tool"]))
