"""Events as JSON: what is newer or damaged is refused in one clear line."""

import msgspec
import pytest

from coreloop.base.errors import RunError
from coreloop.runs import events as happened
from coreloop.runs.events import decode_event
from happenings import AT
from rows import each_row


@each_row(
    "data",
    [
        b'{"type":"teleported","at":"2026-04-25T09:00:00Z"}',
        b'{"type":"paused"}',
        b'{"type":"paused","at":',
        b"\xff",
        b"[" * 100_000,
    ],
    ids=["unknown type", "missing field", "torn", "not text", "nested"],
)
def test_an_unreadable_event_is_refused(data: bytes):
    with pytest.raises(RunError, match=r"cannot be read \(.*\); upgrade coreloop, or restore the store"):
        decode_event(data)


def test_a_field_of_a_later_release_is_ignored():
    data = msgspec.json.encode({"type": "until_met", "at": AT, "by": "make test"})
    assert decode_event(data) == happened.UntilMet(at=AT)
