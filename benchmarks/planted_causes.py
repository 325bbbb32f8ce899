"""Sixteen causes of failures, each planted alone in a made-up log: what a search for lines should say.

Written from the list of causes before any search was tuned on it. A cause is a tool, what a call that follows
it passes, what one that deviates passes, and the line that says it exactly.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

Args = dict[str, Any]
DAYS: Final = 20
_WORDS: Final = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")
_QUESTIONS: Final = (
    "where is my parcel", "please change my booking", "can you look into this", "I need a copy of the report",
    "send it again", "what went wrong last week", "close the old one", "help me with the invoice",
    "the page shows an error", "how long does it take", "move it to another day", "is it still open",
)  # fmt: skip

SOURCE: Final = '''"""Tools of the planted log."""

PRIORITIES = ("low", "normal", "high")
PREFIX = "TCK-"
LIMIT = 50


def lookup(customer_id: str) -> dict:
    """Look a customer up."""


def verify_customer(customer_id: str) -> dict:
    """Verify a customer."""


def show_order(order_id: str) -> dict:
    """Show an order."""


def act(
    order_id: str = "", customer_id: str = "", day: str = "", count: int = 1, ticket: str = "",
    path: str = "", ids: list = (), since: str = "", until: str = "", symbol: str = "",
    summary: str = "", team: str = "",
    priority: str = "", limit: int = 1, account_id: str = "", force: bool = False, note: str = "",
) -> dict:
    """Do the thing."""
    order = {}
    if order["status"] == "pending" or order["status"] in ("shipped", "delivered"):
        return {}
    if priority not in PRIORITIES or not ticket.startswith(PREFIX) or limit > LIMIT or len(ids) > 5:
        return {}
    if len(summary) > 80:
        return {}
'''


@dataclass(frozen=True)
class Cause:
    """A cause: the arguments of a call of ``act`` that follows it, or deviates; and the exact line."""

    name: str
    line: str
    args: Callable[[Random, bool], Args]
    before: Callable[[bool], tuple[str, ...]] = lambda deviates: ("lookup",)
    status: bool = False
    error: str = "bad request"
    max_calls: int = 0


def _day(rng: Random) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=rng.randrange(300))


def _range(rng: Random, deviates: bool) -> Args:
    first = _day(rng)
    last = first + timedelta(days=rng.randrange(1, 40))
    since, until = (last, first) if deviates else (first, last)
    return {"since": f"{since:%Y-%m-%d}", "until": f"{until:%Y-%m-%d}"}


def _words(rng: Random, low: int, high: int) -> str:
    text = ""
    while len(text) < low:
        text = f"{text} {rng.choice(_WORDS)}".strip()
    return text[:high].strip()


_OPTIONAL: Final = ({"note": "call back"}, {"note": "by mail"}, {}, {})
_SYMBOLS: Final = ("AAPL", "MSFT", "TSLA", "NVDA", "KRX", "IBM", "SAP", "BASF")


def _day_of(rng: Random, bad: bool) -> Args:
    return {"day": f"{_day(rng):{'%d/%m/%Y' if bad else '%Y-%m-%d'}}"}


def _count(rng: Random, bad: bool) -> Args:
    return {"count": rng.choice(["two", "3.5", "a few", 2.5]) if bad else rng.randrange(1, 9)}


def _ticket(rng: Random, bad: bool) -> Args:
    return {"ticket": f"{'' if bad else 'TCK-'}{rng.randrange(1000, 99999)}"}


def _path(rng: Random, bad: bool) -> Args:
    return {"path": f"{'' if bad else '/srv/'}data/{rng.choice('abcdefgh')}{rng.randrange(99)}.csv"}


def _ids(rng: Random, bad: bool) -> Args:
    n = rng.randrange(6, 14) if bad else rng.randrange(1, 6)
    return {"ids": [f"i{rng.randrange(9999)}" for _ in range(n)]}


def _symbol(rng: Random, bad: bool) -> Args:
    symbol = rng.choice(_SYMBOLS)
    return {"symbol": symbol.lower() if bad else symbol}


def _summary(rng: Random, bad: bool) -> Args:
    return {"summary": _words(rng, 90, 200) if bad else _words(rng, rng.randrange(10, 70), 79)}


def _team(rng: Random, bad: bool) -> Args:
    return {"team": rng.choice(["null", "None"] if bad else ["red", "blue", "green", "white"])}


def _priority(rng: Random, bad: bool) -> Args:
    return {"priority": rng.choice(["urgent", "P1", "asap"] if bad else ["low", "normal", "high"])}


def _limit(rng: Random, bad: bool) -> Args:
    return {"limit": rng.randrange(51, 200) if bad else rng.randrange(1, 51)}


def _account(rng: Random, bad: bool) -> Args:
    return {} if bad else {"account_id": f"acc-{rng.randrange(9999)}"}


def _force(rng: Random, bad: bool) -> Args:
    return {"force": True} if bad else {}


def _nothing(rng: Random, bad: bool) -> Args:
    return {}


def _verified(bad: bool) -> tuple[str, ...]:
    return ("lookup",) if bad else ("lookup", "verify_customer")


CAUSES: Final = (
    Cause("state", "- order_id: only while status is pending", _nothing, status=True),
    Cause("date format", "- day: as YYYY-MM-DD", _day_of),
    Cause("integer", "- count: a whole number", _count),
    Cause("prefix", "- ticket: begins with TCK-", _ticket),
    Cause("path", "- path: an absolute path", _path),
    Cause("list size", "- ids: at most 5 items", _ids),
    Cause("a < b", "- since: before until", _range),
    Cause("case", "- symbol: in upper case", _symbol),
    Cause("text length", "- summary: at most 80 characters", _summary),
    Cause("null text", "- team: no word such as null", _team),
    Cause("too many calls", "", _nothing, max_calls=3),
    Cause("enum", "- priority: one of high, low, normal", _priority),
    Cause("bound", "- limit: at most 50", _limit),
    Cause("presence", "- Always pass account_id", _account),
    Cause("absence", "- Leave out force", _force),
    Cause("order", "- Call verify_customer first (same customer_id)", _nothing, before=_verified),
)


def records(cause: Cause, seed: int, *, n: int = 400, share: float = 0.25) -> Iterator[dict[str, Any]]:
    """Make a log: ``share`` of the calls deviate and fail in 95 %, the others fail in 3 %.

    Parameters
    ----------
    cause : Cause
        What fails.
    seed : int
        The log is the same for the same seed.
    n : int
        Requests, on 20 days, of about 120 customers.
    """
    rng = Random(f"{cause.name} {seed}")
    for number in range(n):
        customer, order = f"cu{rng.randrange(120):04d}", f"or{rng.randrange(10**6):06d}"
        ts = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=number * DAYS / n, seconds=rng.randrange(60))
        deviates = rng.random() < share
        calls = [_call(name, {"customer_id": customer}) for name in cause.before(deviates)]
        status = rng.choice(["shipped", "delivered"]) if deviates else "pending"
        if rng.random() < 0.7 or cause.status:
            calls.append(_call("show_order", {"order_id": order}))
        for attempt in range(rng.randrange(1, 7) if cause.max_calls else 2):
            bad = attempt >= cause.max_calls if cause.max_calls else deviates and attempt == 0
            args = {
                "order_id": order,
                "customer_id": customer,
                **rng.choice(_OPTIONAL),
                **cause.args(rng, bad),
            }
            failed = rng.random() < (0.95 if bad else 0.03)
            call = _call("act", args, error=cause.error if failed else None)
            if cause.status:
                call["saw"] = {"order_id": {"status": status}}
            calls.append(call)
            if not (failed or cause.max_calls):
                break
            if cause.status or cause.before(True) != cause.before(False):
                break
        lost = not any(call["ok"] for call in calls if call["name"] == "act")
        question = f"{rng.choice(_QUESTIONS)} {rng.choice(_QUESTIONS)}"
        yield record(rng, number, ts, question, calls, lost=lost)


def record(
    rng: Random, number: int, ts: datetime, question: str, calls: list[Args], *, lost: bool
) -> dict[str, Any]:
    return {
        "schema_version": 2,
        "ts": f"{ts:%Y-%m-%dT%H:%M:%SZ}",
        "request_id": f"req-{number:05d}",
        "question": question,
        "model": "m",
        "tool_calls": calls,
        "chunk_len": 200,
        "error": "gave up" if lost and rng.random() < 0.5 else None,
    }


def _call(name: str, args: Args, *, error: str | None = None) -> dict[str, Any]:
    return {"name": name, "args": args, "ok": error is None, "error": error, "duration_ms": 5.0}
