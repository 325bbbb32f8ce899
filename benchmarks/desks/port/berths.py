"""Tools of the berth office."""

from fastmcp import FastMCP
from services import BerthService

berths = FastMCP("berths")
service = BerthService()


@berths.tool
def list_visits(agency: str) -> dict:
    """List the visits that an agency announced."""
    return service.list_visits(agency)


@berths.tool
def find_visit(visit_id: str | None = None, ship: str | None = None) -> dict:
    """Find a visit by its number or by the ship's name."""
    return service.find_visit(visit_id, ship)


@berths.tool
def request_berth(visit_id: str, berth: str, arrives: str) -> dict:
    """Ask for a berth.

    Args:
        visit_id: The visit.
        berth: Where the ship wants to lie.
        arrives: When the ship is at the pilot station.
    """
    return service.request_berth(visit_id, berth, arrives)


@berths.tool
def extend_stay(visit_id: str, hours: int, note: str = "") -> dict:
    """Let a ship stay longer."""
    return service.extend_stay(visit_id, hours, note)


@berths.tool
def clear_visit(visit_id: str) -> dict:
    """Clear a ship for departure."""
    return service.clear_visit(visit_id)


@berths.tool
def order_shore_power(visit_id: str, kilowatts: int) -> dict:
    """Order power from the quay."""
    return service.order_shore_power(visit_id, kilowatts)
