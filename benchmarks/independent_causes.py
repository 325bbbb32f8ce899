"""Causes that two authors planted in made-up logs: what `init` and `refine` say.

uv run python benchmarks/independent_causes.py [--seeds 1 2 3] [--causes sign …] [--together]

The tools (desks/) are real functions: what a call returns or raises is what they do. A log plants one of the
rules; every other habit of the agent (a path that is not absolute, a voucher, a long text) stands in the log
too and does no harm. The authors had seen neither the planted tests nor the code that finds causes. Travel
and warehouse are the second author's: `init`, then chats are imported. Port (an MCP server that mounts two)
and pilots are the third's: calls are recorded as adapters do, then `init`. The first's: planted_causes.py.
"""

import argparse
import inspect
import json
import random
import re
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, Final, get_args

from desks import harbour
from desks.agents import Agent, travel, warehouse, words

from coreloop.observe.adapters.requests import AdaptedRequest
from coreloop.observe.descriptions_in_force import SentTool

REQUESTS: Final = 450
FOLDER: Final = Path(__file__).parent / "desks"
DESKS: Final = {"travel": travel, "warehouse": warehouse, "port": harbour.port, "pilots": harbour.pilots}
FILES: Final = {
    "travel": ["travel"],
    "warehouse": ["warehouse"],
    "port": ["port/models", "port/services", "port/berths", "port/yard", "port/main"],
    "pilots": ["pilots/pilotage", "pilots/agent"],
}
AUTHORS: Final = {"second": ["travel", "warehouse"], "third": ["port", "pilots"]}
STORES: Final = ("CUSTOMERS", "BOOKINGS", "SENT", "ORDERS", "PACKED", "VISITS", "WEIGHED", "JOBS", "OFFERS")
NO_WORD: Final = re.compile(
    r"\(.*?\)|[,:`]|\b(?:mcp__port__)?(?:berth_|yard_)|\b(?:a|all|and|each|every|in|is|of|or|phase|status|the|values?)\b"
)
RULE: Final = re.compile(r"# ([^:]+): ")
NO_TARGET: Final = " (no target)"
KINDS: Final = {str: "string", int: "integer", float: "number", list[str]: "array", NoneType: "null"}
COMMIT: Final = (
    "git init -q -b main",
    "git add .",
    "git -c user.name=a -c user.email=a@mail.example commit -qm tools",
)
INIT: Final = f"dartlab-coreloop init --confirm --owner @a --source git+https://git.example/c@{40 * '0'}"
IMPORT: Final = "dartlab-coreloop import ../chats.jsonl"
REFINE: Final = "dartlab-coreloop refine --since 2026-03-01 --json"
CAUSES: Final = {  # cause: desk, tool, the line that a reader of the source would write, weaker true lines
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
    "exactly one": (
        *("port", "find_visit", "Pass exactly one of ship and visit_id"),
        *("Never pass ship and visit_id together", "Pass at least one of ship and visit_id"),
    ),
    "sign": ("port", "request_berth", "berth: begins with #"),
    "time of day": ("port", "request_berth", "arrives: as HH:MM"),
    "kept state": ("port", "extend_stay", "visit_id: only while phase is moored"),
    "quiet bound": ("port", "order_shore_power", "kilowatts: at most 750"),
    "category in a list": ("port", "plan_handling", "gear: one of crane, forklift, stacker, straddle"),
    "folder": (
        *("port", "export_manifest", "path: below /srv/port/manifests"),
        *("path: begins with /srv/port/manifests", "path: an absolute path"),
    ),
    "weighed first": ("port", "load_container", "Call weigh_container first (same container)"),
    "from a result": (
        *("pilots", "accept_offer", "offer_id: from list_offers().offers[].offer_id"),
        "Call list_offers first (same job_id)",
    ),
    "at least one": ("pilots", "alert_crew", "Pass at least one of channel and phone"),
    "whole": ("pilots", "order_tugs", "tugs: a whole number"),
    "upper": ("pilots", "report_flag", "flag: in upper case"),
    "not both": ("pilots", "bill_job", "Never pass account and voucher together"),
}
Line = tuple[str, str]  # a tool, and a clause of a line about it


