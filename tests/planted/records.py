"""Planted records: every kind in every place, every kind in every disguise, and records that hide nothing."""

import json
import random
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from coreloop.base.record_lines import canonical_json
from coreloop.base.records import hash_args, hash_question, hash_sequence, hash_session
from logs import call
from logs import record as sound_record
from planted import identity, lookalike, money, network, secret
from planted.disguise import DISGUISES
from planted.fold import survives
from planted.money import Name
from planted.phrase import GROUPS, phrase, sentence
from planted.place import CODES, NUMBER_KEYS, SECRETS, TEXTS, Record, put_number
from planted.value import Core, Value

FIRST_NUMBER: Final = 1000
_KINDS: Final[dict[str, Callable[[random.Random], Value]]] = {
    **identity.KINDS,
    **money.KINDS,
    **network.KINDS,
    **secret.KINDS,
}
_NO_END: Final = frozenset(
    {"password", "authorization", "connection string", "AWS", "URL with user", "URL with query"}
)
"""Of these nobody could say where the value ends once there is a space in it."""

_DIGITS: Final = frozenset(identity.KINDS) - {"Korean name", "English name"} | {
    "card",
    "bank account",
    "IPv4",
}
_LATIN: Final = frozenset({"e-mail", "English name", "home path", "URL with user", "URL with query", "IBAN"})
_UNBROKEN: Final = frozenset({"password", "home path", "English name"})


@dataclass(frozen=True, slots=True)
class Planted:
    """One record, what it hides, and what in it must stay.

    Attributes
    ----------
    number : int
        Stands in ``chunk_len``, where every mode leaves it.
    kind, place, disguise : str
        Of the one planted value; empty where there is none.
    written : str
        The value as it stands in the record.
    clean : tuple of (str, str)
        Look-alikes: kind, and the text that they stand in.
    """

    number: int
    record: Record
    kind: str = ""
    place: str = ""
    disguise: str = ""
    written: str = ""
    cores: tuple[Core, ...] = ()
    clean: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind, self.place, self.disguise

    def line(self) -> bytes:
        """The record as its line, lone surrogates aside."""
        return json.dumps(self.record, ensure_ascii=False).encode() + b"\n"


