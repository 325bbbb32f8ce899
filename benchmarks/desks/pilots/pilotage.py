"""The pilots' roster, which decides what is allowed."""

from itertools import count

JOBS: dict[str, dict] = {}
OFFERS: dict[str, dict] = {}


class Pilotage:
    def __init__(self) -> None:
        self._numbers = count(4_000, 7)

    def show_job(self, job_id: str) -> dict:
        if job_id not in JOBS:
            raise LookupError(f"job {job_id} not found")
        return JOBS[job_id]

    def list_offers(self, job_id: str) -> dict:
        job = self.show_job(job_id)
        offers = [
            {"offer_id": f"{job['boat']}{next(self._numbers)}", "pilot": name, "fee": 310 + 40 * len(name)}
            for name in ("Haug", "Lindqvist")
        ]
        OFFERS.update({offer["offer_id"]: offer for offer in offers})
        return {"offers": offers}

    def accept_offer(self, job_id: str, offer_id: str) -> dict:
        self.show_job(job_id)
        # from a result: if offer_id not in OFFERS: raise LookupError("this cannot be accepted")
        return {"job_id": job_id, "accepted": offer_id}

    def alert_crew(self, job_id: str, phone: str | None, channel: int | None) -> dict:
        self.show_job(job_id)
        # at least one: if not phone and not channel: raise ValueError("invalid request")
        return {"job_id": job_id, "alerted": True}

    def order_tugs(self, job_id: str, tugs: float) -> dict:
        self.show_job(job_id)
        # whole: if tugs != int(tugs): raise ValueError(f"the roster has no {tugs} tugs")
        return {"job_id": job_id, "tugs": tugs}

    def report_flag(self, job_id: str, flag: str) -> dict:
        self.show_job(job_id)
        # upper: if flag != flag.upper(): raise ValueError("the registry did not take the query")
        return {"job_id": job_id, "flag": flag}

    def bill_job(self, job_id: str, account: str | None, voucher: str | None) -> dict:
        self.show_job(job_id)
        # not both: if account and voucher: raise ValueError("billing refused")
        return {"job_id": job_id, "billed": True}
