"""Fields that every mode treats alike: ids and hashes, which get pseudonyms, and times."""

import re
from functools import lru_cache
from typing import Final

_ID: Final = re.compile(
    r"(?:[a-z]+_)*?(?P<subject>request|session|user|trace|span|conversation|thread|device|client|customer|member|visitor|run|message)_?(?:id|key|hash|uuid)|"
    r"(?P<hash>(?:question|args|tool_sequence|sequence|answer|prompt|content)_hash)|(?P<by>judged_by|created_by|updated_by)"
)
_TIME: Final = re.compile(
    r"ts|time|timestamp|datetime|date_?time|created|updated|started|ended|\w+_(?:at|ts|time|timestamp)|\w+(?:At|Time|Timestamp)"
)
_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d):?\d\d(?::?\d\d(?:[.,]\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?")
_HOUR_S: Final = 3600


@lru_cache(maxsize=4096)
def id_field(key: str) -> str | None:
    """Return the tag of an id field, which is the same for all fields of that id, or None for other keys."""
    match = _ID.fullmatch(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower())
    if match is None:
        return None
    return match["subject"] or match["by"] or match["hash"]


@lru_cache(maxsize=4096)
def is_time(key: str) -> bool:
    """Whether a key names a time."""
    return _TIME.fullmatch(key) is not None


def cut_to_hour(text: str) -> str | None:
    """Truncate an ISO 8601 time to the hour, or return None if the text is not such a time."""
    match = _MOMENT.fullmatch(text.strip())
    return None if match is None else f"{match[1]}:00:00{match[2] or ''}"


def cut_number_to_hour(value: int | float) -> int | float:
    """Truncate (milli-, micro- or nano-) seconds since 1970 to the hour; other numbers are unchanged."""
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        if 10**8 * unit <= value < 10**10 * unit:
            return int(value) // (_HOUR_S * unit) * _HOUR_S * unit
    return value
