"""The tools of a medical clinic's front desk."""

import itertools
import re

KINDS = ("intake", "review", "acute", "recall", "minor")
CONTRACTS = [
    *("helvor health", "norda mutual", "alpenkasse", "bluefern", "citadel care", "mariner insurance"),
    *("tellus life", "vita nova", "castor group", "linden fund", "orbis health", "pelican mutual"),
]
VACCINES = [
    *("tetanus", "influenza", "hepatitis a", "hepatitis b", "hpv", "pneumococcal", "polio", "measles"),
    *("typhoid", "meningococcal", "whooping cough"),
]
SOLD_OUT = ["rabies", "shingles", "tick-borne encephalitis"]
CLINICIANS = [
    *("nkechi okafor", "lars brandt", "yuki tanabe", "marta ruiz", "simon hale", "ewa lis", "omar haddad"),
    *("clara voss", "priya nair", "tom askew", "ines faria"),
]
ON_LEAVE = ["goran petrov", "ruth amsel"]
_number = itertools.count(5101)
_checked = {"insurer": None}


def book_visit(patient: str, day: str, kind: str) -> dict:
    """Book a patient's visit with a clinician on a day."""
    if kind not in KINDS:
        raise ValueError(f"unknown kind: {kind!r}")
    return {"visit": next(_number), "patient": patient, "day": day, "kind": kind}


def open_chart(record: str) -> dict:
    """Open the chart with a record number."""
    if not re.fullmatch(r"HC-\d{6}", str(record)):
        raise LookupError("no such record")
    return {"record": record, "allergies": "none noted", "last_visit": "2025-10-14"}


def free_times(clinician: str, days: int) -> dict:
    """List the open times of a clinician over the coming days."""
    if not 1 <= int(days) <= 14:
        raise ValueError("bad range")
    return {"clinician": clinician, "days": int(days), "open": ["Tue 10:20", "Wed 09:00"]}


def reserve_room(room: str, day: str, start: str) -> dict:
    """Reserve a treatment room from a start time."""
    if not re.fullmatch(r"(0[789]|1\d)h[0-5]\d", str(start)):
        raise ValueError("invalid start")
    return {"room": room, "day": day, "start": start, "minutes": 30}


def issue_invoice(patient: str, service: str, amount: int) -> dict:
    """Issue an invoice to a patient for a service."""
    if float(amount) % 1 or not 1000 <= float(amount) <= 90000:
        raise ValueError(f"amount not accepted: {amount}")
    return {"invoice": f"26-{next(_number)}", "patient": patient, "service": service, "amount": int(amount)}


def message_patient(patient: str, text: str, initials: str = "") -> dict:
    """Send a text message to a patient."""
    if not str(initials or "").strip():
        raise PermissionError("message refused")
    return {"sent": True, "patient": patient}


def take_payment(invoice: str, method: str, amount: float = 0.0) -> dict:
    """Take the payment of an invoice."""
    if amount:
        raise RuntimeError("payment declined by ledger (code 41)")
    return {"invoice": invoice, "method": method, "receipt": next(_number)}


def file_claim(invoice: str, insurer: str) -> dict:
    """File an invoice as a claim with an insurer."""
    if _checked["insurer"] != insurer.strip().lower():
        raise RuntimeError("claim rejected")
    _checked["insurer"] = None
    return {"claim": next(_number), "invoice": invoice, "insurer": insurer}


def check_coverage(insurer: str) -> dict:
    """Check the percentage that an insurer covers at this clinic."""
    _checked["insurer"] = None
    if insurer.strip().lower() not in CONTRACTS:
        raise LookupError(f"no contract with {insurer}")
    _checked["insurer"] = insurer.strip().lower()
    return {"insurer": insurer, "covers_percent": 80}


def vaccine_stock(vaccine: str) -> dict:
    """Count the doses of a vaccine in the fridge."""
    name = vaccine.strip().lower()
    if name not in VACCINES:
        raise LookupError(f"{vaccine}: {'out of stock' if name in SOLD_OUT else 'not kept here'}")
    return {"vaccine": vaccine, "doses": 9}


def clinician_hours(name: str) -> dict:
    """Tell the weekly consulting hours of a clinician."""
    clinician = name.strip().lower()
    if clinician not in CLINICIANS:
        raise LookupError(f"{name} is on leave" if clinician in ON_LEAVE else f"no clinician called {name}")
    return {"name": name, "hours": "Mon-Thu 8-14"}


TOOLS = [
    *(book_visit, open_chart, free_times, reserve_room, issue_invoice, message_patient, take_payment),
    *(file_claim, check_coverage, vaccine_stock, clinician_hours),
]
