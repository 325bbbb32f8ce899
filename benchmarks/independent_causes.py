"""Sixteen causes in logs of two made-up desks, written from the list of causes alone, and what `refine` says.

uv run python benchmarks/independent_causes.py [--seeds 1 2 3] [--causes state order …] [--show]

The tools (desks/) are real functions: what a call returns or raises is what they do. A log plants one of the
rules; every other habit of the agent (a path that is not absolute, a voucher, a long text) stands in the log
too and does no harm. The author had seen neither the planted tests nor the code that finds causes.
"""

import argparse
import json
import random
import re
import string
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from desks.agents import Agent, travel, warehouse, words

from coreloop.base.date_range import Days
from coreloop.base.project.workspace import open_workspace
from coreloop.learn.propose import NightRequest, run_refine
from coreloop.observe.importers.append_requests import run_import

REQUESTS: Final = 450
FOLDER: Final = Path(__file__).parent / "desks"
DESKS: Final = {"travel": travel, "warehouse": warehouse}
CAUSES: Final = {  # cause: desk, tool, the line that a reader of the source would write
    "state": ("travel", "cancel_booking", "booking_id: only while status is held"),
    "date format": ("travel", "quote_fare", "departs: as YYYY-MM-DD"),
    "integer": ("warehouse", "reserve_stock", "quantity: a whole number"),
    "prefix": ("warehouse", "print_label", "order_ref: begins with WH-"),
    "path": ("warehouse", "export_manifest", "path: an absolute path"),
    "list size": ("travel", "hold_seats", "seats: at most 4 items"),
    "a < b": ("travel", "search_trips", "since: before until"),
    "case": ("warehouse", "print_label", "country: in upper case"),
    "text length": ("travel", "send_sms", "text: at most 160 characters"),
    "null text": ("travel", "add_remark", "remark: no word such as null"),
    "too many calls": ("travel", "send_sms", "at most 3 calls"),  # no line can say it: it is only listed
    "enum": ("travel", "quote_fare", "cabin: one of business, economy, premium"),
    "bound": ("travel", "search_trips", "limit: at most 50"),
    "presence": ("warehouse", "open_claim", "Always pass photo_url"),
    "absence": ("travel", "upgrade_booking", "Leave out voucher"),
    "order": ("warehouse", "ship_order", "Call pack_order first (same order_id)"),
}


def source_of(desk: str, cause: str | None) -> str:
    """The tools' source with the rule of one cause, or of none."""
    lines = (FOLDER / f"{desk}.py").read_text(encoding="utf-8").splitlines()[2:]
    planted = [line.replace(f"# {cause}: ", "") for line in lines]
    return "\n".join(line for line in planted if not line.lstrip().startswith("#")) + "\n"


def load(source: str, rng: random.Random) -> ModuleType:
    """The tools, with 150 customers and what is theirs."""
    module = ModuleType("tools")
    exec(source, module.__dict__)  # the benchmark's own text
    names = [f"{''.join(rng.choices(string.ascii_lowercase, k=6))}{number}" for number in range(150)]
    for number, name in enumerate(names):
        customer, email = f"C{70_000 + number * 7}", f"{name}@mail.example"
        for _ in range(3):
            if "BOOKINGS" in module.__dict__:
                module.CUSTOMERS[customer] = {"customer_id": customer, "email": email}
                booking = {"booking_id": f"BK{rng.randrange(10**5, 10**6)}", "customer_id": customer}
                booking["status"] = rng.choice(["held", "held", "ticketed", "flown"])
                module.BOOKINGS[booking["booking_id"]] = booking | {"price": rng.randrange(80, 900)}
            else:
                order = {"order_id": f"WH-{rng.randrange(10**4, 10**5)}", "email": email}
                order |= {"sku": f"SKU{rng.randrange(1000, 9999)}", "country": rng.choice(["DE", "KR", "FR"])}
                module.ORDERS[order["order_id"]] = order
    return module


