"""The tools of the planned requests, as plain functions that every drive hands to its framework."""

ROOMS = [
    {"room_id": "os-fjord", "city": "Oslo", "seats": 8},
    {"room_id": "os-skog", "city": "Oslo", "seats": 4},
]


def rooms(city, seats):
    return {"rooms": [room for room in ROOMS if room["city"] == city and room["seats"] >= seats]}


def booking(room_id, hours):
    if hours > 24:
        raise ValueError("hours must be at most 24")
    return {"booking_id": "b-1001", "room_id": room_id, "hours": hours}


def cancelled(booking_id):
    if booking_id != "b-1001":
        return {"success": False, "error": "booking not found"}
    return {"success": True, "booking_id": booking_id}
