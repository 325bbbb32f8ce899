"""Keys that say what a value is: ids and hashes, which get pseudonyms, times, and numbers that identify."""

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
# 2026-04-25T09:30:00.123456+09:00, not 9001-01-12 34:56
_MOMENT: Final = re.compile(
    r"((?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[T ](?:[01][0-9]|2[0-3]))"
    r":?[0-5][0-9](?::?[0-6][0-9](?:[.,][0-9]{1,9})?)?\s?(Z|[+-][01][0-9]:?[0-5][0-9])?"
)
_HOUR_S: Final = 3600  # times are shared to the hour
_EARLIEST_S: Final = 1_262_304_000  # 2010; telephone numbers without their zero, 10…, lie before it
_LATEST_S: Final = 2_000_000_000  # 2033; telephone numbers of the US lie behind it
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WORDS_TEXT: Final = """
id ids uuid guid key no nr num number numbers code codes pin otp cvc cvv pw pwd password passcode token secret
birth birthday birthdate born dob lat latitude lon lng long longitude coord coords coordinate coordinates geo
gps location position point bbox phone tel telephone mobile cell fax contact zip zipcode postal postcode
account acct iban card passport licence license ssn rrn ein itin tin nino nhs vat tax employee member customer
client patient student user person ip mac host address addr serial imei plate vin
dni nif nie nir bsn mrn yob pnr badge policy matricule
"""
_WORDS: Final = frozenset(_WORDS_TEXT.split())
_GLUED: Final = re.compile(
    r"(?i)id$|(?:user|member|customer|client|patient|order|account|employee|staff|case|card|phone)(?:no|num|nr)$|birth|phone|mobile|latitude|longitude|passw|postal|zip|account|passport|licen[cs]e|"
    r"번호|코드|생년|생일|출생|위도|경도|좌표|위치|전화|휴대|핸드폰|연락처|팩스|우편|계좌|카드|여권|면허|주민|사번|학번|주소|암호"
)


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


@lru_cache(maxsize=4096)
def is_identifying(key: str) -> bool:
    """Whether a number under this key can identify a person: ``order_id``, ``birthYear``, ``lat``."""
    words = (word.lower() for word in _WORD.findall(key))
    return _GLUED.search(key) is not None or not _WORDS.isdisjoint(words)


def cut_to_hour(text: str) -> str | None:
    """Truncate an ISO 8601 time to the hour, or return None if the text is not such a time."""
    match = _MOMENT.fullmatch(text.strip())
    return None if match is None else f"{match[1]}:00:00{match[2] or ''}"


def cut_number_to_hour(value: int | float) -> int | None:
    """Truncate (milli-, micro- or nano-) seconds since 1970 to the hour; None unless from 2010 to 2033."""
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        if _EARLIEST_S * unit <= value < _LATEST_S * unit:
            return int(value) // (_HOUR_S * unit) * _HOUR_S * unit
    return None
