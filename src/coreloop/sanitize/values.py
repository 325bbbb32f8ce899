"""A value of a record with the key that it stands under: what the key tells is part of the context."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from coreloop.sanitize.detectors.secrets import SENSITIVE_KEY, looks_like_credential, looks_like_password
from coreloop.sanitize.find import Hit, find_hits
from coreloop.sanitize.pseudonyms import is_own

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

_TELLING: Final = re.compile(
    r"(?i)phone|mobile|cell|^tel|_tel|fax|contact|전화|휴대|핸드폰|연락처|팩스|acc(?:oun)?t|bank|계좌|은행|card|카드|passport|여권|"
    r"licen[cs]e|면허|rrn|ssn|resident|주민|외국인|foreigner|brn|biz|business|사업자|등록번호|^ip$|_ip$|ip_|address|host|성명|성함|이름|고객명|예금주|"
    r"담당자|full_?name|customer_?name|user_?name|holder|stock|ticker|종목|code|symbol|revenue|sales|amount|profit|income|asset|price|"
    r"volume|total|매출|이익|자산|금액|시총|auth|cookie"
)
_LONG_NUMBER: Final = 10_000_000
_PHONE_KEY: Final = re.compile(r"(?i)phone|mobile|cell|tel|fax|contact|전화|휴대|핸드폰|연락처|팩스")


_OWN_LABEL: Final = re.compile(r"\[[A-Z]{2,9}-(?:[0-9]+|[a-p]{48})\]")


def _is_opaque(word: str) -> bool:
    """Whether a word among others under a sensitive key is none: long, of three sorts of characters."""
    sorts = (re.search(chars, word) is not None for chars in ("[0-9]", "[a-z]", "[A-Z]", "[!@#$%^&*?~]"))
    return len(word) >= 8 and re.search("[0-9]", word) is not None and sum(sorts) >= 3


@lru_cache(maxsize=4096)
def _context(key: str) -> tuple[str, str]:
    """What a key calls its value (``password``, ``credential``, nothing), and the words to read before it."""
    bare = key.strip().lstrip("-")
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bare)[-64:]
    sensitive = SENSITIVE_KEY.search(spaced)
    kind = "" if sensitive is None else "password" if sensitive["password"] else "credential"
    return kind, f"{spaced}: " if kind or _TELLING.search(spaced) else ""


def is_sensitive(key: str) -> bool:
    """Whether a key, a field's name or an option calls its value a secret."""
    return len(key) <= 64 and bool(_context(key)[0])


@lru_cache(maxsize=4096)
def is_telling(key: str) -> bool:
    """Whether a key is read before its value."""
    return bool(_context(key)[1])


def find_in_value(text: str, key: str, *, names: "Names | None" = None) -> tuple[Hit, ...]:
    """What is private in a string that stands under a key.

    Parameters
    ----------
    text : str
        The value.
    key : str
        Of the object that holds it; "" for none.
    names : Names, optional
        Companies.
    """
    kind, prefix = _context(key) if key else ("", "")
    if not prefix:
        return find_hits(text, names=names)
    bare = text.strip()
    if kind and bare and not is_own(bare):
        judge = looks_like_password if kind == "password" else looks_like_credential
        if judge(bare) or any(map(_is_opaque, _OWN_LABEL.sub(" ", bare).split())):
            return (Hit("SECRET", 0, len(text), bare),)
    shift = len(prefix)
    hits = find_hits(prefix + text, names=names)
    return tuple(
        Hit(hit.kind, max(0, hit.start - shift), hit.end - shift, hit.value)
        for hit in hits
        if hit.end > shift
    )


def find_in_number(value: int | float, key: str, *, names: "Names | None" = None) -> tuple[Hit, ...]:
    """What is private in a number that stands under a key: it is looked at as it would be written.

    A leading zero that a number cannot keep is tried too.
    """
    is_short = -_LONG_NUMBER < value < _LONG_NUMBER
    if is_short and not is_telling(key):
        return ()
    kind, prefix = _context(key) if key else ("", "")
    if is_short and kind != "password" and not (prefix and names):
        return ()
    text = _digits(value)
    if not text:
        return ()
    for written in (text, *_with_zeros(text, key)):
        found = find_in_value(written, key, names=names) if prefix else find_hits(f"{key}: {written}")
        if found and (written == text or found[0].kind == ("PHONE" if _PHONE_KEY.search(key) else "RRN")):
            return (Hit(found[0].kind, 0, len(text), found[0].value),)
    return _stock_code(text, key, names) if prefix and names is not None else ()


def _digits(value: int | float) -> str:
    """A whole number as it would be written; "" for any other."""
    if value < 0 or (isinstance(value, float) and (not value.is_integer() or value >= 1e19)):
        return ""
    return str(int(value))


def _stock_code(text: str, key: str, names: "Names") -> tuple[Hit, ...]:
    code = text.zfill(6)
    is_code = len(text) <= 6 and names.has_code(code) and "code" in key.lower()
    return (Hit("STOCK", 0, len(text), code),) if is_code else ()


def _with_zeros(text: str, key: str) -> list[str]:
    """Registration numbers of those born since 2000, and telephone numbers, as integers lost their zeros."""
    if _PHONE_KEY.search(key):
        return [f"0{text}"]
    return [text.zfill(13)] if 10 <= len(text) <= 12 else []
