"""Private data in a value of a record; its key is part of the context."""

import re
from functools import lru_cache
from typing import Final

from coreloop.sanitize.detectors.rule import Hit, current, words_of
from coreloop.sanitize.detectors.secrets import SENSITIVE_KEY, looks_like_credential, looks_like_password
from coreloop.sanitize.find_in_text import find_hits
from coreloop.sanitize.pseudonyms import is_placeholder

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
_WORDS: Final = words_of("""
id ids uuid guid key no nr num number numbers code codes pin otp cvc cvv pw pwd password passcode token secret
birth birthday birthdate born dob lat latitude lon lng long longitude coord coords coordinate coordinates geo
gps location position point bbox phone tel telephone mobile cell fax contact zip zipcode postal postcode
account acct iban card passport licence license ssn rrn ein itin tin nino nhs vat tax employee member customer
client patient student user person ip mac host address addr serial imei plate vin
dni nif nie nir bsn mrn yob pnr badge policy matricule
""")
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


_TELLING: Final = re.compile(
    r"(?i)phone|mobile|cell|^tel|_tel|fax|contact|전화|휴대|핸드폰|연락처|팩스|acc(?:oun)?t|bank|계좌|은행|card|카드|passport|여권|"
    r"licen[cs]e|면허|rrn|ssn|social|employer|resident|주민|외국인|foreigner|brn|biz|business|사업자|등록번호|^ip$|_ip$|ip_|address|host|성명|성함|이름|고객명|예금주|"
    r"담당자|full_?name|customer_?name|user_?name|holder|stock|ticker|종목|code|symbol|revenue|sales|amount|profit|income|asset|price|"
    r"volume|total|매출|이익|자산|금액|시총|auth|cookie|birth|^dob|생년|생일|^e?in$|itin|nino|^ni$|ni_?number|nhs|bsn|steuer|tax|"
    r"recipient|patient|payee|first_?name|last_?name|client_?name|^customer$|^client$"
)
# Eight digits: the shortest number that a telephone or a date of birth may be.
_LONG_NUMBER: Final = 10_000_000
_PHONE_KEY: Final = re.compile(r"(?i)phone|mobile|cell|tel|fax|contact|전화|휴대|핸드폰|연락처|팩스")
_BIRTH_KEY: Final = re.compile(r"(?i)birth|dob|생년|생일")
# A status or exit code is no company's, though "000100" is one.
_STOCK_KEY: Final = re.compile(
    r"(?i)(?:stock|ticker|krx|isu|corp|company)\w{0,40}code|^(?:code|ticker)$|종목"
)
_PERSON_KEY: Final = re.compile(
    r"(?i)(?:^|_)(?:full|first|last|given|family|customer|patient|client|member|holder)_?name$|"
    r"(?:account|card|policy)_?holder$|^(?:예금주|성함|성명|고객명|회원명|환자명|수취인|보호자)$"
)
_PERSON: Final = re.compile(r"(?![가-힣]+$)[^\W\d_]+(?:[ ,.'’-]{1,2}[^\W\d_]+){0,4}\.?")
_NO_PERSON: Final = words_of("""
unknown none null anonymous guest user customer client name test admin n/a all any other everyone nobody empty
redacted hidden masked missing required invalid true false yes no 없음 미상 익명 고객 회원 환자 본인
""")
_OWN_LABEL: Final = re.compile(r"\[[A-Z]{2,9}-(?:[0-9]+|[a-p]{48})\]")


def _is_opaque(word: str) -> bool:
    """Whether a word under a sensitive key looks like a secret: long, with three kinds of characters."""
    kinds = (re.search(chars, word) is not None for chars in ("[0-9]", "[a-z]", "[A-Z]", "[!@#$%^&*?~]"))
    return len(word) >= 8 and re.search("[0-9]", word) is not None and sum(kinds) >= 3


def _without_labels(key: str) -> str:
    """Remove the labels of a masked key: ``[PHONE-1]`` does not say that its value is a telephone number."""
    return _OWN_LABEL.sub("", key) if "[" in key else key


@lru_cache(maxsize=4096)
def _context(key: str) -> tuple[str, str]:
    """Classify a key (``password``, ``credential`` or "") and return the context to prepend to its value."""
    bare = _without_labels(key).strip().lstrip("-")
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bare)[-64:]
    sensitive = SENSITIVE_KEY.search(spaced)
    kind = "" if sensitive is None else "password" if sensitive["password"] else "credential"
    return kind, f"{spaced}: " if kind or _TELLING.search(spaced) else ""


