"""The agents of a port and of its pilots: two projects whose tools only call services, and their habits."""

import random
from types import ModuleType
from typing import Any, Final

from .agents import Agent, Chore, words

HEAVY: Final = "Nordvik Chartering"  # a fifth of the requests; half of its numbers are of another system
SHIPS: Final = ["Astrid", "Borealis", "Calypso", "Dagny", "Elbe Star", "Fjordlys", "Gudrun", "Havila"]
GEAR: Final = ["crane", "forklift", "stacker", "straddle"]
FLAGS: Final = ["NO", "DK", "PA", "LR", "MT", "KR"]


def fill(module: ModuleType, rng: random.Random) -> None:
    """Give the port 80 agencies with three visits each, or the pilots as many jobs."""
    for number in range(240):
        agency = HEAVY if number < 12 else f"Agency {'KLMN'[number // 3 % 4]}{number // 3}"
        ship = f"{rng.choice(SHIPS)} {number}"
        if hasattr(module, "VISITS"):
            key, phases = f"V-{5_000 + 13 * number}", list(module.Phase)
            module.VISITS[key] = module.Visit(key, ship, agency, rng.choice(phases[:2] + phases))
        else:
            key = f"J{3_000 + 11 * number}"
            module.JOBS[key] = {"job_id": key, "ship": ship, "agency": agency, "boat": rng.choice("PQR")}


def chosen(agent: Agent, things: list[Any]) -> tuple[Any, str, str]:
    """Whose request it is: a visit or a job, the number that is typed and its agency."""
    rng, heavy = agent.rng, agent.maybe(0.2)
    thing = rng.choice(things[:12] if heavy else things[12:])
    own = thing if isinstance(thing, dict) else vars(thing)
    number = next(iter(own.values()))
    return own, f"{rng.randrange(10**6)}" if agent.maybe(0.5 if heavy else 0.04) else number, own["agency"]


def port(agent: Agent) -> str:
    """A conversation of the port's office; returns the user's question."""
    rng = agent.rng
    visit, number, agency = chosen(agent, list(agent.strict.VISITS.values()))
    of_visit, ship = {"visit_id": number}, {"ship": visit["ship"]}
    hour, minute = rng.randrange(1, 24), rng.choice([0, 15, 30, 45])
    clock = {"arrives": f"{hour:02}:{minute:02}"}
    spoken = rng.choice(
        [f"{hour % 12 or 12} {'pm' if hour > 11 else 'am'}", f"{hour}h{minute:02}", f"{hour}"]
    )
    place = f"{rng.choice('ABCD')}{rng.randint(1, 14)}"
    power = {"kilowatts": rng.choice([*range(550, 751, 10)] if agency == HEAVY else [*range(80, 751, 10)])}
    gear = {"gear": rng.sample(GEAR, rng.randint(1, 3))}
    other_gear = [*gear["gear"], rng.choice(["grab", "conveyor", "tugmaster", "pump"])]
    file = f"{visit['ship'].replace(' ', '-').lower()}-{rng.randint(1, 28):02}.csv"
    box = {"container": f"MSKU{rng.randrange(10**6, 10**7)}"}
    loaded = box | {"bay": rng.randint(1, 40)}
    if agent.maybe(0.4):
        agent.call("berth_list_visits", agency=agency)
    if agent.maybe(0.8):
        plain = ship if agent.maybe(0.3) else of_visit
        passed = rng.choices([plain, of_visit | ship, {}], [8, 2, 1])[0]
        agent.call("berth_find_visit", lambda: agent.call("berth_find_visit", **plain), **passed)

    def weigh() -> object:
        return agent.call("yard_weigh_container", **box)

    def load() -> None:
        if agent.maybe(0.65):
            weigh()
        agent.call(
            "yard_load_container", lambda: (weigh(), agent.call("yard_load_container", **loaded)), **loaded
        )

    def stay() -> None:
        note = {"note": words(rng, 2, 9)} if agent.maybe(0.3) else {}
        agent.call("berth_extend_stay", **of_visit, hours=rng.choice([4, 6, 12, 24]), **note)
        if agent.maybe(0.15):
            agent.call("berth_clear_visit", **of_visit)

    chores: dict[str, Chore] = {
        "a berth, please|can she come alongside|where can we moor": lambda: agent.vary(
            "berth_request_berth", of_visit | clock | {"berth": f"#{place}"}, berth=place, arrives=spoken
        ),
        "we need to stay longer|engine repair takes more time|please extend": stay,
        "plug her in|generators have to be off tonight|we want shore power": lambda: agent.vary(
            "berth_order_shore_power", of_visit | power, kilowatts=rng.randrange(760, 1_600, 10)
        ),
        "unloading starts soon|book the gear|how do we get the cargo off": lambda: agent.vary(
            "yard_plan_handling", of_visit | gear, gear=other_gear
        ),
        "customs wants the papers|save the manifest|a list of the cargo": lambda: agent.vary(
            "yard_export_manifest",
            of_visit | {"path": f"/srv/port/manifests/{file}"},
            path=rng.choice(["/tmp/", "/srv/port/", "manifests/", "/home/office/"]) + file,
        ),
        "one box is still ashore|load my container|the reefer must go on board": load,
    }
    return asked(agent, chores, f"{agency} about {rng.choice([visit['ship'], number])}")


