"""Lines -> facts. A year has millions of lines, so the loop over them is kept short."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import msgspec
import orjson

from coreloop.base.categories import Categories
from coreloop.base.error_classes import MAX_ERROR_CHARS, bits_of, error_class
from coreloop.base.records import (
    DEFAULT_SELECTORS,
    UNSPECIFIED,
    digest64,
    hash_question,
    is_category,
    selector_value,
    step,
)
from coreloop.learn.facts.schema import COLUMNS, NO_LENGTH, Alike, Call, Part, as_int, count_oddity, decoded
from coreloop.observe.case_keys import RequestIdentifiers, texts_in
from coreloop.observe.reading import decode
from coreloop.observe.reading.decode import CallFields, CountedFields, PlainRecord, cut_name
from coreloop.observe.reading.error_texts import general, with_code, without_own_values
from coreloop.observe.reading.outcome import decide, is_judged, signals, why_unknown, worked
from coreloop.observe.reading.parts import Line, join_parts, part_of

if TYPE_CHECKING:
    from coreloop.base.project.settings import Settings

EPOCH_DAY: Final = date(1970, 1, 1)
DAY_US: Final = 86_400_000_000
NO_QUESTION: Final = as_int(hash_question(""))
_MAX_US: Final = 10**12
_MAX_OMITTED: Final = 1 << 32  # more is no count
_CASE: Final = re.compile(r"(?:[0-9a-f]{8}){1,8}").fullmatch
_CLIENTS: Final = (1 << 61) - 1  # a prime: all hex digits count
_DIGIT: Final = re.compile(rb"\d").search
# Matches "Please check your input and try again. (no such day)", as LangChain's middleware is written.
_ADVISED: Final = re.compile(r"\A[^()]{0,200}\bplease\b[^()]{1,100}[.:!]\s{0,9}\((.+?)\)?\s*+\Z", re.I | re.S)
_KEY_ERROR: Final = re.compile(r"\A'(\w+ [^']+ [^']+)'\Z")  # str(KeyError("no order 7")) has its quotes
_VARIABLE: Final = re.compile(
    r"""["“][^"“”]*+["”] | '[^']*+' | (?<![^\s"'])[^\s\d@/\\"'“”]*+[\d@/\\]\S*+""", re.VERBOSE
)
"""Quoted parts, and words with a digit, @, / or backslash: ``"a b"``, ``#w12``; not ``refund``."""
_MARKS: Final = bits_of(("violation", "extreme_flags", "override_failed"))
_ALIKE: Final = str.maketrans("123456789", "000000000")
"""Errors that differ only in their digits are classified once, unless they may hold status 429."""
_NO_ARGS: Final[dict[str, msgspec.Raw]] = {}
_BARE: Final = (None, None, "", False, 0)
_LENGTH: Final = list(COLUMNS).index("length")
_Row = tuple[int, ...]
"""As `COLUMNS`."""
_Kind = tuple[tuple[str, ...], dict[bytes, int]]
"""Of calls with the same tool and argument names: their selectors, and the number by these values."""


@dataclass(frozen=True, slots=True)
class MineSettings:
    """How a request counts; facts depend on ``categories``, ``selectors`` and ``case_key`` alone.

    Attributes
    ----------
    replayed : frozenset of str
        Ids of requests that coreloop made itself, for servers that do not record their origin.
    handoff : frozenset of str
        Tools that hand a request over to a human, which makes it neutral.
    verdicts : mapping of str to str
        Request id -> a human's newest verdict, which overrides the record.
    case_key : bytes
        Of the identifiers' hashes in records that have neither a case nor a session, and of states.
    root : Path, optional
        The project's folder, whose words states are.
    """

    categories: Categories = field(default_factory=Categories)
    selectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    min_chunk_len: int | None = None
    replayed: frozenset[str] = frozenset()
    handoff: frozenset[str] = frozenset()
    verdicts: Mapping[str, str] = field(default_factory=dict)
    case_key: bytes = b""
    root: Path | None = None

    @classmethod
    def of(cls, settings: "Settings", *, min_chunk_len: int | None = None, **more: Any) -> "MineSettings":
        """The settings of coreloop.yaml that change how a request counts."""
        rules = Categories((rule.label, rule.any) for rule in settings.categories)
        least = settings.gates.min_chunk_len if min_chunk_len is None else min_chunk_len
        return cls(rules, settings.selectors(), least, handoff=frozenset(settings.handoff), **more)


@dataclass(frozen=True)
class FileFacts:
    """The facts of a file, in parts, and how its requests count."""

    path: Path
    parts: Sequence[Part]
    settings: MineSettings

    @cached_property
    def days(self) -> Counter[int]:
        """Records by day (days since 1970), without those that coreloop made itself."""
        own, days = {*map(digest64, self.settings.replayed)}, Counter[int]()
        for part in self.parts:
            ids = iter(part.table()["id"] if own else ())
            for alike, n, _ in part.groups:
                days[alike.day] += n - sum(map(own.__contains__, islice(ids, n)))
        return +days


