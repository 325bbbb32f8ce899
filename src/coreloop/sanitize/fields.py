"""Fields that mean the same in every mode: ids and hashes, which are re-keyed, and times."""

import re
from functools import lru_cache
from typing import Final

_ID: Final = re.compile(
    r"(?:[a-z]+_)*?(?P<what>request|session|user|trace|span|conversation|thread|device|client|customer|member|visitor|run|message)_?(?:id|key|hash|uuid)|"
    r"(?P<hash>(?:question|args|tool_sequence|sequence|answer|prompt|content)_hash)|(?P<by>judged_by|created_by|updated_by)"
)
_TIME: Final = re.compile(
    r"ts|time|timestamp|datetime|date_?time|created|updated|started|ended|\w+_(?:at|ts|time|timestamp)|\w+(?:At|Time|Timestamp)"
)
_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d):?\d\d(?::?\d\d(?:[.,]\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?")
_HOUR_S: Final = 3600


@lru_cache(maxsize=4096)
def id_field(key: str) -> str | None:
    """The tag of an id's field, the same wherever the id stands; None for any other key."""
    match = _ID.fullmatch(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower())
    if match is None:
        return None
    return match["what"] or match["by"] or match["hash"]


@lru_cache(maxsize=4096)
def is_time(key: str) -> bool:
    """Whether a key says that its value is a moment."""
    return _TIME.fullmatch(key) is not None


def cut_to_hour(text: str) -> str | None:
    """An ISO 8601 time without minutes and seconds; None for what is none."""
    match = _MOMENT.fullmatch(text.strip())
    return None if match is None else f"{match[1]}:00:00{match[2] or ''}"


def cut_number_to_hour(value: int | float) -> int | float:
    """Seconds, milli-, micro- or nanoseconds since 1970, down to the hour; any other number as it is."""
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        if 10**8 * unit <= value < 10**10 * unit:
            return int(value) // (_HOUR_S * unit) * _HOUR_S * unit
    return value
