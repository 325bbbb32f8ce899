"""What other processes leave behind for ``status``: records that were dropped, and outcomes of reach checks.

Both files are appended to, one line at a time, by whoever it happened to; a line that cannot be read is none.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
import orjson

from coreloop.errors import WorkspaceError
from coreloop.files import append_private

_Line = TypeVar("_Line", bound="_Dropped | ReachOutcome")


class _Dropped(msgspec.Struct, frozen=True):
    """As `coreloop.observe.journal` writes it."""

    ts: datetime
    reason: str
    n: int


@dataclass(frozen=True, slots=True)
class ReachOutcome:
    """Whether the text of a candidate reached the model, as a run of ``promote`` found."""

    ts: datetime
    key: str
    ok: bool


def read_dropped(path: Path, *, since: datetime) -> dict[str, int]:
    """Records that could not be written since a time, by reason; none where there is no file.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    found: Counter[str] = Counter()
    for line in _lines(path, _Dropped, since):
        found[line.reason] += line.n
    return dict(found.most_common())


def append_reach(path: Path, outcome: ReachOutcome) -> None:
    """Leave the outcome of a reach check.

    Raises
    ------
    WorkspaceError
        The file cannot be written.
    """
    append_private(path, [orjson.dumps(outcome).decode()])


def read_reaches(path: Path, *, since: datetime) -> dict[str, bool]:
    """Candidate key -> whether the newest check since a time passed.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    return {line.key: line.ok for line in _lines(path, ReachOutcome, since)}


def _lines(path: Path, kind: type[_Line], since: datetime) -> Iterator[_Line]:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    decode = msgspec.json.Decoder(kind).decode
    for text in raw.splitlines():
        try:
            line = decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        at = line.ts if line.ts.tzinfo is not None else line.ts.replace(tzinfo=UTC)
        if at >= since:
            yield line
