"""Events as JSON: what is newer or damaged is refused in one clear line."""

import msgspec
import pytest

from coreloop.base.errors import RunError
from coreloop.runs import events as happened
from coreloop.runs.events import VERSION, decode_event, encode_event
from happenings import AT, created
from rows import each_row


@each_row(
    ("data", "version", "message"),
    [
        (encode_event(created()), VERSION + 1, "has an event of version 2; upgrade coreloop"),
        (
            b'{"type":"teleported","at":"2026-04-25T09:00:00Z"}',
            VERSION,
            "cannot read .*teleported.*; upgrade",
        ),
        (b'{"type":"paused"}', VERSION, "cannot read .*`at`.*; upgrade"),
        (b'{"type":"paused","at":', VERSION, "damaged event .*; restore the store from a backup"),
        (b"\xff", VERSION, "damaged event"),
        (b"[" * 100_000, VERSION, "damaged event|cannot read"),
    ],
    ids=["newer", "unknown type", "missing field", "torn", "not text", "nested"],
)
def test_an_unreadable_event_is_refused(data: bytes, version: int, message: str):
    with pytest.raises(RunError, match=message):
        decode_event(data, version=version)


def test_a_field_of_a_later_release_is_ignored():
    data = msgspec.json.encode({"type": "until_met", "at": AT, "by": "make test"})
    assert decode_event(data) == happened.UntilMet(at=AT)
