"""The port's services, which decide what is allowed."""

from dataclasses import asdict
from datetime import datetime  # noqa: F401
from pathlib import PurePosixPath

from models import Gear, Phase, Visit  # noqa: F401

VISITS: dict[str, Visit] = {}
WEIGHED: set[str] = set()
MANIFESTS = PurePosixPath("/srv/port/manifests")
QUAY_KW = 750


def visit_of(visit_id: str) -> Visit:
    if visit_id not in VISITS:
        raise LookupError(f"no visit {visit_id}")
    return VISITS[visit_id]


class BerthService:
    def list_visits(self, agency: str) -> dict:
        return {"visits": [visit.visit_id for visit in VISITS.values() if visit.agency == agency]}

    def find_visit(self, visit_id: str | None, ship: str | None) -> dict:
        # exactly one: if (visit_id is None) == (ship is None): raise ValueError("invalid request")
        if visit_id is not None:
            return asdict(visit_of(visit_id))
        return next((asdict(visit) for visit in VISITS.values() if visit.ship == ship), {})

    def request_berth(self, visit_id: str, berth: str, arrives: str) -> dict:
        visit = visit_of(visit_id)
        # sign: if not berth.startswith("#"): raise LookupError(f"{berth} is not on the plan")
        # time of day: datetime.strptime(arrives, "%H:%M")
        return {"visit_id": visit.visit_id, "berth": berth, "pilot_at": arrives}

    def extend_stay(self, visit_id: str, hours: int, note: str) -> dict:
        visit = visit_of(visit_id)
        # kept state: if visit.phase is not Phase.MOORED: raise ValueError("the stay cannot be changed")
        return {"visit_id": visit.visit_id, "hours": hours}

    def clear_visit(self, visit_id: str) -> dict:
        visit = visit_of(visit_id)
        visit.phase = Phase.CLEARED
        return asdict(visit)

    def order_shore_power(self, visit_id: str, kilowatts: int) -> dict:
        visit = visit_of(visit_id)
        # quiet bound: if kilowatts > QUAY_KW: raise ValueError(f"load of {kilowatts} kW not accepted")
        return {"visit_id": visit.visit_id, "cable": "C1" if kilowatts < 400 else "C2"}


class YardService:
    def plan_handling(self, visit_id: str, gear: list[str]) -> dict:
        visit = visit_of(visit_id)
        # category in a list: if not set(gear) <= set(Gear): raise ValueError("plan rejected")
        return {"visit_id": visit.visit_id, "slots": 2 * len(gear)}

    def export_manifest(self, visit_id: str, path: str) -> dict:
        visit = visit_of(visit_id)
        # folder: if not PurePosixPath(path).is_relative_to(MANIFESTS): raise OSError("access denied")
        return {"visit_id": visit.visit_id, "written": path}

    def weigh_container(self, container: str) -> dict:
        WEIGHED.add(container)
        return {"container": container, "mass_kg": 2_000 + 113 * len(WEIGHED)}

    def load_container(self, container: str, bay: int) -> dict:
        # weighed first: if container not in WEIGHED: raise ValueError(f"{container} is held at the gate")
        return {"container": container, "bay": bay}
