import codecs
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from coreloop.answer.search.extract.document import Unreadable, clean_text, decode_text
from rows import each_row

KOREAN = "반도체 시장은 회복한다"


@each_row(
    "data",
    [
        KOREAN.encode(),
        codecs.BOM_UTF8 + KOREAN.encode(),
        KOREAN.encode("cp949"),
        KOREAN.encode("euc-kr"),
        codecs.BOM_UTF16_LE + KOREAN.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + KOREAN.encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-8-bom", "cp949", "euc-kr", "utf-16-le", "utf-16-be"],
)
def test_korean_is_read_in_every_usual_encoding(data: bytes):
    assert decode_text(data) == KOREAN


def test_binary_and_unknown_files_are_told_apart():
    assert decode_text(b"GIF89a\0\1\2") == Unreadable("binary")
    assert decode_text("über".encode("latin-1")) == Unreadable("neither UTF-8 nor CP949")
    assert decode_text(codecs.BOM_UTF16_LE + b"a") == Unreadable("neither UTF-8 nor CP949")


@given(st.text())
def test_no_control_or_invisible_character_stays(text: str):
    cleaned = clean_text(text)
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not [char for char in cleaned if unicodedata.category(char) in hidden and char not in "\n\t"]
    assert clean_text(cleaned) == cleaned
