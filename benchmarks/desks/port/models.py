"""What the port keeps."""

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    ANNOUNCED = "announced"
    MOORED = "moored"
    CLEARED = "cleared"


class Gear(StrEnum):
    CRANE = "crane"
    FORKLIFT = "forklift"
    STACKER = "stacker"
    STRADDLE = "straddle"


@dataclass
class Visit:
    visit_id: str
    ship: str
    agency: str
    phase: Phase