class Reader:
    """Lines of a file -> a part of its facts; ``known`` are those of the lines before.

    Attributes
    ----------
    is_whole : bool
        Whether the last request is complete, so that lines which follow it can be read alone.
    """

    def __init__(self, settings: MineSettings, known: Part | None = None) -> None:
        known = known or Part()
        self.is_whole = True
        self._settings = settings
        self._skipped, self._absent = known.skipped, known.absent
        self._calls = list(known.calls)
        self._numbers = {call: number for number, call in enumerate(known.calls)}
        self._kinds: dict[tuple[str, ...], _Kind] = {}
        self._labels: dict[str, str] = {}
        self._waiting: list[Line] = []
        self._durations = array("q", known.durations)
        rows = zip(*known.table().values(), strict=True)
        self._rows: dict[tuple[Any, ...], list[_Row]] = {
            msgspec.structs.astuple(alike): list(islice(rows, n)) for alike, n, _ in known.groups
        }

    def read(self, lines: Iterable[Line]) -> None:
        """Add lines."""
        add, decode_plain, microseconds = self._add, decode.decode_plain, decode.microseconds
        at, raw = -1, b"\n"
        for at, raw in lines:
            try:
                plain = decode_plain(raw)
                us = microseconds(plain.ts)
            except decode.NOT_PLAIN:
                us = None
            if us is None:
                self._read_odd(at, raw)
            else:
                add(plain, plain.tool_calls or (), us, at)
        is_part = bool(self._waiting) and self._waiting[-1][0] == at
        self.is_whole = raw.endswith(b"\n") and not is_part  # more of it may follow
        self._flush()

    def _read_odd(self, at: int, raw: bytes) -> None:
        """Read a line that is no plain record; those of a long request wait for each other."""
        part = part_of(raw)
        if part is None or not part["part"]:
            self._flush()
        if part is None:
            self._read_leniently(at, raw)
        else:
            self._waiting.append((at, raw))

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for at, raw in join_parts(waiting):
            self._read_leniently(at, raw)

    def _read_leniently(self, at: int, raw: bytes) -> None:
        line = decode.decode_line(raw, at)
        if isinstance(line, decode.Skipped):
            count_oddity(self._skipped, line.reason, 1, at)
            return
        for name in line.absent:
            count_oddity(self._absent, name, 1, at)
        self._add(line.fields, line.calls, line.ts_us, at)

    def _add(self, fields: CountedFields, calls: Sequence[CallFields], us: int, at: int) -> None:
        is_plain = type(fields) is PlainRecord
        spent = len(self._durations)
        numbers, is_odd = self._number(calls)
        decided, judged, bits = None, False, 0
        if is_odd or fields.error or not is_plain:
            decided = decide(fields, calls)
            judged, bits = is_judged(fields), signals(fields, calls)
        session = as_int(fields.session_hash) if fields.session_hash else 0
        question = as_int(fields.question_hash or hash_question(fields.question or ""))
        case = self._case(fields, calls, at) if fields.case or not session else ""
        length, omitted = fields.chunk_len, fields.tool_calls_omitted or 0
        sequence = (fields.tool_sequence_hash or "") if omitted else ""
        is_lone = (
            question == NO_QUESTION
            and (length, fields.rounds, sequence, judged, bits & _MARKS) == _BARE
            and bool(len(numbers) == 1 and (session or case) and not self._calls[numbers[0]].is_marked)
        )
        alike = (
            us // DAY_US,
            self._labels.get(fields.category_hash or "") or self._category(fields),
            numbers,
            (fields.provider or "") if is_lone else "",
            (fields.model if is_plain else decoded(fields.model, str)) or "",
            decided,
            judged,
            bits,
            omitted if 0 <= omitted < _MAX_OMITTED else 0,
            sequence,
            fields.tools_version,
            fields.descriptions,
            fields.undated or False,
            is_lone,
        )
        row = (
            us,
            at,
            digest64(fields.request_id) if fields.request_id is not None else 0,
            session,
            question,
            int(case, 16) % _CLIENTS if case else 0,
            0 if session or case else question_template(fields.question),
            NO_LENGTH if length is None else int(max(-NO_LENGTH, min(length, NO_LENGTH - 1))),
            spent if len(self._durations) > spent else 0,
        )
        rows = self._rows.get(alike)
        if rows is None:
            self._rows[alike] = [row]
        else:
            rows.append(row)

    def _number(self, calls: Sequence[CallFields]) -> tuple[tuple[int, ...], bool]:
        """The numbers of calls, and whether any did not work."""
        numbers, is_odd, kinds = list[int](), False, self._kinds
        for call in calls:
            args = call.args if type(call.args) is dict else _NO_ARGS
            chosen, by_values = kinds.get((call.name, *args)) or self._learn(call.name, args)
            if len(chosen) == 1:
                values = b"" + args[chosen[0]]
            else:
                values = b"\0".join([b"" + args[name] for name in chosen])
            number = by_values.get(values)
            if number is None:
                number = by_values[values] = self._number_of(_usual(call, args, self._selectors(call.name)))
            if call.ok is not True or call.overrides_used or call.extreme_flags:
                kind = _unusual(self._calls[number], call, args)
                number, is_odd = self._number_of(kind), is_odd or not kind.ok
                if kind.error_class:
                    self._durations.append(round(max(0.0, min((call.duration_ms or 0.0) * 1000, _MAX_US))))
            numbers.append(number)
        return tuple(numbers), is_odd

    def _number_of(self, call: Call) -> int:
        number = self._numbers.setdefault(call, len(self._calls))
        if number == len(self._calls):
            self._calls.append(call)
        return number

    def _learn(self, tool: str, args: Mapping[str, Any]) -> _Kind:
        chosen = tuple(name for name in self._selectors(tool) if name in args)
        kind = self._kinds[tool, *args] = (chosen, {})
        return kind

    def _selectors(self, tool: str) -> Sequence[str]:
        return self._settings.selectors.get(tool, DEFAULT_SELECTORS)

    def _case(self, fields: CountedFields, calls: Sequence[CallFields], at: int) -> str:
        if fields.case and not _CASE("".join(fields.case)):
            count_oddity(self._absent, "case", 1, at)
        return case_of(fields, calls, self._settings.case_key)

    def _category(self, fields: CountedFields) -> str:
        """The recorded label, else the label by the current rules, so that rules added later apply, too."""
        label = fields.category_hash
        if label is not None and label != UNSPECIFIED and is_category(label):
            self._labels[label] = label
            return label
        return self._settings.categories.label(fields.question or "")

    def part(self) -> Part:
        """The facts of all lines that were added."""
        groups = [
            (Alike(*alike), len(own), min([row[_LENGTH] for row in own])) for alike, own in self._rows.items()
        ]
        rows = chain.from_iterable(self._rows.values())
        columns = zip(COLUMNS.values(), zip(*rows, strict=True), strict=False)
        packed = [array(code, column).tobytes() for code, column in columns]
        durations = self._durations.tobytes()
        return Part(self._calls, groups, packed, durations, self._skipped, self._absent)