def planted_records(
    seed: int, *, rounds: int = 1, companies: Sequence[Name] = (), kinds: Collection[str] = ()
) -> list[Planted]:
    """All kinds in all places and in all disguises, shuffled, with records between that hide nothing.

    Parameters
    ----------
    seed : int
        The same seed gives the same records.
    rounds : int
        How often every combination comes, each time with other values and words.
    companies : sequence of (str, str, str)
        Plant these firms too (code, name, aliases), which only the mode ``mask`` has to find.
    kinds : collection of str
        Plant only these.
    """
    rng = random.Random(seed)
    makers = [make for kind, make in _makers(companies) if not kinds or kind in kinds] * rounds
    makers += [_clean] * (len(makers) // 3)
    rng.shuffle(makers)
    return [make(rng, FIRST_NUMBER + place) for place, make in enumerate(makers)]


_Make = Callable[[random.Random, int], Planted]


def _makers(companies: Sequence[Name]) -> Iterator[tuple[str, _Make]]:
    """What makes one record of a kind, for every combination."""
    values = {**_KINDS, **({"company": money.company_of(companies)} if companies else {})}
    for kind, value in values.items():
        for place in TEXTS:
            yield kind, _text_maker(kind, value, place, "")
        for disguise in (*DISGUISES, "NFD"):
            if _fits(kind, disguise):
                yield kind, _text_maker(kind, value, "", disguise)
    for kind in NUMBER_KEYS:
        yield kind, _number_maker(kind)
    for kind, value in {**secret.KINDS, "opaque": secret.opaque}.items():
        for place in SECRETS:
            yield kind, _neighbour_maker(kind, value, place)
    if companies:
        for place in CODES:
            yield "company", _code_maker(companies, place)


def _fits(kind: str, disguise: str) -> bool:
    is_secret = kind in secret.KINDS
    return {
        "other digits": kind in _DIGITS,
        "look-alike letters": is_secret or kind in _LATIN,
        "spelled": kind == "e-mail",
        "spaced": kind not in _NO_END | _UNBROKEN | {"company"},
        "broken line": kind not in _UNBROKEN,
        "base64": is_secret,
        "NFD": kind in {"Korean name", "company", "bank account", "password", "home path"},
    }.get(disguise, True)


def _text_maker(kind: str, make: Callable[[random.Random], Value], place: str, disguise: str) -> _Make:
    """A value in a sentence; in any place when none is named."""

    def maker(rng: random.Random, number: int) -> Planted:
        value = make(rng)
        written = DISGUISES[disguise](rng, value.text) if disguise in DISGUISES else value.text
        text = phrase(rng, _group(kind), value, written)
        if disguise == "NFD":
            written, text = (unicodedata.normalize("NFD", one) for one in (written, text))
        chosen = place or rng.choice(list(TEXTS))
        record = _record(rng, number)
        TEXTS[chosen](rng, record, text)
        cores = (*value.cores, Core(written, 24)) if disguise == "base64" else value.cores
        made = Planted(number, _hashed(record), kind, chosen, disguise or "plain", written, cores)
        return made if _is_only_there(made) else maker(rng, number)

    return maker


def _number_maker(kind: str) -> _Make:
    def maker(rng: random.Random, number: int) -> Planted:
        value = _KINDS[kind](rng)
        written = int("".join(filter(str.isdecimal, value.text)))
        record = _record(rng, number)
        put_number(rng, record, kind, written)
        # a leading zero is none of a number's
        cores = tuple(Core(core.text.lstrip("0"), core.window) for core in value.cores)
        return Planted(number, _hashed(record), kind, "number", "plain", str(written), cores)

    return maker


def _neighbour_maker(kind: str, make: Callable[[random.Random], Value], place: str) -> _Make:
    def maker(rng: random.Random, number: int) -> Planted:
        value, record = make(rng), _record(rng, number)
        SECRETS[place](rng, record, value.text)
        return Planted(number, _hashed(record), kind, place, "plain", value.text, value.cores)

    return maker


def _code_maker(companies: Sequence[Name], place: str) -> _Make:
    """A stock code alone, in the same record as its firm."""

    def maker(rng: random.Random, number: int) -> Planted:
        code, name, _ = rng.choice(companies)
        record = _record(rng, number)
        record["question"] = f"{sentence(rng)} ㈜{name}"
        CODES[place](rng, record, code)
        return Planted(number, _hashed(record), "company", f"code as {place}", "plain", code, (Core(code),))

    return maker


def _clean(rng: random.Random, number: int) -> Planted:
    """A record with look-alikes in its texts, and one as a number."""
    record = _record(rng, number)
    found = []
    for place, kind in zip(rng.sample(_READABLE, 4), rng.sample(list(lookalike.KINDS), 4), strict=True):
        text = lookalike.KINDS[kind](rng)
        said = f"{sentence(rng)} {text} {sentence(rng)}" if rng.random() < 0.7 else text
        TEXTS[place](rng, record, said)
        found.append((kind, said))
    figure = rng.choice((1, -1)) * rng.randint(10**9, 10**13)
    if not identity.is_rrn(f"{abs(figure):013}"):
        record["tool_calls"][-1]["args"]["revenue"] = figure
        found.append(("figure as a number", str(figure)))
    return Planted(number, _hashed(record), clean=tuple(found))


_READABLE: Final = (
    "question",
    "argument",
    "deep argument",
    "list",
    "override trigger",
    "call error",
    "error",
)
"""Places whose text a readable export keeps; that of a name may be a pseudonym."""


def _group(kind: str) -> str:
    return GROUPS.get(kind, "secret" if kind in secret.KINDS else "number")


def _record(rng: random.Random, number: int) -> Record:
    """A sound request that hides nothing."""
    axis = rng.choice(("수익성", "배당", "cashflow", "growth"))
    calls = [call("analysis", {"axis": axis}, duration_ms=rng.randint(20, 4000)), call("show", {"limit": 5})]
    return sound_record(
        ts=f"2026-04-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:07.000000+00:00",
        request_id=f"req-{rng.getrandbits(64):016x}",
        question=sentence(rng),
        session_hash=hash_session(str(rng.getrandbits(40))),
        stockCode_hint=None,
        tool_calls=calls,
        chunk_len=number,
        rounds=rng.randint(1, 6),
    )


def _hashed(record: Record) -> Record:
    for one in record["tool_calls"]:
        one["args_hash"] = hash_args(canonical_json(one["args"]))
    return {
        **record,
        "question_hash": hash_question(record["question"]),
        "tool_sequence_hash": hash_sequence(">".join(one["name"] for one in record["tool_calls"])),
    }


def without(record: Any, written: str) -> Any:
    """The record as a perfect sanitizer leaves it: the value replaced wherever it is written."""
    escaped = (json.dumps(written, ensure_ascii=plain)[1:-1] for plain in (True, False))
    return _without(record, dict.fromkeys((written, *escaped)))


def _without(record: Any, forms: Iterable[str]) -> Any:
    if isinstance(record, dict):
        return {_without(key, forms): _without(item, forms) for key, item in record.items()}
    if isinstance(record, list):
        return [_without(item, forms) for item in record]
    if isinstance(record, str):
        for form in forms:
            record = record.replace(form, "[…]")
        return record
    return 0 if not isinstance(record, bool) and str(record) in forms else record


def _is_only_there(made: Planted) -> bool:
    """Whether no word around the value says it a second time by chance."""
    rest = without(made.record, made.written)
    return not any(survives(core, rest) for core in made.cores)
