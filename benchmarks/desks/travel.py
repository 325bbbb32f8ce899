"""A travel desk's tools; a comment `cause: rule` is code in the log that plants the cause."""

from datetime import date  # noqa: F401 - the rules of independent_causes.py call it

CUSTOMERS, BOOKINGS, SENT = {}, {}, []


def find_customer(email: str) -> dict:
    """Find a customer by e-mail address."""
    return next(customer for customer in CUSTOMERS.values() if customer["email"] == email)


def get_booking(booking_id: str) -> dict:
    """Show a booking."""
    return BOOKINGS[booking_id]


def search_trips(customer_id: str, since: str, until: str, limit: int = 20) -> dict:
    """List a customer's trips in a period."""
    # a < b: if date.fromisoformat(since) >= date.fromisoformat(until): raise ValueError("no period")
    # bound: if limit > 50: raise ValueError("page too large")
    return {
        "trips": [
            booking["booking_id"] for booking in BOOKINGS.values() if booking["customer_id"] == customer_id
        ]
    }


def quote_fare(origin: str, destination: str, departs: str, cabin: str = "economy") -> dict:
    """Quote the fare of a flight."""
    # date format: date.fromisoformat(departs)
    # enum: if cabin not in ("economy", "premium", "business"): raise ValueError("fare class unknown")
    return {"fare": 90 + len(origin + destination) * 17, "currency": "EUR"}


def cancel_booking(booking_id: str, reason: str) -> dict:
    """Cancel a booking and note why."""
    booking = BOOKINGS[booking_id]
    # state: if booking["status"] != "held": raise ValueError("this booking cannot be cancelled")
    return {"booking_id": booking_id, "refund": booking["price"]}


def hold_seats(booking_id: str, seats: list[str]) -> dict:
    """Hold seats for the travellers of a booking."""
    # list size: if len(seats) > 4: raise ValueError("seat map refused the hold")
    return {"booking_id": booking_id, "held": len(seats)}


def upgrade_booking(booking_id: str, cabin: str, voucher: str | None = None) -> dict:
    """Upgrade a booking to another cabin, if wanted with a voucher."""
    # absence: if voucher is not None: raise ValueError("upgrade rejected by the fare rules")
    return {"booking_id": booking_id, "cabin": cabin}


def add_remark(booking_id: str, remark: str) -> dict:
    """Add a remark that the crew sees."""
    # null text: if remark.lower() in ("null", "none"): raise ValueError("remark rejected")
    return {"booking_id": booking_id, "saved": True}


def send_sms(customer_id: str, text: str) -> dict:
    """Send a text message to a customer."""
    # text length: if len(text) > 160: raise ValueError("carrier refused the message")
    # too many calls: if len(SENT) >= 3: raise ValueError("carrier refused the message")
    SENT.append(text)
    return {"sent": True}
