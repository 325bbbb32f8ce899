"""Broken lines are rejected with a reason, and none of their content is passed on."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.sanitize.find_in_record import Finder
from coreloop.sanitize.find_in_text import Numbering
from coreloop.sanitize.hash_and_drop import Pseudonymizer
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.sanitize_record import Masker, RejectedLine, sanitize_line
from coreloop.sanitize.vocabulary import KnownWords
from logs import record
from rows import each_row

BROKEN = {
    "torn": (b'{"question": "hong@exam', "torn or not JSON"),
    "not UTF-8": (b'{"question": "\xb1\xe8"}', "not UTF-8"),
    "NaN": (b'{"chunk_len": NaN}', "torn or not JSON"),
    "Infinity": (b'{"chunk_len": -Infinity}', "torn or not JSON"),
    "a number beyond all bounds": (b'{"chunk_len": 1e999}', "torn or not JSON"),
    "100,000 deep": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply, or torn"),
    "1,000 deep": (b'{"a":' + b"[" * 1000 + b"]" * 1000 + b"}", "nested too deeply"),
    "a double key": (b'{"question": "a", "question": "b"}', "a key appears twice"),
    "a double key, escaped": (b'{"question": "a", "\\u0071uestion": "b"}', "a key appears twice"),
    "a double key, far from its colon": (b'{"a": "x\\":", "b" : 1, "b" : 2}', "a key appears twice"),
    "a double key, deep": (b'{"a": [{"b": 1, "b": 2}]}', "a key appears twice"),
    "a lone surrogate": (b'{"question": "\\ud800"}', "torn or not JSON"),
    "a list": (b"[1]", "not an object"),
    "a text": (b'"hong@example.com"', "not an object"),
    "a byte order mark": (b'\xef\xbb\xbf{"question": "a"}', "begins with a byte order mark"),
    "zeros of a crash": (b"\0" * 64, "torn or not JSON"),
    "two records on a line": (b'{"a": 1}{"a": 2}', "torn or not JSON"),
}
VISITORS = {
    "check": Finder,
    "mask": lambda: Masker(Pseudonyms(b"k" * 32), Numbering()),
    "hash": lambda: Pseudonymizer(Pseudonyms(b"k" * 32), KnownWords()),
    "drop": lambda: Pseudonymizer(Pseudonyms(b"k" * 32), KnownWords(), drop=True),
}


@each_row("visitor", VISITORS.values(), ids=VISITORS)
@each_row(("raw", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_line_is_rejected(raw: bytes, reason: str, visitor):
    assert sanitize_line(raw + b"\n", visitor()) == RejectedLine(reason, len(raw) + 1)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("visitor", VISITORS.values(), ids=VISITORS)
@given(extra=JSON, args=st.dictionaries(st.text(), JSON, max_size=3))
def test_any_record_becomes_a_single_clean_line(visitor, extra: Any, args: dict[str, Any]):
    called = {**record(extra=extra), "tool_calls": [{"name": "show", "args": args, "ok": True}]}
    try:
        raw = json.dumps(called).encode()
        orjson.loads(raw)
    except (UnicodeEncodeError, orjson.JSONDecodeError):
        return
    result = sanitize_line(raw, visitor())
    assert isinstance(result, bytes)
    assert result.count(b"\n") == 1
    if visitor is not Finder:
        finder = Finder()
        assert isinstance(sanitize_line(result, finder), bytes)
        assert finder.counts.total() == 0
