import ast

import pytest

from coreloop.descriptions.source import UnprovenError, equal_except, read_source
from rows import each_row


@each_row(
    ("left", "right"),
    [
        *(
            ("1", "True"),
            ("1", "1.0"),
            ("'a'", "b'a'"),
            ("'a'", "u'a'"),
            ("1", "2"),
            ("x", "y"),
            ("x.a", "x.b"),
        ),
        *(
            ("f(a)", "f(a, a)"),
            ("f(a=1)", "f(b=1)"),
            ("a + b", "a - b"),
            ("lambda: 1", "lambda: 2"),
            ("1", "1j"),
        ),
        *(
            ("def f(a=1): 0", "def f(a=2): 0"),
            ("@d\ndef f(): 0", "def f(): 0"),
            ("def f(): 0", "async def f(): 0"),
        ),
        *(
            ("x: int", "x: str"),
            ("f'{a}'", "f'{a!r}'"),
            ("del a", "del b"),
            ("...", "None"),
            ("'d'; x", "'d'; y"),
        ),
    ],
)
def test_different_code_has_a_different_tree(left, right):
    assert not equal_except(ast.parse(left), ast.parse(right))
    assert equal_except(ast.parse(left), ast.parse(f"\n{left}\n"))


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
    offset = source.offset(name.lineno, name.col_offset)
    assert source.text[offset:].startswith("needle")
    assert raw[source.byte_offset(offset) :].startswith(b"needle")


def test_codec_that_does_not_round_trip_is_refused():
    source = read_source(b"# coding: utf-7\nx = '+AOk-'; y\n")
    with pytest.raises(UnprovenError, match="round trip"):
        source.byte_offset(len(source.text))
