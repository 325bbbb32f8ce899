"""Records in the v2 format with planted values and look-alikes, made from a seed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .disguises import AMBIGUOUS, SHORTEST_BASE64, disguises
from .kind import HEX, Kind, Value, draw
from .kinds import KINDS
from .look_alikes import LOOK_ALIKES, LookAlike
from .places import PLACES, Mention, Record, choose_place
from .score import Secrets, strings
from .sentences import ordinary

PLAIN = "plain"
_TOOLS = ("analysis", "search_orders", "find_rooms", "send_message", "show")


@dataclass(frozen=True, slots=True)
class Planted:
    """A private value in a record.

    Attributes
    ----------
    kind, form, place : str
        Row of the table, ``plain`` or the disguise, and where it stands.
    value : Value
        The value in plain form.
    written : str
        The value as it stands in the record.
    """

    kind: str
    form: str
    place: str
    value: Value
    written: str


@dataclass(frozen=True, slots=True)
class Harmless:
    """A look-alike in a record."""

    like: str
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A record, and what was put into it."""

    record: Record
    planted: tuple[Planted, ...] = ()
    harmless: tuple[Harmless, ...] = ()


@dataclass(slots=True)
class _Draft:
    record: Record
    planted: list[Planted] = field(default_factory=list)
    harmless: list[Harmless] = field(default_factory=list)

    def done(self) -> Sample:
        return Sample(self.record, tuple(self.planted), tuple(self.harmless))


def make_samples(seed: int, *, values: int = 20) -> Iterator[Sample]:
    """Make the records of a seed.

    Parameters
    ----------
    seed : int
        The same seed makes the same records.
    values : int
        Plain values per kind, as many disguised, and as many look-alikes per family; one in each record.
        Then ``values`` times as many whole records as there are kinds, divided by ten, with several of each.
    """
    chance = Random(seed)
    for kind in KINDS:
        for _ in range(values):
            yield _one_value(kind, chance, is_disguised=False)
            yield _one_value(kind, chance, is_disguised=True)
    for family in LOOK_ALIKES:
        for _ in range(values):
            draft = _Draft(ordinary_record(chance))
            _add_look_alike(draft, family, chance, set())
            yield draft.done()
    for _ in range(len(KINDS) * values // 10):
        yield _whole_record(chance)


def _one_value(kind: Kind, chance: Random, *, is_disguised: bool) -> Sample:
    while True:
        draft = _Draft(ordinary_record(chance))
        if _plant(draft, kind, chance, set(), is_disguised=is_disguised):
            return draft.done()


def _whole_record(chance: Random) -> Sample:
    """Three to five values of different kinds and two look-alikes, each in a place of its own."""
    draft = _Draft(ordinary_record(chance))
    taken: set[str] = set()
    for kind in chance.sample(KINDS, chance.randrange(3, 6)):
        _plant(draft, kind, chance, taken, is_disguised=chance.random() < 0.4)
    for family in chance.sample(LOOK_ALIKES, 2):
        _add_look_alike(draft, family, chance, taken)
    return draft.done()


def _plant(draft: _Draft, kind: Kind, chance: Random, taken: set[str], *, is_disguised: bool) -> bool:
    """Add a value, unless its secret could also be read elsewhere in the record or its place is taken."""
    value = kind.make(chance)
    if any(Secrets(value).are_in(text) for text in strings(draft.record)):
        return False
    form, mention = (
        disguised(kind, value, chance) if is_disguised else (PLAIN, _mention(kind, value, value.text, chance))
    )
    place = choose_place(mention, chance)
    if _area(place) in taken:
        return False
    taken.add(_area(place))
    PLACES[place](draft.record, mention, chance)
    written = str(mention.number) if place == "number" else mention.written
    draft.planted.append(Planted(kind.name, form, place, value, written))
    return True


def _area(place: str) -> str:
    """Places that would overwrite each other are one area."""
    return "question" if place == "pasted text" else place


def _mention(kind: Kind, value: Value, written: str, chance: Random, *, form: str = PLAIN) -> Mention:
    is_bare = kind.bare and not (kind.beside and form in AMBIGUOUS)
    is_alone = is_bare and (not kind.beside or chance.random() < 0.6)
    text = written if is_alone else chance.choice(kind.beside).replace("{}", written)
    number = int(value.text) if kind.is_number and written == value.text and _is_number(value.text) else None
    return Mention(text, written, is_bare, kind.keys, number)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def disguised(kind: Kind, value: Value, chance: Random) -> tuple[str, Mention]:
    """Choose a disguise that changes the value, and write the value in it."""
    known = disguises(kind.disguises)
    while True:
        form = chance.choice(list(known))
        if not kind.bare and form == "base64":
            mention = _mention(kind, value, value.text, chance)
            written = known[form](mention.text, chance)
            return form, Mention(written, written, is_bare=True)
        written = known[form](value.text, chance)
        if written != value.text and (form != "base64" or len(value.text.encode()) >= SHORTEST_BASE64):
            mention = _mention(kind, value, written, chance, form=form)
            if form == "decomposed":
                text = known[form](mention.text, chance)
                mention = Mention(text, written, mention.is_bare, mention.keys)
            return form, mention


def _add_look_alike(draft: _Draft, family: LookAlike, chance: Random, taken: set[str]) -> None:
    text = family.make(chance)
    mention = Mention(text, text, is_bare=False, is_private=False)
    place = choose_place(mention, chance)
    while _area(place) in taken or place in {"time field", "label"}:
        place = choose_place(mention, chance)
    taken.add(_area(place))
    PLACES[place](draft.record, mention, chance)
    draft.harmless.append(Harmless(family.like, place, text))


def _call(chance: Random) -> dict[str, Any]:
    args: dict[str, Any] = {
        "axis": chance.choice(("수익성", "성장성", "안정성")),
        "years": chance.randrange(1, 9),
    }
    return {
        "name": chance.choice(_TOOLS),
        "args": args,
        "args_hash": draw(chance, HEX, 16),
        "ok": True,
        "error": None,
        "duration_ms": chance.randrange(5000),
        "result_size_bytes": chance.randrange(50_000),
        "overrides_used": None,
        "extreme_flags": [],
    }


def ordinary_record(chance: Random) -> Record:
    return {
        "schema_version": 2,
        "ts": f"2026-04-{chance.randrange(1, 31):02d}T{chance.randrange(24):02d}:30:07.000000+00:00",
        "request_id": f"req-{draw(chance, HEX, 16)}",
        "question": ordinary(chance),
        "question_hash": f"sha256:{draw(chance, HEX, 16)}",
        "category_hash": "FIN-profitability-KR",
        "stockCode_hint": None,
        "provider": "openai",
        "model": "gpt-5",
        "tool_calls": [_call(chance) for _ in range(chance.randrange(1, 3))],
        "tool_sequence_hash": f"seq:{draw(chance, HEX, 16)}",
        "override_calls": [],
        "rounds": 2,
        "chunk_len": chance.randrange(5000),
        "error": None,
        "violation": None,
        "skill_used": None,
        "duration_total_ms": chance.randrange(9000),
        "judgment": {"verdict": None, "judged_at": None, "judged_by": None, "pr_url": None},
    }
