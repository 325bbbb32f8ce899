"""The facts of a log file: groups of requests that are alike, and packed columns with a row per request.

Numbers stay numbers: what a setting decides (a complete answer's length, a verdict, a handover) is left to
`coreloop.learn.mine.window`. No argument's value and no word of a user is kept.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from coreloop.base.records import digest64
from coreloop.base.text import printable

NO_LENGTH: Final = (1 << 31) - 1
"""Of an answer whose length was not recorded, which counts as complete."""
_64_BITS: Final = (1 << 64) - 1
_AT_ONCE: Final = 1 << 20
_Place = TypeVar("_Place")
COLUMNS: Final[Mapping[str, str]] = {
    "us": "q",  # microseconds since 1970
    "at": "q",  # bytes, of the line
    "id": "Q",  # this and the next five: hashes; 0: none recorded
    "session": "Q",
    "question": "Q",
    "client": "Q",  # of the identifiers in the calls, recorded or, without a session, read from the arguments
    "template": "Q",  # of the question without what varies; 0 as well if there is a session or a client
    "length": "i",  # characters of the answer, or `NO_LENGTH`
    "spent": "I",  # place of its first failed call among the durations; 0 as well if none failed
}
"""Type codes of `array.array`, by column."""
Numbers: TypeAlias = "memoryview[int]"


class Call(msgspec.Struct, frozen=True, array_like=True, cache_hash=True, gc=False):
    """Calls that are alike but for the values of their arguments.

    ``step`` is their step in a sequence, ``shape`` JSON of the selectors and the names of all arguments;
    ``error_class`` and ``template`` (of the error) are empty if they did not fail. ``unknown`` is as
    `coreloop.observe.reading.outcome.why_unknown`. Those that are marked reported an implausible value, or
    replaced assumptions of the tool.
    """

    tool: str
    step: str
    shape: str
    error_class: str = ""
    template: str = ""
    unknown: str | None = None
    is_marked: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it is known that they worked, or failed."""
        return bool(self.error_class) or self.unknown is None

    @property
    def ok(self) -> bool:
        """Whether they worked."""
        return not self.error_class and self.unknown is None


class Alike(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the requests of a group have in common.

    Attributes
    ----------
    day : int
        Since 1970, UTC.
    calls : tuple of int
        Places in the file's list of calls, in order.
    decided : int or None
        `RequestOutcome` by verdict, mark or error; None if the length of the answer decides.
    signals : int
        See `coreloop.observe.reading.outcome.signals`, without a short answer.
    omitted : int
        Calls that did not fit on the lines; then ``sequence`` is the recorded hash, if any.
    is_undated : bool
        Whether the time is that of the file in which the trace was.
    provider : str
        Of a lone call.
    is_lone : bool
        Whether nothing but a call, and a session or identifiers, is known of it.
    """

    day: int
    category: str
    calls: tuple[int, ...]
    provider: str = ""
    model: str = ""
    decided: int | None = None
    is_judged: bool = False
    signals: int = 0
    omitted: int = 0
    sequence: str = ""
    tools_version: str | None = None
    descriptions: str | None = None
    is_undated: bool = False
    is_lone: bool = False


class Part(msgspec.Struct, array_like=True):
    """The facts of some lines of a file.

    Attributes
    ----------
    calls : list of Call
        Each kind once.
    groups : list of (Alike, int, int)
        With the number of requests, and the smallest ``length`` of them.
    columns : list of bytes
        As `COLUMNS`, with the rows of one group after those of another.
    durations : bytes
        Microseconds (64 bits) of the failed calls, those of a request after each other.
    skipped, absent : dict of str to (int, int)
        Lines that are not mined, by reason, and records by the field whose value is unusable: how many, and
        the byte offset of the first.
    """

    calls: list[Call] = []
    groups: list[tuple[Alike, int, int]] = []
    columns: list[bytes] = []
    durations: bytes = b""
    skipped: dict[str, tuple[int, int]] = {}
    absent: dict[str, tuple[int, int]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """As bytes, which pass to another process in a fifth of the time."""
        return partial(msgspec.msgpack.decode, type=Part), (msgspec.msgpack.encode(self),)

    def table(self) -> dict[str, Numbers]:
        """The columns' numbers by name."""
        columns = zip(COLUMNS.items(), self.columns or [b""] * len(COLUMNS), strict=True)
        return {name: unpacked(code, column) for (name, code), column in columns}


def unpacked(code: Any, column: bytes) -> Numbers:
    """The numbers in the bytes of a column, which are not copied."""
    return memoryview(column).cast(code)


def as_int(recorded: str) -> int:
    """A recorded hash as 64 bits; a hash in another notation is hashed again."""
    try:
        digits = int(recorded[-16:], 16) if recorded[-17:-16] in {":", ""} else digest64(recorded)
        return digits & _64_BITS
    except ValueError:
        return digest64(recorded)


def decoded(raw: bytes | msgspec.Raw, kind: Any) -> Any:
    """A value of a type, or None for any other JSON."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


# --- The oddities of a log, with places that a person can look up.


@dataclass(frozen=True, slots=True)
class Absent:
    """How many records have an unusable value in a field, and the first of them."""

    n: int
    first: str


@dataclass(frozen=True, slots=True)
class LogOddities:
    """Oddities of a log.

    Attributes
    ----------
    skipped : mapping of str to int
        Lines that are not mined, by reason.
    skipped_first : mapping of str to str
        The first place by reason, such as ``2026-04-25.jsonl line 12``.
    read_as_absent : mapping of str to Absent
        Records by the field with an unusable value.
    """

    skipped: Mapping[str, int] = field(default_factory=dict)
    skipped_first: Mapping[str, str] = field(default_factory=dict)
    read_as_absent: Mapping[str, Absent] = field(default_factory=dict)


def find_oddities(parts: Iterable[tuple[Path, Part]]) -> LogOddities:
    """Combine the oddities of parts of files, in order; the first with an oddity gives its first place."""
    skipped: dict[str, tuple[int, tuple[Path, int]]] = {}
    absent: dict[str, tuple[int, tuple[Path, int]]] = {}
    for path, part in parts:
        for total, counts in ((skipped, part.skipped), (absent, part.absent)):
            for kind, (n, offset) in counts.items():
                count_oddity(total, kind, n, (path, offset))
    return LogOddities(
        {reason: n for reason, (n, _) in skipped.items()},
        {reason: place_of(*first) for reason, (_, first) in skipped.items()},
        {name: Absent(n, place_of(*first)) for name, (n, first) in sorted(absent.items())},
    )


def place_of(path: Path, offset: int) -> str:
    """``2026-04-25.jsonl line 12``; with ``byte 5,120`` for a remote file, or one that is gone."""
    if isinstance(path, Path):
        with suppress(OSError):
            return f"{printable(path.name)} line {_newlines(path, offset) + 1:,}"
    return f"{printable(path.name)} byte {offset:,}"


def _newlines(path: Path, end: int) -> int:
    with path.open("rb") as file:
        sizes = (min(_AT_ONCE, end - start) for start in range(0, end, _AT_ONCE))
        return sum(file.read(size).count(b"\n") for size in sizes)


def count_oddity(counts: dict[str, tuple[int, _Place]], kind: str, n: int, first: _Place) -> None:
    """Add a count to an earlier one, whose first place stays."""
    before, first = counts.get(kind, (0, first))
    counts[kind] = before + n, first