def case_of(fields: CountedFields, calls: Iterable[CallFields], key: bytes) -> str:
    """The case of a record, 8 hex digits for each hash of an identifier; empty if it has none.

    Without one in the record, and without a session, it is that of the identifiers in the arguments, as the
    collector chooses them.
    """
    recorded = "".join(fields.case or ())
    if fields.session_hash or _CASE(recorded):
        return recorded if _CASE(recorded) else ""
    identifiers = RequestIdentifiers()
    for call in calls:
        args = call.args.items() if isinstance(call.args, dict) else ()
        identifiers.note({name: texts_in(decoded(raw, Any)) for name, raw in args if _DIGIT(raw)})
    return "".join(identifiers.case(key))


def question_template(question: str | None) -> int:
    """A hash of a question without what varies: its text in small letters, with ``*``; 0 if it is empty.

    ``*`` stands for quoted parts, and for words with a digit, @, / or backslash.
    """
    text = _VARIABLE.sub("*", (question or "").lower()).strip()
    return crc32(text.encode("utf-8", "replace")) if text else 0


def failure_of(call: CallFields, args: Mapping[str, msgspec.Raw]) -> tuple[str, str]:
    """The class of a call's error and its `coreloop.observe.reading.error_texts.template`, with its code."""
    values = {name: decoded(raw, Any) for name, raw in args.items()}
    error = _ADVISED.sub(r"\1", str(call.error)[:MAX_ERROR_CHARS])
    masked = without_own_values(_KEY_ERROR.sub(r"KeyError: \1", error), values)
    name, text = _classify(masked.text if "429" in masked.text else masked.text.translate(_ALIKE))
    return name, with_code(masked.filled(text), error, values)


@lru_cache(maxsize=8192)  # the same errors recur every day
def _classify(error: str) -> tuple[str, str]:
    return error_class(error), general(error)


def _usual(call: CallFields, args: Mapping[str, msgspec.Raw], chosen: Sequence[str]) -> Call:
    """A call's kind, as if it had worked."""
    values = call.selected(chosen)
    selectors = {key: selector_value(value) for key, value in values.items() if value is not None}
    shape = {"selectors": selectors, "arg_keys": sorted(map(cut_name, args))}
    return Call(call.name, step(call.name, values, chosen), orjson.dumps(shape).decode())


def _unusual(usual: Call, call: CallFields, args: Mapping[str, msgspec.Raw]) -> Call:
    """The kind of a call that failed, or is marked, or of which something is unknown."""
    name, text = failure_of(call, args) if worked(call) is False else ("", "")
    is_marked = bool(call.extreme_flags or call.overrides_used)
    return Call(usual.tool, usual.step, usual.shape, name, text, why_unknown(call), is_marked)
