"""Where a value stands in a record: each function puts it into an ordinary record."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from .sentences import error, pasted, sentence

Record = dict[str, Any]
_NEUTRAL = ("query", "memo", "text", "body", "note", "q", "message")


@dataclass(frozen=True, slots=True)
class Mention:
    """A value as it is written, with what a place needs to know about it.

    Attributes
    ----------
    text : str
        The value and the words beside it.
    written : str
        The value alone.
    is_bare : bool
        Whether ``written`` is private without words beside it.
    keys : tuple of str
        JSON keys that name the kind.
    number : int, optional
        The value as a JSON number.
    is_private : bool
        False for a look-alike.
    """

    text: str
    written: str
    is_bare: bool
    keys: tuple[str, ...] = ()
    number: int | None = None
    is_private: bool = True

    @property
    def alone(self) -> str:
        return self.written if self.is_bare else self.text


Place = Callable[[Record, Mention, Random], None]


def _args(record: Record, chance: Random) -> dict[str, Any]:
    args: dict[str, Any] = chance.choice(record["tool_calls"])["args"]
    return args


def in_question(record: Record, mention: Mention, chance: Random) -> None:
    record["question"] = sentence(mention.text, chance, is_bare=mention.is_bare)


def in_pasted_text(record: Record, mention: Mention, chance: Random) -> None:
    record["question"] = pasted(mention.text, chance)


def in_argument(record: Record, mention: Mention, chance: Random) -> None:
    text = mention.alone if chance.random() < 0.4 else sentence(mention.text, chance, is_bare=mention.is_bare)
    _args(record, chance)[chance.choice(_NEUTRAL)] = text


def under_own_key(record: Record, mention: Mention, chance: Random) -> None:
    fields = {chance.choice(mention.keys): mention.written}
    args = _args(record, chance)
    args |= fields if chance.random() < 0.5 else {chance.choice(("user", "params", "data")): fields}


def in_error(record: Record, mention: Mention, chance: Random) -> None:
    call = record["tool_calls"][-1]
    call |= {"ok": False, "error": error(mention.text, chance)}
    if chance.random() < 0.3:
        record["error"] = call["error"]


def as_key(record: Record, mention: Mention, chance: Random) -> None:
    counts = {mention.alone: chance.randrange(9)}
    if chance.random() < 0.7:
        _args(record, chance)[chance.choice(("filters", "counts"))] = counts
    else:
        _args(record, chance).update(counts)


def as_field_name(record: Record, mention: Mention, chance: Random) -> None:
    chance.choice((record, record["judgment"], record["tool_calls"][0]))[mention.alone] = chance.randrange(9)


def as_label(record: Record, mention: Mention, chance: Random) -> None:
    record[chance.choice(("category_hash", "skill_used"))] = mention.alone


def as_number(record: Record, mention: Mention, chance: Random) -> None:
    keeps_zeros = str(mention.number) == mention.written
    key = chance.choice((*mention.keys, *(("value", "no") if mention.is_bare and keeps_zeros else ())))
    _args(record, chance)[key] = mention.number


def nested(record: Record, mention: Mention, chance: Random) -> None:
    item: Any = (
        mention.alone if chance.random() < 0.5 else sentence(mention.text, chance, is_bare=mention.is_bare)
    )
    for _ in range(chance.randrange(2, 6)):
        item = chance.choice(
            ([item], ["x", item, None], {"items": item}, {"detail": item, "n": 1}, {"data": [item]})
        )
    _args(record, chance)["payload"] = item


def in_json_text(record: Record, mention: Mention, chance: Random) -> None:
    text = json.dumps(
        {"type": "note", "body": sentence(mention.text, chance, is_bare=mention.is_bare)},
        ensure_ascii=chance.random() < 0.5,
    )
    _args(record, chance)["request"] = json.dumps({"inner": text}) if chance.random() < 0.2 else text


def in_judgment(record: Record, mention: Mention, chance: Random) -> None:
    record["judgment"] |= {"verdict": "C", "judged_at": "2026-04-26T01:00:00+00:00", "judged_by": "reviewer"}
    keys = ("comment", "reason", "judged_by") if mention.is_private else ("comment", "reason")
    record["judgment"][chance.choice(keys)] = mention.text


def in_unknown_field(record: Record, mention: Mention, chance: Random) -> None:
    text = sentence(mention.text, chance, is_bare=mention.is_bare)
    record[chance.choice(("customer_note", "context", "메모"))] = chance.choice(
        (text, [text], {"text": text})
    )


def in_violation(record: Record, mention: Mention, _: Random) -> None:
    record["violation"] = f"answer repeats {mention.text}"


def in_preview(record: Record, mention: Mention, chance: Random) -> None:
    text = sentence(mention.text, chance, is_bare=mention.is_bare)
    _args(record, chance)["document"] = {
        "truncated": True,
        "size": chance.randrange(600, 900),
        "preview": text,
    }


def in_override(record: Record, mention: Mention, _: Random) -> None:
    record["override_calls"] = [
        {
            "tool": "analysis",
            "override_keys": ["wacc"],
            "trigger": f"user said {mention.text}",
            "succeeded": True,
        }
    ]


def in_time_field(record: Record, mention: Mention, chance: Random) -> None:
    holder = chance.choice((record, record["judgment"], _args(record, chance)))
    holder[chance.choice(("created_at", "updated_at", "timestamp"))] = mention.alone


PLACES: Mapping[str, Place] = {
    "question": in_question,
    "pasted text": in_pasted_text,
    "argument": in_argument,
    "own key": under_own_key,
    "error": in_error,
    "key": as_key,
    "number": as_number,
    "nested JSON": nested,
    "JSON in a string": in_json_text,
    "judgment": in_judgment,
    "unknown field": in_unknown_field,
    "violation": in_violation,
    "preview": in_preview,
    "override": in_override,
    "time field": in_time_field,
    "field name": as_field_name,
    "label": as_label,
}
_WEIGHTS = {"question": 4, "argument": 4, "pasted text": 2, "own key": 3, "error": 2, "nested JSON": 2}


def choose_place(mention: Mention, chance: Random) -> str:
    """A place that suits the value; questions and arguments most often."""
    if mention.number is not None and chance.random() < 0.25:
        return "number"
    names = [name for name in PLACES if name != "number" and (name != "own key" or mention.keys)]
    return chance.choices(names, [_WEIGHTS.get(name, 1) for name in names])[0]