def is_sensitive(key: str) -> bool:
    """Whether a key, field name or option marks its value as secret."""
    return len(key) <= 64 and bool(_context(key)[0])


@lru_cache(maxsize=4096)
def is_telling(key: str) -> bool:
    """Whether a key gives context to its value."""
    return bool(_context(key)[1])


def find_in_value(text: str, key: str) -> tuple[Hit, ...]:
    """Find private data in a string value.

    Parameters
    ----------
    text : str
        The value.
    key : str
        Its key, or "" if it has none.
    """
    kind, prefix = _context(key) if key else ("", "")
    if not prefix:
        return find_hits(text)
    bare = text.strip()
    if kind and bare and not is_placeholder(bare):
        is_secret = looks_like_password if kind == "password" else looks_like_credential
        if bare not in current().allow and (
            is_secret(bare) or any(map(_is_opaque, _OWN_LABEL.sub(" ", bare).split()))
        ):
            return (Hit("SECRET", 0, len(text), bare),)
    shift = len(prefix)
    hits = find_hits(prefix + text)
    if _PERSON_KEY.search(key) and _is_person(bare) and all(hit.kind == "PERSON" for hit in hits):
        return (Hit("PERSON", 0, len(text), bare),)
    return tuple(
        Hit(hit.kind, max(0, hit.start - shift), hit.end - shift, hit.value)
        for hit in hits
        if hit.end > shift
    )


def _is_person(text: str) -> bool:
    """Whether the whole value under a key for a person's name is a name: letters, in one to five words.

    A Korean name in one word has a form of its own.
    """
    return (
        len(text) <= 64
        and not is_placeholder(text)
        and _PERSON.fullmatch(text) is not None
        and _NO_PERSON.isdisjoint(text.lower().split())
        and text not in current().allow
    )


def find_in_number(value: int | float, key: str) -> tuple[Hit, ...]:
    """Find private data in a number, in its decimal notation and with restored leading zeros."""
    key, telling = _beside_number(key)
    is_short = -_LONG_NUMBER < value < _LONG_NUMBER
    if is_short and not telling:
        return ()
    kind, prefix = _context(key) if key else ("", "")
    text = _digits(value)
    if not text:
        return ()
    companies = current().companies
    is_code = companies is not None and companies.has_code(text.zfill(6))
    if is_short and not is_code and not _BIRTH_KEY.search(key) and kind != "password":
        return ()
    for wanted, written in (("", text), *_with_zeros(text, key)):
        hits = find_in_value(written, key) if prefix else _behind_key(written, key)
        if hits and wanted in {"", hits[0].kind}:
            return (Hit(hits[0].kind, 0, len(text), hits[0].value),)
    is_stock = is_code and _STOCK_KEY.search(key) is not None
    return (Hit("STOCK", 0, len(text), text.zfill(6)),) if is_stock else ()


@lru_cache(maxsize=4096)
def _beside_number(key: str) -> tuple[str, bool]:
    """Return a key as context of a number, and whether it gives any.

    Beside the name of a time, a resident number passes for ms.
    """
    bare = "" if is_time(key) else _without_labels(key)
    return bare, is_telling(bare)


def _behind_key(text: str, key: str) -> tuple[Hit, ...]:
    """Find private data in a text next to its key; private data in the key itself does not count."""
    return tuple(hit for hit in find_hits(f"{key}: {text}") if hit.end > len(key) + len(": "))


def _digits(value: int | float) -> str:
    """Format a non-negative integer; "" for any other number."""
    if value < 0 or (isinstance(value, float) and (not value.is_integer() or value >= 1e19)):
        return ""
    return str(int(value))


def _with_zeros(text: str, key: str) -> list[tuple[str, str]]:
    """Restore leading zeros, which integers lose, with the kind of which such a number may be."""
    if _PHONE_KEY.search(key):
        return [("PHONE", f"0{text}")]
    if len(text) == 5 and _BIRTH_KEY.search(key):
        return [("BIRTH", f"0{text}")]
    return [("RRN", text.zfill(13))] if 10 <= len(text) <= 12 else []
