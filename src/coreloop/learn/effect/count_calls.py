"""The calls of a window by tool, day, stratum and case: what the periods of a change are cut from."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl

from coreloop.learn.effect.tool_days import CaseCounts, NamedFailure, ToolLog, add, against_of, sent_tools
from coreloop.learn.facts.read_lines import NO_QUESTION
from coreloop.learn.mine.frames import requests_frame
from coreloop.learn.mine.requests import Requests
from coreloop.learn.mine.window import Window
from coreloop.learn.statements.logged_calls import read_requests
from coreloop.observe.reading.outcome import RequestOutcome

_MAX_REQUESTS: Final = 10_000
"""Read at a time."""


def read_log(
    window: Window,
    failures: Mapping[str, Mapping[str, NamedFailure]],
    *,
    names: Mapping[str, str],
    audit_dir: Path,
) -> dict[str, ToolLog]:
    """Count calls by tool.

    Parameters
    ----------
    window : Window
        The days; requests without a date of their own are left out.
    failures : mapping of str to mapping of str to NamedFailure
        By tool and commit of a change: what else is counted besides all failures.
    names : mapping of str to str
        Recorded names of tools -> the project's.
    audit_dir : Path
        Holds the descriptions that models were sent.
    """
    groups = [group for group in window.requests if not group.alike.is_undated]
    log: defaultdict[str, ToolLog] = defaultdict(ToolLog)
    of_tools: defaultdict[str, list[tuple[Requests, int, int]]] = defaultdict(list)
    sets = sorted({group.alike.descriptions or "" for group in groups})
    sent = {(name, tool.name): tool.hash for name, tool in sent_tools(audit_dir, sets)}
    for group in groups:
        known = [call for call in group.calls if call.is_known]
        descriptions = {call.tool: sent.get((group.alike.descriptions or "", call.tool)) for call in known}
        called = Counter(names.get(call.tool, call.tool) for call in known)
        failed = Counter(names.get(call.tool, call.tool) for call in known if call.error_class)
        for name, n in called.items():
            of_tools[name].append((group, n, failed[name]))
            texts = (text for tool, text in descriptions.items() if names.get(tool, tool) == name and text)
            _add_group(log[name], group, next(texts, ""))
    for name, rows in of_tools.items():
        own = [group for group, _, _ in rows]
        cases = _cases(own)
        totals = pl.DataFrame(
            [row[1:] for row in rows], dict.fromkeys(("n", "failed"), pl.UInt32), orient="row"
        ).with_row_index("group")
        _add_calls(log[name].calls, own, cases.join(totals, on="group"))
        of_changes = failures.get(name, {})
        against = calls_against(list(of_changes.values()), name, own, window, names) if of_changes else []
        for commit, found in zip(of_changes, against, strict=True):
            log[name].against[commit] = defaultdict(dict)
            table = pl.DataFrame(found, schema={"row": pl.UInt32, "failed": pl.UInt32}, orient="row")
            calls = table.with_columns(n=pl.lit(1, pl.UInt32)).join(cases, on="row")
            _add_calls(log[name].against[commit], own, calls)
    return dict(log)


def _cases(groups: Sequence[Requests]) -> pl.DataFrame:
    """The ``group`` and the ``case`` of each request: what those of one piece of work share.

    It is the session, the identifiers, the question without what varies, the question, else the request.
    """
    columns = ("session", "client", "template", "question")
    known = [pl.when(~pl.col(name).is_in([0, NO_QUESTION])).then(name) for name in columns]
    frame = requests_frame(groups, *columns, "at").with_row_index("row")
    return frame.select("row", "group", case=pl.coalesce(*known, pl.struct("file", "at").hash()))


def _add_calls(days: CaseCounts, groups: Sequence[Requests], calls: pl.DataFrame) -> None:
    """Sum ``n`` and ``failed`` by day, stratum and case."""
    sums = calls.group_by("group", "case").agg(pl.col("n", "failed").sum()).sort("group", "case")
    for number, case, n, n_failed in sums.iter_rows():
        alike = groups[number].alike
        add(days[alike.day], ((alike.model, alike.category), case), n, n_failed)


def _add_group(log: ToolLog, group: Requests, description: str) -> None:
    """Add what requests with a tool's calls say of the day: how they ended, and what the model was sent."""
    day = group.alike.day
    n_failed = group.n_of(RequestOutcome.FAILURE)
    add(log.requests, day, n_failed + group.n_of(RequestOutcome.SUCCESS), n_failed)
    log.versions[day].add(description or group.alike.tools_version or "")
    if description:
        first_us = min(group.column("us"))
        log.first_us[description] = min(first_us, log.first_us.get(description, first_us))


def calls_against(
    failures: Sequence[NamedFailure],
    tool: str,
    groups: Iterable[Requests],
    window: Window,
    names: Mapping[str, str] = MappingProxyType({}),
) -> list[list[tuple[int, bool]]]:
    """By failure, the calls of a tool that are against it: the number of the request, and whether it failed.

    ``names`` are the project's of logged tools. The requests are those of the groups, in order.
    """
    found: list[list[tuple[int, bool]]] = [[] for _ in failures]
    requests = [one for group in groups for one in group.each()]
    for first in range(0, len(requests), _MAX_REQUESTS):
        read = read_requests(window, requests[first : first + _MAX_REQUESTS], names)
        for row, (request, _) in enumerate(read, first):
            for rows, failure in zip(found, failures, strict=True):
                rows += [(row, not call.ok) for call in against_of(request, tool, failure)]
    return found
