"""Made-up logs in which no argument matters, each with something that looks as if one did.

A call of ``act`` fails for reasons of its case, its day or its user; what the agent passes follows the same
reasons. Every line that a search says about such a log is false.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

from planted_causes import DAYS, record

Record = dict[str, Any]
_N: Final = 300
_HARD: Final = {"fails": 0.9, "note": 0.95}
_EASY: Final = {"fails": 0.1, "note": 0.1}
_WORDS: Final = [
    "parcel", "booking", "report", "invoice", "refund", "page",
    "error", "account", "order", "delivery", "price", "date",
]  # fmt: skip


def _request(rng: Random, number: int, **fixed: Any) -> Record:
    """A request of a random customer about an order; ``fixed`` replaces what is drawn."""
    customer = fixed.get("customer", f"cu{rng.randrange(150):04d}")
    args = {"order_id": fixed.get("order", f"or{rng.randrange(10**6):06d}"), "customer_id": customer}
    if rng.random() < fixed.get("note", 0.5):
        args["note"] = rng.choice(["call back", "by mail", "urgent please"])
    args["limit"] = rng.randrange(1, 100)
    args["priority"] = rng.choice(["low", "normal", "high"])
    args["day"] = f"2026-0{rng.randrange(1, 9)}-1{rng.randrange(9)}"
    failed = rng.random() < fixed.get("fails", 0.3)
    ts = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=_day(number), seconds=rng.randrange(80_000))
    call = {"name": "act", "args": args, "ok": not failed, "error": "bad request" if failed else None}
    question = fixed.get("question", f"{rng.choice(_WORDS)} {rng.choice(_WORDS)} {rng.choice(_WORDS)}")
    return record(rng, number, ts, question, [call], lost=failed)


def _day(number: int) -> int:
    return number * DAYS // _N


def _some(rng: Random, is_one: Callable[[int], bool], own: Record, others: Record) -> Iterator[Record]:
    """Requests of which some are unlike the others."""
    for number in range(_N):
        yield _request(rng, number, **(own if is_one(number) else others))


def heavy_user(rng: Random) -> Iterator[Record]:
    """A customer with two fifths of the requests, whose calls fail and who always has a note."""
    own = {"customer": "cu9999", "fails": 0.95, "note": 1.0}
    return _some(rng, lambda _: rng.random() < 0.4, own, {"note": 0.3})


def template_user(rng: Random) -> Iterator[Record]:
    """A user who asks with a template, for many customers: the calls fail, always with a note."""
    for number in range(_N):
        question = f"Please process order {rng.randrange(10**6)} today"
        own = {"question": question, "fails": 0.95, "note": 1.0} if rng.random() < 0.3 else {"note": 0.3}
        yield _request(rng, number, **own)


def duplicates(rng: Random) -> Iterator[Record]:
    """Every request is logged three times."""
    for number in range(_N // 3):
        request = _request(rng, 3 * number)
        for copy in range(3):
            yield {**request, "request_id": f"{request['request_id']}-{copy}"}


def outage_days(rng: Random) -> Iterator[Record]:
    """Three days on which nearly all fails, and on which a newer agent adds a note."""
    out = set(rng.sample(range(DAYS), 3))
    own = {"fails": 0.97, "note": 0.95}
    return _some(rng, lambda number: _day(number) in out, own, {"fails": 0.1, "note": 0.3})


def one_task(rng: Random) -> Iterator[Record]:
    """One failing task is run thirty times, always with a note."""
    own = {"customer": "cu9999", "order": "or999999", "question": "run the task", "fails": 0.97, "note": 1.0}
    chosen = set(rng.sample(range(_N), 30))
    return _some(rng, chosen.__contains__, own, {"fails": 0.1, "note": 0.3})


def drift(rng: Random) -> Iterator[Record]:
    """In the middle of the log the tool breaks, and the agent begins to add notes."""
    return _some(rng, lambda number: number >= _N // 2, _HARD, _EASY)


def hidden_difficulty(rng: Random) -> Iterator[Record]:
    """A quarter of the requests is hard, which no record shows: they fail, and the agent adds a note."""
    return _some(rng, lambda _: rng.random() < 0.25, _HARD, _EASY)


def repealed_rule(rng: Random) -> Iterator[Record]:
    """Calls with a note fail in 95 % until the last day, on which the tool begins to take them."""
    for number in range(_N):
        request = _request(rng, number)
        call = request["tool_calls"][0]
        is_last = _day(number) == DAYS - 1
        fails = 0.95 if "note" in call["args"] and not is_last else 0.05
        call["ok"] = rng.random() >= fails
        call["error"] = None if call["ok"] else "bad request"
        yield request


CANNOT_TELL: Final[dict[str, Callable[[Random], Iterator[Record]]]] = {
    "hidden difficulty": hidden_difficulty,
    "rule repealed on the last day": repealed_rule,
}
"""What records cannot tell from a true cause: reported, and no measure of the search."""
SIMULATIONS: Final[dict[str, Callable[[Random], Iterator[Record]]]] = {
    "heavy user": heavy_user,
    "template user": template_user,
    "duplicates": duplicates,
    "outage days": outage_days,
    "one task": one_task,
    "drift": drift,
}


def one_template(rng: Random) -> Iterator[Record]:
    """Not false: everybody asks with one template, and calls with a note fail in 95 %."""
    for number in range(_N):
        request = _request(rng, number, question=f"Please process order {number} today")
        call = request["tool_calls"][0]
        call["ok"] = rng.random() < (0.05 if "note" in call["args"] else 0.95)
        call["error"] = None if call["ok"] else "bad request"
        yield request
