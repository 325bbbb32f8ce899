"""The agents of two made-up desks: what they are asked, which tools they call, and their habits.

An agent calls real functions, as a model does, and keeps what a chat log holds.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import ModuleType
from typing import Any, Final

NOISE: Final = 0.03  # of all calls, whatever they pass
RECOVERS: Final = 0.6  # of calls that failed by the cause: the agent mends them at once
CITIES: Final = ["OSL", "LHR", "ICN", "CDG", "SFO", "LIS"]
WORDS: Final = [
    "please", "window", "seat", "near", "exit", "late",
    "arrival", "quiet", "call", "gate", "family", "bag",
]  # fmt: skip
Chore = Callable[[], object]


@dataclass
class Agent:
    """One conversation: calls tools, as a model does, and keeps what a chat log holds."""

    rng: random.Random
    strict: ModuleType
    lenient: ModuleType
    rate: float
    messages: list[dict[str, Any]] = field(default_factory=list)
    lost: bool = False
    prefix: str = ""
    failed: str = "Error: {1}"  # of the tool and its message

    def call(self, tool: str, mend: Chore | None = None, **args: Any) -> Any:
        """The result of a call, or None; `mend` is what the agent does after a failure other than noise."""
        module = self.strict if self.rng.random() < self.rate else self.lenient
        if self.rng.random() < NOISE:
            result, failure = None, self.rng.choice(["backend busy", "could not complete the operation"])
            mend = (lambda: self.call(tool, **args)) if self.rng.random() < 0.5 else None
        else:
            try:
                result, failure = getattr(module, tool)(**args), None
            except (ValueError, OSError, LookupError) as error:
                result, failure = None, str(error)
        name = f"call_{len(self.messages)}"
        function = {"name": f"{self.prefix}{tool}", "arguments": json.dumps(args)}
        content = (
            self.failed.format(getattr(module, tool).__name__, failure) if failure else json.dumps(result)
        )
        self.messages += [
            {"role": "assistant", "tool_calls": [{"id": name, "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": name, "content": content},
        ]
        if failure and mend and self.rng.random() < RECOVERS:
            return mend()
        self.lost |= failure is not None
        return result

    def maybe(self, share: float) -> bool:
        return self.rng.random() < share

    def vary(self, tool: str, args: dict[str, Any], **habits: Any) -> None:
        """Call with one argument in four as the agent's habit has it; a failure is mended by the plain form.

        A habit of None leaves the argument out.
        """
        chosen = {name: value for name, value in habits.items() if self.maybe(0.25)}
        passed = {name: value for name, value in (args | chosen).items() if value is not None}
        plain = {name: value for name, value in args.items() if value is not None}
        self.call(tool, lambda: self.call(tool, **plain), **passed)


def travel(agent: Agent) -> str:
    """A conversation of the travel desk; returns the user's question."""
    rng, module = agent.rng, agent.strict
    booking = rng.choice(list(module.BOOKINGS.values()))
    customer = module.CUSTOMERS[booking["customer_id"]]
    of_booking = {"booking_id": booking["booking_id"]}
    of_customer = {"customer_id": customer["customer_id"]}
    module.SENT.clear()
    day = date(2026, 5, 1) + timedelta(days=rng.randrange(200))
    period = {"since": f"{day}", "until": f"{day + timedelta(days=rng.randint(2, 90))}"}
    before = f"{day - timedelta(days=rng.randint(0, 60))}"
    page = {"limit": rng.choice([5, 10, 20, 25, 50])}
    flight = {"origin": rng.choice(CITIES), "destination": rng.choice(CITIES), "departs": f"{day}"}
    fare = {"cabin": rng.choice(["economy", "premium", "business"])}
    written = day.strftime(rng.choice(["%d %b %Y", "%B %d, %Y", "%m/%d/%Y"]))
    if agent.maybe(0.7):
        agent.call("find_customer", email=customer["email"])
    if agent.maybe(0.8):
        agent.call("get_booking", **of_booking)

    def send() -> None:
        for _ in range(rng.choice([1, 1, 2, 3, 5, 6])):
            text = {"text": words(rng, 3, 20)[:160]}
            agent.vary("send_sms", of_customer | text, text=words(rng, 45, 80))

    chores: dict[str, Chore] = {
        "cancel it": lambda: agent.call("cancel_booking", **of_booking, reason=words(rng, 2, 5)),
        "my trips": lambda: agent.vary(
            "search_trips",
            of_customer | period | page,
            until=before,
            limit=rng.choice([60, 75, 100, 200, 500]),
        ),
        "price a flight": lambda: agent.vary(
            "quote_fare", flight | fare, departs=written, cabin=rng.choice(["coach", "standard", "eco"])
        ),
        "choose seats": lambda: agent.vary(
            "hold_seats", of_booking | {"seats": seats(rng, 1, 4)}, seats=seats(rng, 5, 9)
        ),
        "a better cabin": lambda: agent.vary(
            "upgrade_booking", of_booking | {"cabin": "business"}, voucher=f"V{rng.randrange(10**5, 10**6)}"
        ),
        "note a wish": lambda: agent.vary(
            "add_remark",
            of_booking | {"remark": words(rng, 2, 12)},
            remark=rng.choice(["null", "None", "none"]),
        ),
        "text me": send,
    }
    return run(agent, chores, f"I am {customer['email']}, booking {booking['booking_id']}")


