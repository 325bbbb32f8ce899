"""JSON as dataclasses: what is refused is named by its place."""

import json
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from coreloop.base.validation import ShapeError, decode, parse_json, shaped
from rows import each_row


@dataclass(frozen=True, slots=True)
class Inner:
    login: str = ""
    kind: Literal["User", "Bot"] = "User"


@dataclass(frozen=True, slots=True)
class Outer:
    number: int
    title: str | None = None
    draft: bool | None = False
    labels: tuple[Inner, ...] = ()
    words: list[str] = field(default_factory=list)
    inner: Inner | None = None
    both: Inner | str = ""
    anything: Any = None


@each_row(
    "text",
    [
        b"{} x",
        b"\xff",
        b"\xef\xbb\xbf{}",
        b"[NaN]",
        b"-Infinity",
        b"[" * 100_000,
        b"9" * 5000,
        "{}".encode("utf-16"),
    ],
    ids=["more", "no UTF-8", "byte order mark", "NaN", "Infinity", "deep", "long", "UTF-16"],
)
def test_invalid_json_is_refused(text: bytes) -> None:
    with pytest.raises(ShapeError):
        parse_json(text)


def test_a_text_that_utf_8_cannot_hold_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"at `\$\.title`"):
        decode(r'{"number": 1, "title": "\ud800"}', Outer)


def test_an_unknown_field_is_refused_on_request() -> None:
    value = {"number": 1, "inner": {"loginn": ""}}
    assert shaped(value, Outer) == Outer(1, inner=Inner())
    with pytest.raises(ShapeError, match=r"`loginn`; did you mean `login`\? - at `\$\.inner\.loginn`"):
        shaped(value, Outer, exact=True)


def test_a_field_may_have_another_name() -> None:
    former = make_dataclass("Former", [("text", str, field(metadata={"name": "from"}))])
    assert decode('{"from": "x", "text": 1}', former).text == "x"
    with pytest.raises(ShapeError, match="required field `from`"):
        decode('{"text": "x"}', former)


def test_a_time_has_a_zone() -> None:
    at = make_dataclass("At", [("at", datetime | None)])
    assert decode('{"at": "2026-04-25T12:00:00Z"}', at).at == datetime(2026, 4, 25, 12, tzinfo=UTC)
    assert decode('{"at": null}', at).at is None
    for text in ("2026-04-25T12:00:00", "yesterday", ""):
        with pytest.raises(ShapeError, match=r"at `\$\.at`"):
            decode(json.dumps({"at": text}), at)
