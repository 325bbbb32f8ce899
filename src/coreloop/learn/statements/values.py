"""What is known of an argument's value: a hash to compare by, its number, and the shape of a text."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

from coreloop.base.record_lines import ELIDED
from coreloop.learn.line import SIGNS

FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(rf"\A(?:{form})")
    for name, form in {
        "as YYYY-MM-DD": r"\d{4}-\d\d-\d\d\Z",
        "as YYYY-MM-DDTHH:MM": r"\d{4}-\d\d-\d\dT\d\d:\d\d",
        "other time": r"\d{4}-\d\d-\d\d \d\d:\d\d",
        "as YYYY-MM": r"\d{4}-(?:0[1-9]|1[0-2])\Z",
        "as HH:MM": r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\Z",
        "other date": r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\.?\Z",
        "with a country code (+…)": r"\+\d(?:[ ()-]{0,2}\d){6,14}\Z",
        "a whole number": r"[+-]?\d++\Z",
        "separated": r"[+-]?\d{1,3}(?:,\d{3})++(?:\.\d*)?\Z",
        "decimal": r"[+-]?\d*+[.,]\d[\d.,]*+\Z",
        "a UUID": r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z",
        "an e-mail address": r"[^@\s]++@(?=[^@\s]+\.[^@\s])[^@\s]++\Z",
        "address": r"[a-zA-Z][a-zA-Z0-9+.-]*+://\S*+\Z",
        "an absolute path": r"(?:~?[/\\]|[A-Za-z]:[/\\])\S*+\Z",
        "as Area/City": r"(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[\w/+-]++\Z",
        "relative path": r"[^\s@/\\]*+[/\\]\S*+\Z",
        "prefixed": r"[^\d\s]{1,12}\d[\w-]*+\Z",
        "identifier": r"[^\s@\d]*+\d[^\s@]*+\Z",
    }.items()
}
"""Shapes of texts with a digit, @, / or backslash, as lines say them; the first that matches counts."""
_NULL_WORDS: Final = frozenset({"null", "none", "nil", "undefined", "n/a", "nan", "-"})
_STRUCTURED: Final = re.compile(r"[\d@/\\]").search
_SPACE: Final = re.compile(r"\s").search
_LOWER: Final = re.compile("[a-z]").search
_UPPER: Final = re.compile("[A-Z]").search
_PREFIX: Final = re.compile(r"[^\d\s]{1,12}(?=\d)").match
_EDGE: Final = re.compile(r"\b|\Z")
_MAX_FOLDERS: Final = 8
_MAX_ITEMS: Final = 20  # of longer lists none is chosen from a few values
TIMES: Final = frozenset({"as YYYY-MM-DD", "as YYYY-MM-DDTHH:MM", "other time"})
"""Shapes that have a number: one of two is later."""
_TRUNCATED: Final = {"truncated", "size", "preview"}
_MAX_LENGTH: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of an argument's value; the text of none is kept.

    Attributes
    ----------
    kind : str
        ``null``, ``empty`` (text, list or object), ``unknown`` (too long to be recorded), ``boolean``,
        ``number``, ``text``, ``list`` or ``object``.
    value : int or None
        Hash to compare by: ``"1"``, 1 and 1.0 are equal, lists and objects as a whole.
    number : float or None
        Of a number; of a date the seconds since 1970, as written.
    shape : str or None
        Of a number ``a whole number`` or ``decimal``; of a text one of `FORMS`, ``null word``, ``word`` (no
        space) or ``text``.
    letters : str or None
        Of a text, from a to z: ``lower``, ``upper`` or ``mixed``.
    length : int or None
        Characters of a text, items of a list, keys of an object.
    parts : tuple of int
        Hashes of what the source may have of it: the texts of a list, what stands before the first
        digits of a text, the folders above an absolute path, each with and without its last slash.
    sources : tuple of str or None
        Earlier places of the same value, the nearest first; None if not recorded.
    saw : mapping of str to (str or None)
        Fields of the object that an earlier result last showed for the value; None for another literal.
    """

    kind: str
    value: int | None = None
    number: float | None = None
    shape: str | None = None
    letters: str | None = None
    length: int | None = None
    parts: tuple[int, ...] = ()
    sources: tuple[str, ...] | None = None
    saw: Mapping[str, str | None] = field(default_factory=dict, hash=False)


@lru_cache(maxsize=4096)
def hash_of(text: str) -> int:
    """A text's hash as a value."""
    return _hash(_stripped(text))


