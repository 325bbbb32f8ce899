"""What traces that exist already say: imported into a folder that is removed again, and mined."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
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
from coreloop.learn.facts.schema import KEY
from coreloop.learn.mine.folder import MiningOptions, open_mining
from coreloop.learn.mine.window import IS_COUNTED, IS_FAILURE, Window, count_sources, merge
from coreloop.learn.proposals.entry import ErrorRow, Statement
from coreloop.learn.propose import refine
from coreloop.observe.importers import importers, otlp
from coreloop.observe.importers.append_requests import ImportReport, land
from coreloop.observe.importers.files import find_trace_files, first_reason
from coreloop.observe.importers.recognition import MAY_LACK_TIMES, Watching, all_suffixes, read_all, recognise
from coreloop.observe.reading.outcome import RequestOutcome, Unseen

MIN_COMPARED: Final = 3
"""Values of an argument that are looked up: with fewer, a share says nothing."""
NOWHERE: Final = "nowhere before"
_MIN_CASES: Final = 3  # failing and others, that a statement about a tool needs


@dataclass(frozen=True, slots=True)
class ArgumentOrigin:
    """Where an argument's values had occurred before the call: places and shares, most frequent first."""

    tool: str
    argument: str
    n_values: int
    places: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What traces say.

    Attributes
    ----------
    formats : dict of str to int
        Files by format.
    n_unknown : int
        Files of no format that is read.
    report : ImportReport
        What was read; its calls count each request once, unlike the traces.
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
    n_unknown: int = 0
    report: ImportReport
    n_requests: int
    n_failed: int
    unseen: Unseen
    errors: tuple[ErrorRow, ...]
    statements: tuple[Statement, ...]
    arguments: tuple[ArgumentOrigin, ...]
    missing: tuple[str, ...]
    few_failures: tuple[str, ...]


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
    newest = datetime.fromtimestamp(now.timestamp() - min(file.quiet_s for file in files), UTC)
    readers = {name: importer.read for name, importer in importers().items()}
    for name in MAY_LACK_TIMES:
        readers[name] = partial(readers[name], undated=newest)
    recognised = recognise(files, readers)
    if not recognised.by_importer:
        raise UsageError(first_reason(recognised.unread))
    with temporary_folder("coreloop-look-") as root:
        workspace = Workspace(root, Settings())
        parts = read_all(recognised, readers, watching)
        report = replace(land(parts, workspace.records_dir, workspace.settings, root), n_files=len(files))
        looked = _mine(workspace, report, now, undated=newest, formats=recognised.formats)
    return replace(looked, n_unknown=len(recognised.unread))


def _mine(
    workspace: Workspace,
    report: ImportReport,
    now: datetime,
    *,
    undated: datetime,
    formats: dict[str, int],
) -> Looked:
    if report.first_day is None or report.last_day is None:
        skipped = ", ".join(f"{n:,} {reason}" for reason, n in report.skipped.most_common(3))
        raise UsageError(f"the traces hold no request: {skipped}")
    days = Days(date.fromisoformat(report.first_day), date.fromisoformat(report.last_day))
    named = {name: ToolSettings() for name in report.tools}  # statements are about known tools only
    settings = replace(workspace.settings, tools=named)
    with open_mining(replace(workspace, settings=settings), MiningOptions(no_cache=True)) as mined:
        found = refine(mined, days, now=now, min_failures=settings.gates.min_failures).document
        window = merge(mined.files, days)
        requests = window.all_requests().collect()
        calls = window.all_calls().collect()
        arguments, unseen, unknown = argument_rows(window), window.unseen(), window.unknown_calls
    tools = Counter(calls["tool"].sort())
    for tool, _, n in unknown.iter_rows():
        tools[tool] += n
    few = _tools_with_few_failures(calls)
    return Looked(
        formats=formats,
        report=replace(report, tools=tools),
        n_requests=len(requests),
        n_failed=requests.filter(IS_FAILURE).height,
        unseen=unseen,
        errors=tuple(replace(row, task="") for row in found.errors),  # no code is at hand
        statements=found.statements,
        arguments=arguments,
        missing=(
            *_missing_of_calls(calls, unseen, arguments),
            *_missing_of_requests(requests, formats, undated, is_one_day=days.since == days.until),
            *_missing_of_tools(few),
        ),
        few_failures=few,
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
        ArgumentOrigin(
            tool, name, count.total(), tuple((place, n / count.total()) for place, n in count.most_common(3))
        )
        for (tool, name), count in sorted(places.items(), key=lambda item: (-item[1].total(), item[0]))
        if count.total() >= MIN_COMPARED
    )


def _missing_of_calls(
    calls: pl.DataFrame, unseen: Unseen, arguments: Sequence[ArgumentOrigin]
) -> Iterator[str]:
    if calls.is_empty() and not unseen.calls:
        yield "calls of tools: these traces have none"
    elif not calls["result_bytes"].count():
        yield "results of tools: without them it is not known where arguments come from"
    elif not arguments:
        yield f"more calls: where an argument comes from needs {MIN_COMPARED} values"
    if not calls.is_empty() and not calls.filter(pl.col("error_class") != "").height:
        yield 'failed calls: none begins with Error: or ValueError:, or is {"error": "…"}'


def _missing_of_requests(
    requests: pl.DataFrame, formats: Collection[str], undated: datetime, *, is_one_day: bool
) -> Iterator[str]:
    n_unknown = requests.filter(pl.col("outcome") == int(RequestOutcome.UNKNOWN)).height
    n_undated = requests.filter(pl.col("ts_us") == round(undated.timestamp() * 1e6)).height
    if 2 * n_unknown > len(requests):  # OpenTelemetry leaves texts out unless asked
        captures = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true lets OpenTelemetry capture them"
        switch = f"; {captures}" if otlp.NAME in formats else ""
        yield f"answers: without them, nobody knows which requests failed{switch}"
    if not requests.filter(IS_FAILURE).height and requests.filter(IS_COUNTED).height:
        yield "failed requests: no trace says that one failed; import scores, or judge some by hand"
    if n_undated:
        without = f"times: {number_of(n_undated, 'request')} without one count on the newest file's day"
        yield f'{without}; "ts": "2026-04-25T09:30:00Z" beside the messages gives one'
    if is_one_day:
        yield "a second day: with one, nobody knows whether a cause lasts"
    if not (requests["session"] != 0).any() and requests["case"].null_count() == len(requests):
        yield "sessions or identifiers: without them, a question asked again in other words counts twice"
    if requests["model"].n_unique() == 1 and not requests["model"][0]:
        yield "names of models: a change of model looks like a change of the tools"


def _missing_of_tools(few: Collection[str]) -> Iterator[str]:
    if few:
        noun = number_of(len(few), "tool")
        yield f"more failures of {noun}: a cause needs {_MIN_CASES} failing requests and as many others"
    yield (
        "the tools' source: in the agent's project, `dartlab-coreloop init` and `import` also show in which "
        "state objects were, and draft texts for docstrings"
    )


def _tools_with_few_failures(calls: pl.DataFrame) -> tuple[str, ...]:
    failing = calls.filter(~pl.col("error_class").is_in(["", *TRANSIENT]))
    requests = failing.group_by("tool").agg(n=pl.struct(KEY).n_unique())
    return tuple(sorted(requests.filter(pl.col("n") < _MIN_CASES)["tool"]))
