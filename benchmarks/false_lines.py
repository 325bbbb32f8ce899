"""Made-up logs in which no argument matters, each with something that looks as if one did.

A call of ``act`` fails for reasons of its case, its day or its user; what the agent passes follows the same
reasons. Every line that a search says about such a log is false.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

Record = dict[str, Any]
_DAYS: Final = 20
_N: Final = 300
_WORDS: Final = [
    "parcel", "booking", "report", "invoice", "refund", "page",
    "error", "account", "order", "delivery", "price", "date",
]  # fmt: skip


def _request(rng: Random, number: int, **fixed: Any) -> Record:
    """A request of a random customer about an order; ``fixed`` replaces what is drawn."""
    day = fixed.get("day", number * _DAYS // _N)
    customer = fixed.get("customer", f"cu{rng.randrange(150):04d}")
    args = {"order_id": fixed.get("order", f"or{rng.randrange(10**6):06d}"), "customer_id": customer}
    if rng.random() < fixed.get("note", 0.5):
        args["note"] = rng.choice(["call back", "by mail", "urgent please"])
    args["limit"] = rng.randrange(1, 100)
    args["priority"] = rng.choice(["low", "normal", "high"])
    args["day"] = f"2026-0{rng.randrange(1, 9)}-1{rng.randrange(9)}"
    failed = rng.random() < fixed.get("fails", 0.3)
    ts = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=day, seconds=rng.randrange(80_000))
    call = {"name": "act", "args": args, "ok": not failed, "error": "bad request" if failed else None}
    return {
        "schema_version": 2,
        "ts": f"{ts:%Y-%m-%dT%H:%M:%SZ}",
        "request_id": f"req-{number:05d}",
        "question": fixed.get("question", f"{rng.choice(_WORDS)} {rng.choice(_WORDS)} {rng.choice(_WORDS)}"),
        "model": fixed.get("model", "m"),
        "tool_calls": [call],
        "chunk_len": 200,
        "error": "gave up" if failed and rng.random() < 0.5 else None,
    }


def heavy_user(rng: Random) -> Iterator[Record]:
    """A customer with two fifths of the requests, whose calls fail and who always has a note."""
    for number in range(_N):
        own = {"customer": "cu9999", "fails": 0.95, "note": 1.0} if rng.random() < 0.4 else {"note": 0.3}
        yield _request(rng, number, **own)


def template_user(rng: Random) -> Iterator[Record]:
    """A user who asks with a template, for many customers: the calls fail, always with a note."""
    for number in range(_N):
        question = f"Please process order {rng.randrange(10**6)} today"
        own = {"question": question, "fails": 0.95, "note": 1.0} if rng.random() < 0.3 else {"note": 0.3}
        yield _request(rng, number, **own)


def duplicates(rng: Random) -> Iterator[Record]:
    """Every request is logged three times."""
    for number in range(_N // 3):
        record = _request(rng, 3 * number)
        for copy in range(3):
            yield {**record, "request_id": f"{record['request_id']}-{copy}"}


def outage_days(rng: Random) -> Iterator[Record]:
    """Three days on which nearly all fails, and on which a newer agent adds a note."""
    out = set(rng.sample(range(_DAYS), 3))
    for number in range(_N):
        is_out = number * _DAYS // _N in out
        yield _request(
            rng, number, **({"fails": 0.97, "note": 0.95} if is_out else {"fails": 0.1, "note": 0.3})
        )


def one_task(rng: Random) -> Iterator[Record]:
    """One failing task is run thirty times, always with a note."""
    fixed = {
        "customer": "cu9999",
        "order": "or999999",
        "question": "run the task",
        "fails": 0.97,
        "note": 1.0,
    }
    chosen = set(rng.sample(range(_N), 30))
    for number in range(_N):
        yield _request(rng, number, **(fixed if number in chosen else {"note": 0.3, "fails": 0.1}))


def drift(rng: Random) -> Iterator[Record]:
    """In the middle of the log the tool breaks, and the agent begins to add notes."""
    for number in range(_N):
        later = number >= _N // 2
        yield _request(
            rng, number, **({"fails": 0.9, "note": 0.95} if later else {"fails": 0.1, "note": 0.1})
        )


def hidden_difficulty(rng: Random) -> Iterator[Record]:
    """A quarter of the requests is hard, which no record shows: they fail, and the agent adds a note."""
    for number in range(_N):
        hard = rng.random() < 0.25
        yield _request(rng, number, **({"fails": 0.9, "note": 0.95} if hard else {"fails": 0.1, "note": 0.1}))


def repealed_rule(rng: Random) -> Iterator[Record]:
    """Calls with a note fail in 95 % until the last day, on which the tool begins to take them."""
    for number in range(_N):
        record = _request(rng, number)
        call = record["tool_calls"][0]
        is_last = number * _DAYS // _N == _DAYS - 1
        fails = 0.95 if "note" in call["args"] and not is_last else 0.05
        call["ok"] = rng.random() >= fails
        call["error"] = None if call["ok"] else "bad request"
        yield record


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
        record = _request(rng, number, question=f"Please process order {number} today")
        call = record["tool_calls"][0]
        call["ok"] = rng.random() < (0.05 if "note" in call["args"] else 0.95)
        call["error"] = None if call["ok"] else "bad request"
        yield record