def read_value(raw: bytes) -> Value:
    """What is known of a value in JSON."""
    return _read_short(raw) if len(raw) <= _MAX_KEPT_BYTES else _read(raw)


_MAX_KEPT_BYTES: Final = 200  # longer values seldom recur, and would fill the memory


def _read(raw: bytes) -> Value:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = ELIDED
    if value == ELIDED:
        return Value("unknown")
    if type(value) is bool:
        return Value("boolean", _hash("true" if value else "false"))
    if type(value) is int or type(value) is float:
        text = str(int(value) if type(value) is float and value.is_integer() else value)
        return Value("number", _hash(text), float(text), "decimal" if value % 1 else "a whole number")
    if not value:
        return Value("null" if value is None else "empty")
    if type(value) is str:
        return _of_text(_stripped(value))
    text = msgspec.json.encode(value, order="sorted").decode()
    if type(value) is dict and value.keys() == _TRUNCATED and type(value["size"]) is int:
        return _of_text(text, max(0, min(value["size"], _MAX_LENGTH)))
    if type(value) is dict:
        return Value("object", _hash(text), length=len(value))
    is_of_texts = len(value) <= _MAX_ITEMS and all(type(item) is str for item in value)
    items = {_hash(_stripped(item)) for item in value} if is_of_texts else ()
    return Value("list", _hash(text), length=len(value), parts=tuple(sorted(items)))


_read_short = lru_cache(maxsize=65_536)(_read)  # most values of a log are like others


def _of_text(text: str, length: int | None = None) -> Value:
    shape = _shape(text)
    return Value(
        "text",
        _hash(text),
        _seconds(text) if shape in TIMES else None,
        shape,
        _letters(text),
        len(text) if length is None else length,
        tuple(map(_hash, _starts(text, shape))),
    )


def _starts(text: str, shape: str) -> list[str]:
    if shape == "an absolute path":
        ends = [place for place, char in enumerate(text) if char == "/"]
        return [text[:end] for place in ends[1:_MAX_FOLDERS] for end in (place, place + 1)]
    begun = _PREFIX(text)  # whatever follows the digits: "R-7:" begins with R-, too
    prefix = begun[0] if begun else text[:1] if text[:1] in SIGNS else ""
    return [prefix[: edge.end()] for edge in _EDGE.finditer(prefix) if edge.end()]


def _shape(text: str) -> str:
    if _STRUCTURED(text):
        for name, form in FORMS.items():
            if form.match(text):
                return name
    if text.lower() in _NULL_WORDS:
        return "null word"
    return "text" if _SPACE(text) else "word"


def _seconds(text: str) -> float | None:
    """Seconds since 1970 of a date or time, whose offset is ignored: it says which of two is later."""
    with suppress(ValueError):
        return datetime.fromisoformat(text[:16]).replace(tzinfo=UTC).timestamp()
    return None


def _letters(text: str) -> str | None:
    has_lower, has_upper = _LOWER(text), _UPPER(text)
    if has_lower and has_upper:
        return "mixed"
    return "lower" if has_lower else "upper" if has_upper else None


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))


def _stripped(value: str) -> str:
    return unicodedata.normalize("NFC", value).strip().encode("utf-8", "replace").decode()


def measure(value: Value) -> float | None:
    """A number, or a length: of lists and free text; that of a word is a sign of something else."""
    if value.kind == "number":
        return value.number
    return value.length if value.kind == "list" or value.shape == "text" else None


class Written(NamedTuple):
    """How a value is written, without its content; as of `Value`."""

    kind: str
    shape: str | None
    letters: str | None
    parts: tuple[int, ...]


_SCALARS: Final = frozenset({"text", "number", "boolean"})
_IS: Final[Mapping[str, Callable[[Written], bool | None]]] = {
    "in upper case": lambda value: value.letters == "upper" if value.letters else None,
    "in lower case": lambda value: value.letters == "lower" if value.letters else None,
    "a list": lambda value: value.kind == "list" if value.kind in {*_SCALARS, "list"} else None,
    "no word such as null": lambda value: value.shape != "null word" if value.kind == "text" else None,
    "without thousands separators": lambda value: value.shape != "separated" if value.shape else None,
}


def is_written(shape: str) -> Callable[[Written], bool | None]:
    """Whether a value is of a shape, as lines say it; None where the question makes no sense."""
    return _IS.get(shape, lambda value: value.shape == shape if value.kind in _SCALARS else None)