def chats(desk: str, cause: str | None, *, rate: float, seed: int) -> Iterator[dict[str, Any]]:
    """A log of three weeks in the OpenAI chat format; of calls against the rule, `rate` fail."""
    rng = random.Random(f"{desk} {cause} {rate} {seed}")
    strict, lenient = (load(source_of(desk, rule), random.Random(seed)) for rule in (cause, None))
    for name in ("CUSTOMERS", "BOOKINGS", "SENT", "ORDERS", "PACKED"):
        if hasattr(strict, name):
            setattr(lenient, name, getattr(strict, name))
    start = datetime(2026, 3, 2, 8, tzinfo=UTC)
    for number in range(REQUESTS):
        agent = Agent(rng, strict, lenient, rate)
        question = DESKS[desk](agent)
        answer = {"role": "assistant", "content": f"That is what I could do for you. {words(rng, 5, 30)}"}
        messages = [{"role": "user", "content": question}, *agent.messages, answer]
        reward = float(not agent.lost and rng.random() < 0.95)
        ts = (start + timedelta(minutes=67 * number + rng.randrange(50))).isoformat()
        yield {"request_id": f"r{number}", "ts": ts, "model": "m-1", "reward": reward, "messages": messages}


def lines_of(desk: str, cause: str | None, *, rate: float, seed: int) -> list[tuple[str, str]]:
    """What `import` and `refine` say of a log: tools and lines."""
    with tempfile.TemporaryDirectory() as folder:
        return refined(Path(folder), source_of(desk, cause), chats(desk, cause, rate=rate, seed=seed))


def refined(folder: Path, source: str, log: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    tools = re.findall(r"^def (\w+)", source, flags=re.MULTILINE)
    (folder / "tools.py").write_text(source, encoding="utf-8")
    targets = {tool: {"target": f"tools.py::{tool}"} for tool in tools}
    (folder / "coreloop.yaml").write_text(json.dumps({"tools": targets}), encoding="utf-8")
    path = folder / "chats.jsonl"
    path.write_text("".join(f"{json.dumps(chat)}\n" for chat in log), encoding="utf-8")
    workspace = open_workspace(folder)
    run_import("openai-chat", [path], workspace, now_s=datetime(2026, 4, 1, tzinfo=UTC).timestamp())
    days = Days(date(2026, 3, 1), date(2026, 3, 31))
    result = run_refine(workspace, NightRequest(days=days), now=datetime(2026, 3, 31, tzinfo=UTC))
    return [(one.tool, one.line.removeprefix("- ")) for one in result.document.statements]


def is_exact(line: str, expected: str) -> bool:
    """The same words, in any order of a list."""
    return sorted(re.split(r"[,\s]+", line)) == sorted(re.split(r"[,\s]+", expected))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--causes", nargs="*", choices=list(CAUSES), default=list(CAUSES))
    parser.add_argument("--show", action="store_true", help="print every line")
    options = parser.parse_args()

    for seed in options.seeds:
        for rate in (1.0, 0.9):
            exact, others = [], 0
            for cause in options.causes:
                desk, tool, expected = CAUSES[cause]
                lines = lines_of(desk, cause, rate=rate, seed=seed)
                if options.show:
                    print(f"  {cause}: {lines}")
                right = [name == tool and is_exact(line, expected) for name, line in lines]
                exact += [cause] if any(right) else []
                others += right.count(False)
            missed = ", ".join(cause for cause in options.causes if cause not in exact) or "none"
            print(
                f"seed {seed}, {rate:.0%} of the calls against the rule fail: "
                f"{len(exact)} of {len(options.causes)} exact, {others} other lines, missed: {missed}"
            )
        empty = [lines_of(desk, None, rate=1.0, seed=1000 * seed + n) for n in range(10) for desk in DESKS]
        said = [lines for lines in empty if lines]
        print(f"seed {seed}, no cause: {len(said)} of {len(empty)} logs have a line", *said)


if __name__ == "__main__":
    main()
