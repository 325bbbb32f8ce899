"""Records that hold the values, in sentences and places of this generator's own."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any, cast

from benchmarks.planted import PLAIN, Harmless, Planted, Sample
from benchmarks.planted.kind import Kind, Value

from coreloop.base.records import Record

from .disguise import AMBIGUOUS, DISGUISES, GROUPS
from .kinds import KINDS, LOOK_ALIKES
from .values import HEX, draw

_SENTENCES = (
    "어제 접수한 건인데 {} 기준으로 다시 조회해 줄래?",
    "메모에는 이렇게 적혀 있었어요 — {} — 그대로 처리해 주세요",
    "Could you reopen the ticket? It says {} in the footer.",
    "> fwd: see below\n> {}\n> thanks",
    "| row | value |\n| 7 | {} |",
)
_WITH_WORDS = {"decomposed", "base64"}
"""Disguises that cover the words beside the value too."""
Put = Callable[[dict[str, Any], str], None]
PLACES: dict[str, Put] = {
    "question": lambda record, text: record.update(question=text),
    "argument": lambda record, text: record["tool_calls"][0]["args"].update(note=text),
    "deep argument": lambda record, text: record["tool_calls"][0]["args"].update(a={"b": [{"c": text}]}),
    "JSON in a string": lambda record, text: record["tool_calls"][0]["args"].update(
        body=json.dumps({"memo": text}, ensure_ascii=False)
    ),
    "preview": lambda record, text: record["tool_calls"][0]["args"].update(
        doc={"truncated": True, "size": 900, "preview": text}
    ),
    "tool error": lambda record, text: record["tool_calls"][0].update(ok=False, error=f"ValueError: {text}"),
    "violation": lambda record, text: record.update(violation=text),
    "unknown field": lambda record, text: record.update(agent_note=text),
}


def make_samples(seed: int, *, values: int = 20) -> Iterator[Sample]:
    """Make ``values`` plain and disguised values of every kind, and as many look-alikes."""
    chance = Random(f"planted again {seed}")
    for kind in KINDS:
        forms = forms_of(kind)
        for number in range(values):
            yield _planted(kind, PLAIN, chance)
            yield _planted(kind, forms[number % len(forms)], chance)
    for like, texts in LOOK_ALIKES.items():
        for number in range(values):
            text = texts[number % len(texts)]
            place = chance.choice(list(PLACES))
            record = _record(chance)
            PLACES[place](record, chance.choice(_SENTENCES).format(text))
            yield Sample(cast(Record, record), harmless=(Harmless(like, text, place, text),))


@cache
def forms_of(kind: Kind) -> tuple[str, ...]:
    """The disguises of a kind that can change its values: no separators in nine digits, for example."""
    forms = [form for group in kind.disguises.split() for form in GROUPS[group]]
    return tuple(form for form in forms if _written(kind, form, Random(form)))


def _planted(kind: Kind, form: str, chance: Random) -> Sample:
    pair = _written(kind, form, chance)
    if pair is None:
        raise ValueError(f"{kind.name} has no form {form}")
    value, written = pair
    record = _record(chance)
    if kind.keys and form not in AMBIGUOUS and chance.random() < 0.25:
        place = "own key"
        number = int(written) if written.isascii() and written.isdigit() and written[0] != "0" else written
        record["tool_calls"][0]["args"][chance.choice(kind.keys)] = number
    else:
        place = chance.choice(list(PLACES))
        needs_words = not kind.bare or form in AMBIGUOUS
        beside = chance.choice(kind.beside) if needs_words or chance.random() < 0.3 else "{}"
        if form in _WITH_WORDS and beside != "{}":
            written = DISGUISES[form](beside.replace("{}", value.text), chance)
            beside = "{}"
        PLACES[place](record, chance.choice(_SENTENCES).replace("{}", beside.replace("{}", written)))
    return Sample(cast(Record, record), (Planted(kind.name, form, place, value, written),))


def _written(kind: Kind, form: str, chance: Random) -> tuple[Value, str] | None:
    """A value that the disguise changes, after some tries: many have no digit 0, for example."""
    for _ in range(50):
        value = kind.make(chance)
        written = value.text if form == PLAIN else DISGUISES[form](value.text, chance)
        if form == PLAIN or written != value.text:
            return value, written
    return None


def _record(chance: Random) -> dict[str, Any]:
    call = {"name": "lookup", "args": {"axis": "status"}, "args_hash": draw(chance, 16, HEX), "ok": True}
    call |= {"error": None, "duration_ms": 120, "result_size_bytes": 900, "extreme_flags": []}
    return {
        "schema_version": 2,
        "ts": f"2026-03-{chance.randint(1, 28):02}T08:15:00.000000+00:00",
        "request_id": f"req-{draw(chance, 16, HEX)}",
        "question": "지난주 처리 현황을 보여줘",
        "question_hash": f"sha256:{draw(chance, 16, HEX)}",
        "category_hash": "UNSPECIFIED",
        "tool_calls": [call],
        "tool_sequence_hash": f"seq:{draw(chance, 16, HEX)}",
        "chunk_len": 640,
        "error": None,
        "violation": None,
    }
