import pytest

from coreloop.descriptions.source import UnprovenError, read_source
from rows import each_row


@each_row("newline", ["\n", "\r\n", "\r"])
@each_row(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("\ufeff", "utf-8"),
        ("# coding: cp949\n", "cp949"),
        ("#!/x\n# vim: fileencoding=euc-kr\n", "euc-kr"),
    ],
)
def test_position_of_the_parser_maps_to_the_byte(head, encoding, newline):
    raw = f"{head}x = '수익'; y = '마\x0c진'\nz = '성'; needle\n".replace("\n", newline).encode(encoding)
    source = read_source(raw)
    name = source.tree.body[-1].value
    assert raw[source.offset(name.lineno, name.col_offset) :].startswith(b"needle")


def test_codec_that_does_not_round_trip_is_refused():
    source = read_source(b"# coding: utf-7\nx = '+AOk-'; y\n")
    with pytest.raises(UnprovenError, match="round trip"):
        source.offset(2, 1)
