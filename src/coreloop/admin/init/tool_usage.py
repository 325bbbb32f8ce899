"""How records use the tools: the requests of each tool, and the arguments that select a sub-function."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from coreloop.base.files import open_regular

MOST_RECORDS: Final = 20_000  # chosen: enough to see the usual values
MOST_VALUES: Final = 12  # chosen: an argument with more values is rather an identifier than a choice
LEAST_REQUESTS: Final = 5
"""Requests in which a value must occur; a rarer value may identify a user."""
_CLOSED_SHARE: Final = 0.95
"""Share of an argument's values that must be known; the rest may be errors of the model."""
_MOST_TRACKED: Final = 200  # values of an argument: far more than the 12 that are ever offered
_VALUE: Final = re.compile(r"[^\W\d_][\w.-]{0,39}")


@dataclass(frozen=True, slots=True)
class ToolUsage:
    """The use of a tool.

    Attributes
    ----------
    n_requests : int
        Requests that called it.
    selectors : mapping of str to tuple of str
        Argument -> its values, the most frequent first: 2 to 12 names, each in 5 or more requests.
    """

    n_requests: int
    selectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def newest_records(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the newest 20,000 lines that are JSON objects, file by file; the folder may be absent."""
    return islice(_objects(folder), MOST_RECORDS)


def read_usage(folder: Path) -> dict[str, ToolUsage]:
    """Count how the newest records use the tools.

    Parameters
    ----------
    folder : Path
        Folder of records; it may be absent.

    Returns
    -------
    dict of str to Usage
        By tool, the most used first. Names are as recorded and untrusted.
    """
    n_requests: Counter[str] = Counter()
    values: defaultdict[tuple[str, str], Counter[object]] = defaultdict(Counter)
    for record in newest_records(folder):
        calls = list(_calls(record))
        n_requests.update({name for name, _ in calls})
        arguments = {(name, key, _hashable(value)) for name, args in calls for key, value in args.items()}
        for name, key, value in arguments:
            counts = values[name, key]
            counts[value if len(counts) < _MOST_TRACKED or value in counts else None] += 1
    selectors: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for (name, key), counts in values.items():
        if closed := _closed_set(counts):
            selectors[name][key] = closed
    return {name: ToolUsage(n, selectors[name]) for name, n in n_requests.most_common()}


def _closed_set(counts: Counter[object]) -> tuple[str, ...]:
    """Return the frequent values if they are few, look like names and cover nearly all calls."""
    names = [
        value
        for value, n in counts.most_common()
        if isinstance(value, str) and n >= LEAST_REQUESTS and _VALUE.fullmatch(value)
    ]
    known = sum(counts[name] for name in names)
    is_closed = 2 <= len(names) <= MOST_VALUES and known >= _CLOSED_SHARE * counts.total()
    return tuple(names) if is_closed else ()


def _objects(folder: Path) -> Iterator[dict[str, Any]]:
    files = sorted(folder.glob("*.jsonl"), reverse=True) if folder.is_dir() else []
    for path in files:
        if not path.is_file():
            continue
        with open_regular(path) as file:
            for line in file:
                record = _object(line)
                if record is not None:
                    yield record


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _calls(record: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the calls of a record; a failed call has no arguments."""
    calls = record.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, str):
            yield call, {}
        elif isinstance(call, dict) and isinstance(call.get("name"), str):
            args = call.get("args")
            yield call["name"], args if isinstance(args, dict) and call.get("ok") is not False else {}


def _hashable(value: object) -> object:
    return value if isinstance(value, str) else None