def pilots(agent: Agent) -> str:
    """A conversation of the pilots' desk; returns the user's question."""
    rng = agent.rng
    job, number, agency = chosen(agent, list(agent.strict.JOBS.values()))
    of_job, account = {"job_id": number}, {"account": f"AC{rng.randrange(10**4, 10**5)}"}
    voucher = {"voucher": f"{rng.randrange(10**5, 10**6)}"}
    phone, channel = {"phone": f"+47{rng.randrange(10**7, 10**8)}"}, {"channel": rng.choice([8, 12, 16, 71])}
    tugs, flag = rng.randint(1, 4), rng.choice(FLAGS)
    if agent.maybe(0.7):
        agent.call("show_job", **of_job)

    def accept() -> None:
        offers = agent.call("list_offers", **of_job)
        if offers:
            agent.call("accept_offer", **of_job, offer_id=rng.choice(offers["offers"])["offer_id"])

    def engage() -> None:
        if agent.maybe(0.7):
            accept()
            return
        if agent.maybe(0.3):
            agent.call("list_offers", **of_job)
        agent.call("accept_offer", accept, **of_job, offer_id=f"{job['boat']}{rng.randrange(10**3, 10**4)}")

    def alert() -> None:
        known = rng.choice([phone, channel, phone | channel])
        passed = of_job | ({} if agent.maybe(0.25) else known)
        agent.call("alert_crew", lambda: agent.call("alert_crew", **of_job, **known), **passed)

    def bill() -> None:
        one = rng.choice([account, voucher, {}])
        passed = of_job | (account | voucher if agent.maybe(0.25) else one)
        agent.call("bill_job", lambda: agent.call("bill_job", **of_job, **one), **passed)

    chores: dict[str, Chore] = {
        "a pilot for tonight|who can bring her in|take the first offer": engage,
        "wake the crew|tell them to be ready|ring the bridge": alert,
        "wind is picking up, tugs please|we need help at the bend|order tugs": lambda: agent.vary(
            "order_tugs", of_job | {"tugs": tugs}, tugs=tugs + 0.5
        ),
        "which papers does she sail under|report her flag|authorities ask for the state": lambda: agent.vary(
            "report_flag", of_job | {"flag": flag}, flag=rng.choice([flag.lower(), flag.capitalize()])
        ),
        "settle it|send us the invoice|who pays": bill,
    }
    return asked(agent, chores, f"{agency} about {rng.choice([job['ship'], number])}")


def asked(agent: Agent, chores: dict[str, Chore], opening: str) -> str:
    """Do one to three chores; returns the question, in one of the ways that people put it."""
    wanted = agent.rng.sample(sorted(chores), agent.rng.choice([1, 1, 2, 3]))
    for chore in wanted:
        chores[chore]()
    said = [agent.rng.choice(chore.split("|")) for chore in wanted]
    return f"{opening}: {agent.rng.choice([' and ', '; ', ', then ']).join(said)}"