class FastMCP(dict[str, Any]):
    """What a port's server has of FastMCP, which is not installed here: its tools by name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def tool(self, function: Any) -> Any:
        self[function.__name__] = function
        return function

    def mount(self, server: "FastMCP", namespace: str) -> None:
        self.update({f"{namespace}_{name}": function for name, function in server.items()})


sys.modules["fastmcp"] = ModuleType("fastmcp")
sys.modules["fastmcp"].FastMCP = FastMCP


def sources_of(desk: str, causes: Sequence[str]) -> dict[str, str]:
    """The desk's files, as a project has them, with the rules of these causes."""

    def uncomment(found: re.Match[str]) -> str:
        return "" if found[1] in causes else found[0]

    files = {}
    for name in FILES[desk]:
        lines = (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()[2:]
        planted = [RULE.sub(uncomment, line).partition("  # noqa")[0] for line in lines]
        kept = "\n".join(line for line in planted if not line.lstrip().startswith("#"))
        files[f"{Path(name).name}.py"] = f"{kept}\n"
    return files


def load(desk: str, causes: Sequence[str], seed: int) -> tuple[ModuleType, list[ModuleType]]:
    """The tools with their customers and what is theirs, in one module, and the modules of the project."""
    tools, modules = ModuleType("tools"), []
    for file, source in sources_of(desk, causes).items():
        name = file.removesuffix(".py")
        sys.modules[name] = module = ModuleType(name)
        exec(source, module.__dict__)  # the benchmark's own text
        tools.__dict__.update(vars(module))
        modules.append(module)
    tools.__dict__.update(tools.__dict__.get("main", {}))
    (harbour.fill if desk in AUTHORS["third"] else fill)(tools, random.Random(seed))
    return tools, modules


def fill(module: ModuleType, rng: random.Random) -> None:
    """Give a travel desk or a warehouse 150 customers."""
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


def chats(desk: str, causes: Sequence[str], *, rate: float, seed: int) -> Iterator[dict[str, Any]]:
    """A log of three weeks in the OpenAI chat format; of calls against the rule, `rate` fail."""
    rng = random.Random(f"{desk} {'+'.join(causes) or None} {rate} {seed}")
    (strict, _), (lenient, modules) = (load(desk, rules, seed) for rules in (causes, ()))
    for module, name in product((lenient, *modules), STORES):
        if hasattr(module, name):
            setattr(module, name, getattr(strict, name))
    start = datetime(2026, 3, 2, 8, tzinfo=UTC)
    for number in range(REQUESTS):
        agent = Agent(rng, strict, lenient, rate)
        if desk == "port":
            agent.failed = "Error calling tool '{}': {}"
            agent.prefix = prefix(desk, seed)
        question = DESKS[desk](agent)
        answer = {"role": "assistant", "content": f"That is what I could do for you. {words(rng, 5, 30)}"}
        messages = [{"role": "user", "content": question}, *agent.messages, answer]
        reward = float(not agent.lost and rng.random() < 0.95)
        ts = (start + timedelta(minutes=67 * number + rng.randrange(50))).isoformat()
        yield {"request_id": f"r{number}", "ts": ts, "model": "m-1", "reward": reward, "messages": messages}


def lines_of(desk: str, causes: Sequence[str], *, rate: float, seed: int) -> list[Line]:
    """What the walk of a new user says of a log."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        project.mkdir()
        for file, text in sources_of(desk, causes).items():
            (project / file).write_text(text, encoding="utf-8")
        run(project, *COMMIT)
        log = list(chats(desk, causes, rate=rate, seed=seed))
        if desk in AUTHORS["third"]:
            record(log, sent_tools(desk, seed), project / "data")
            run(project, INIT)
        else:
            Path(folder, "chats.jsonl").write_text("\n".join(map(json.dumps, log)), encoding="utf-8")
            run(project, INIT, IMPORT)
        refined = json.loads(run(project, REFINE))
    return [line for one in refined["statements"] for line in clauses_of(one)]


def run(project: Path, *commands: str) -> str:
    """What the last of these commands prints."""
    for command in commands:
        done = subprocess.run(command.split(), cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def record(log: Sequence[Mapping[str, Any]], sent: Sequence[SentTool], data_dir: Path) -> None:
    """Record a log of chats as an adapter reports them."""
    for chat in log:
        question, *messages, answer = chat["messages"]
        request = AdaptedRequest(question["content"], data_dir=data_dir)
        at_ns = int(datetime.fromisoformat(chat["ts"]).timestamp() * 1e9)
        request._clock_ns = partial(int, at_ns)
        request.sent(sent)
        for reply, result in zip(messages[::2], messages[1::2], strict=True):
            (call,), content = reply["tool_calls"], result["content"]
            request.replied(model=chat["model"])
            request.asked(call["id"], call["function"]["name"], call["function"]["arguments"])
            if content.startswith("Error"):
                request.answered(call["id"], error=content.removeprefix("Error: "))
            else:
                request.answered(call["id"], json.loads(content))
        request.end(answer=answer["content"])


def sent_tools(desk: str, seed: int) -> list[SentTool]:
    """The tools as a framework sends them to the model."""
    tools, _ = load(desk, (), seed)
    named = tools.main if desk == "port" else {tool.__name__: tool for tool in tools.agent.tools}
    return [SentTool(f"{prefix(desk, seed)}{name}", *sent(function)) for name, function in named.items()]


def prefix(desk: str, seed: int) -> str:
    """What a client puts before the names of an MCP server's tools: one in two does."""
    return "mcp__port__" if desk == "port" and seed % 2 == 0 else ""


def kinds_of(annotation: Any) -> str | list[str]:
    """The type of an argument in JSON, or the types of a union."""
    return KINDS.get(annotation) or [KINDS[kind] for kind in get_args(annotation)]


def sent(function: Any) -> tuple[str, Mapping[str, Any]]:
    """A tool's description and its schema."""
    wanted = inspect.signature(function).parameters.values()
    properties = {one.name: {"type": kinds_of(one.annotation)} for one in wanted}
    required = [one.name for one in wanted if one.default is one.empty]
    return inspect.getdoc(function) or "", {"type": "object", "properties": properties, "required": required}


def clauses_of(statement: Mapping[str, Any]) -> Iterator[Line]:
    """What a line says, clause by clause, and whether a proposal can come of it."""
    line, tool = (statement[name] or statement[f"untrusted_{name}"] for name in ("line", "tool"))
    name, colon, clauses = line.removeprefix("- ").partition(": ")
    for clause in clauses.split("; ") if colon else [""]:
        yield tool, f"{name}{colon}{clause}{'' if statement['suggested_append'] else NO_TARGET}"


def score(causes: Sequence[str], lines: list[Line]) -> tuple[list[str], list[Line]]:
    """The causes whose line is proposed, and the lines that are not true of the source."""
    right = {cause: [(CAUSES[cause][1], words_of(line)) for line in CAUSES[cause][2:]] for cause in causes}
    said = [(words_of(name)[0], words_of(clause)) for name, clause in lines]
    proposed = [one for one, (_, clause) in zip(said, lines, strict=True) if not clause.endswith(NO_TARGET)]
    true = [one for ones in right.values() for one in ones]
    false = [line for line, one in zip(lines, said, strict=True) if one not in true]
    return [cause for cause in causes if right[cause][0] in proposed], false


def words_of(line: str) -> list[str]:
    """The words that say something, in any order."""
    return sorted(word.rstrip("/") for word in NO_WORD.sub(" ", line).split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--causes", nargs="*", choices=list(CAUSES), default=list(CAUSES))
    parser.add_argument("--together", action="store_true", help="all rules of a desk in one log")
    options = parser.parse_args()

    for seed, rate, (author, desks) in product(options.seeds, (1.0, 0.9), AUTHORS.items()):
        causes = [cause for cause in options.causes if CAUSES[cause][0] in desks]
        if not causes:
            continue
        logs = [[cause] for cause in causes]
        if options.together:
            logs = [[one for one in causes if CAUSES[one][0] == desk] for desk in desks]
        missed, n_false = [], 0
        for planted in filter(None, logs):
            desk = CAUSES[planted[0]][0]
            lines = lines_of(desk, planted, rate=rate, seed=seed)
            found, false = score(planted, lines)
            missed += [cause for cause in planted if cause not in found]
            n_false += len(false)
            if false or len(found) < len(planted):
                print(f"  {', '.join(planted)}: found {found}, all {lines}, false {false}")
        print(
            f"seed {seed}, {rate:.0%} of the calls against the rule fail, {author} author: "
            f"{len(causes) - len(missed)} of {len(causes)} found, {n_false} false lines, "
            f"missed: {', '.join(missed) or 'none'}",
            flush=True,
        )
    for seed, desk in product(options.seeds, DESKS):
        seeds = range(1000 * seed, 1000 * seed + 10)
        logs = [lines_of(desk, (), rate=1.0, seed=one) for one in seeds]
        said = [lines for lines in logs if lines]
        print(
            f"seed {seed}, {desk}, no cause: {len(said)} of {len(logs)} logs have a line", *said, flush=True
        )


if __name__ == "__main__":
    main()
