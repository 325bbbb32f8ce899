"""Charsets of pages: what a page says of itself is believed only if it fits."""

import pytest

from bounded import given_up
from coreloop.answer.search.extract.document import Unreadable
from coreloop.answer.search.page import page_text
from rows import each_row


def plain(content: bytes, charset: str) -> str:
    text = page_text(content, f"text/plain; charset={charset}", 5)
    assert not isinstance(text, Unreadable)
    return text.text


@each_row(
    ("content", "charset", "text"),
    [
        pytest.param("배당금".encode("euc-kr"), "EUC-KR", "배당금", id="EUC-KR"),
        pytest.param("똠방각하".encode("cp949"), "ks_c_5601-1987", "똠방각하", id="CP949 under its old name"),
        pytest.param("배당금".encode("cp949"), "utf-8", "배당금", id="a wrong header"),
        pytest.param("배당금".encode(), "no-such-charset", "배당금", id="an unknown charset"),
        pytest.param("“配当”".encode("shift_jis"), "Shift_JIS", "“配当”", id="Shift_JIS"),
        pytest.param("“a” – b".encode("cp1252"), "iso-8859-1", "“a” – b", id="Latin-1 that is Windows-1252"),
        pytest.param("배당금".encode("cp949") + b"\xff\xff", "euc-kr", "배당금\ufffd\ufffd", id="damaged"),
        pytest.param("배당금".encode("utf-8-sig"), "utf-8", "배당금", id="a byte order mark"),
    ],
)
def test_a_page_is_decoded_by_a_charset_that_fits(content: bytes, charset: str, text: str) -> None:
    assert plain(content, charset) == text


@each_row("charset", ["punycode", "unicode_escape", "idna", "utf-7", "hex", "aliases"])
def test_only_charsets_of_pages_are_used(charset: str) -> None:
    assert plain(rb"+ADw- \u0041 41", charset) == r"+ADw- \u0041 41"


def test_a_large_page_is_decoded_at_once_whatever_it_says() -> None:
    with given_up():
        plain(b"a" * 1_000_000 + b"-" + b"ab" * 500_000, "punycode")
