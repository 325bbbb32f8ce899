"""A question that is read alone is the question of the whole line."""

import json

import pytest

from coreloop.observe.reading.decode import RecordLine, decode_line, decode_question
from logs import line, record

ODD = (
    5,
    True,
    None,
    ["two", {"type": "text", "text": "parts"}],
    {"text": "an object"},
    "\ud800 a lone surrogate",
    "질문",
    "",
)


SKIPPED = (
    line(record())[:40],
    line(record(ts="x")),
    line(record(origin="replay")),
    line(record(schema_version=9)),
)


@pytest.mark.parametrize("name", ["question", "question_hash"])
@pytest.mark.parametrize("value", ODD)
def test_an_odd_question_is_read_as_the_whole_line_reads_it(name: str, value: object):
    raw = json.dumps({**record(), name: value}).encode()
    whole, alone = decode_line(raw), decode_question(raw)
    assert isinstance(whole, RecordLine)
    assert alone is not None
    assert (alone.question, alone.question_hash) == (whole.fields.question, whole.fields.question_hash)


@pytest.mark.parametrize("raw", [*SKIPPED, b"[]", b"\xff", b"", b"null"])
def test_a_line_that_is_no_record_has_no_question(raw: bytes):
    assert decode_question(raw) is None
