"""The gate that a pattern must pass."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Least figures of a candidate; see `coreloop.project.settings.Gates` for the defaults."""

    min_repeat: int = 3
    min_unique_questions: int = 3
    min_success_rate: float = 1.0
