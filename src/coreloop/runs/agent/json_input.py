"""JSON that an agent gives to a command: read once, with an error that names the field by its path."""

import re
from codecs import BOM_UTF8
from typing import Final, TypeVar

import msgspec

from coreloop.base.errors import UsageError
from coreloop.base.text import printable
from coreloop.runs.driver.spending import has_duplicate_keys

MAX_BYTES: Final = 1_000_000
_T = TypeVar("_T")


def read_json(data: bytes, form: type[_T], *, what: str) -> _T:
    """Read one JSON object of a form.

    Parameters
    ----------
    data : bytes
        Untrusted.
    form : type
        A msgspec struct.
    what : str
        For messages: ``report``.

    Raises
    ------
    UsageError
        The message begins with the JSON path of the field, and says what would be right.
    """
    if len(data) > MAX_BYTES:
        raise wrong_field("$", f"the {what} has more than {MAX_BYTES:,} bytes; shorten its texts")
    data = data.removeprefix(BOM_UTF8)
    try:
        read = msgspec.json.decode(data, type=form)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `")
        raise wrong_field(place.rstrip("`") or "$", _in_words(text)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise wrong_field("$", f"not JSON ({error!s}); pipe one JSON object") from error
    if has_duplicate_keys(data):
        raise wrong_field("$", "an object has a key twice, of which only one would count; leave one out")
    return read


def _in_words(text: str) -> str:
    if unknown := re.search(r"unknown field `(.*)`", text):
        return f"unknown field {printable(unknown[1])}; leave it out"
    if missing := re.search(r"missing required field `(.*)`", text):
        return f"the field {printable(missing[1])} is missing; add it"
    if "matching regex" in text:
        return "is blank; write a text"
    return printable(text[:1].lower() + text[1:].replace("`", ""))


def wrong_field(path: str, message: str, /) -> UsageError:
    """Return the error of a field by its JSON path."""
    return UsageError(f"{printable(path)}: {printable(message)}; nothing was recorded")
