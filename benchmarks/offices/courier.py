"""The tools of a parcel courier's service desk."""

from datetime import date

SERVICES = ("eco", "plus", "sprint")
KINDS = ("wet", "crushed", "opened", "missing")
COUNTRIES = ("NO", "PT", "AT", "IE", "IT", "BE", "SE", "PL")
CITIES = ("Oslo", "Bergen", "Lisbon", "Porto", "Vienna", "Graz", "Dublin", "Cork")
VANS = ("north", "harbour", "old town", "station", "airport")
PARTNERS = ("Swiftpost", "Norda", "Blue Stork", "Kestrel")


def quote_parcel(city: str, kg: float, service: str) -> dict:
    """Quote the price of a parcel to a city."""
    if service not in SERVICES:
        raise ValueError(f"no tariff for service {service!r}")
    return {"price": round((4 + kg) * (1 + SERVICES.index(service)), 2), "currency": "EUR"}


def book_pickup(customer: str, day: str) -> dict:
    """Book a courier who picks up parcels at a customer's door."""
    if len(day) != 10 or day[4] != "-" or day[7] != "-":
        raise ValueError("invalid day")
    date.fromisoformat(day)
    return {"booked": day}


def report_damage(parcel: str, kind: str) -> dict:
    """Report what happened to a parcel."""
    if kind not in KINDS:
        raise ValueError(f"unknown kind of damage: {kind!r}")
    return {"report": "open"}


def stop_delivery(parcel: str) -> dict:
    """Stop a parcel on its way."""
    if not parcel.startswith("NL-"):
        raise LookupError(f"parcel {parcel!r} not found")
    return {"stopped": parcel}


def hold_parcel(parcel: str, days: int) -> dict:
    """Keep a parcel at the depot for some days."""
    if days > 14:
        raise ValueError("the depot cannot hold it so long")
    return {"held": days}


def refund_postage(parcel: str, amount: float, reason: str = "") -> dict:
    """Pay postage back to the sender."""
    if not reason:
        raise ValueError("rejected by accounting: incomplete")
    return {"refunded": amount}


def reserve_van(van_size: str, hour: str) -> dict:
    """Reserve a van for a colleague."""
    if len(hour) != 5 or hour[2] != ":":
        raise ValueError(f"no such time: {hour}")
    return {"reserved": hour}


def list_customs_papers(country: str) -> dict:
    """The customs papers that a parcel to a country needs."""
    if country not in COUNTRIES:
        raise KeyError(country)
    return {"papers": ["CN22"]}


def opening_hours(city: str) -> dict:
    """The opening hours of the parcel shop in a city."""
    if city not in CITIES:
        raise LookupError(f"no shop in {city!r}")
    return {"open": "09:00-18:00"}


def where_is_van(tour: str) -> dict:
    """Where the van of a tour is now."""
    if tour not in VANS:
        raise LookupError(f"tour {tour!r} has no van today")
    return {"at": "depot"}


def partner_phone(partner: str) -> dict:
    """The phone number of a partner who delivers abroad."""
    if partner not in PARTNERS:
        raise LookupError(f"unknown partner {partner!r}")
    return {"phone": "+31 20 555 0100"}


TOOLS = [
    *(quote_parcel, book_pickup, report_damage, stop_delivery, hold_parcel, refund_postage, reserve_van),
    *(list_customs_papers, opening_hours, where_is_van, partner_phone),
]
