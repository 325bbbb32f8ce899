"""Tools of the container yard."""

from fastmcp import FastMCP
from services import YardService

yard = FastMCP("yard")
service = YardService()


@yard.tool
def plan_handling(visit_id: str, gear: list[str]) -> dict:
    """Plan the gear that unloads a ship."""
    return service.plan_handling(visit_id, gear)


@yard.tool
def export_manifest(visit_id: str, path: str) -> dict:
    """Write a ship's manifest to a file."""
    return service.export_manifest(visit_id, path)


@yard.tool
def weigh_container(container: str) -> dict:
    """Weigh a container."""
    return service.weigh_container(container)


@yard.tool
def load_container(container: str, bay: int) -> dict:
    """Load a container into a bay of the ship."""
    return service.load_container(container, bay)