def warehouse(agent: Agent) -> str:
    """A conversation of the warehouse; returns the user's question."""
    rng, module = agent.rng, agent.strict
    order = rng.choice(list(module.ORDERS.values()))
    order_id, country = order["order_id"], order["country"]
    module.PACKED.clear()
    day = date(2026, 5, 1) + timedelta(days=rng.randrange(200))
    goods, number = {"order_id": order_id, "sku": order["sku"]}, rng.randint(1, 12)
    claim = {"order_id": order_id, "kind": rng.choice(["damaged", "lost"])}
    photo = {"photo_url": f"https://img.example/{rng.randrange(10**6)}.jpg"}
    manifest = {"path": f"/srv/manifests/{day}.csv", "day": f"{day}"}
    box, carrier = rng.choice(["S", "M", "L"]), rng.choice(["dhl", "ups", "gls"])
    if agent.maybe(0.5):
        agent.call("list_orders", customer_email=order["email"])
    if agent.maybe(0.8):
        agent.call("lookup_order", order_id=order_id)

    def pack() -> object:
        return agent.call("pack_order", order_id=order_id, box=box)

    def ship() -> None:
        hand_over = {"order_id": order_id, "carrier": carrier}
        if agent.maybe(0.65):
            pack()
        agent.call("ship_order", lambda: (pack(), agent.call("ship_order", **hand_over)), **hand_over)

    chores: dict[str, Chore] = {
        "reserve the goods": lambda: agent.vary(
            "reserve_stock", goods | {"quantity": number}, quantity=number + 0.5
        ),
        "ship it": ship,
        "a label": lambda: agent.vary(
            "print_label",
            {"order_ref": order_id, "country": country},
            order_ref=order_id.removeprefix("WH-"),
            country=country.lower(),
        ),
        "the manifest": lambda: agent.vary("export_manifest", manifest, path=f"manifests/{day}.csv"),
        "it came damaged": lambda: agent.vary("open_claim", claim | photo, photo_url=None),
    }
    return run(agent, chores, f"Order {order_id}")


def run(agent: Agent, chores: dict[str, Chore], opening: str) -> str:
    """Do one to three chores; returns the question."""
    chosen = agent.rng.sample(sorted(chores), agent.rng.choice([1, 1, 2, 3]))
    for chore in chosen:
        chores[chore]()
    return f"{opening}. Please: {', '.join(chosen)}."


def words(rng: random.Random, least: int, most: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(least, most)))


def seats(rng: random.Random, least: int, most: int) -> list[str]:
    return [f"{rng.randint(1, 40)}{rng.choice('ABCDEF')}" for _ in range(rng.randint(least, most))]
