"""A JSONL line -> its question alone, for readers of thousands of single lines."""

from typing import Final, Literal

import msgspec

from coreloop.observe.reading.decode import NOT_PLAIN, RecordLine, decode_line
from coreloop.observe.reading.fields import Timestamp


class Question(msgspec.Struct, gc=False):
    """A record's question and its hash, both as recorded."""

    question: str | None = None
    question_hash: str | None = None


class _Asked(Question, gc=False, kw_only=True):
    """The question of a line that `decode_line` does not skip."""

    ts: Timestamp
    schema_version: Literal[1, 2] = 1
    origin: None = None


_decode: Final = msgspec.json.Decoder(_Asked).decode


def decode_question(raw: bytes) -> Question | None:
    """The question of a line as `decode_line` reads it, or None if the line would be skipped.

    The other fields are passed over, which takes a third of the time that `decode_line` takes.
    """
    try:
        return _decode(raw)
    except NOT_PLAIN:
        line = decode_line(raw)
    if not isinstance(line, RecordLine):
        return None
    return Question(line.fields.question, line.fields.question_hash)
