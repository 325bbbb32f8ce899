"""Repair: a failed answer becomes signals, signals become actions, and the question is asked again.

>>> from coreloop.answer.repair import answer
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coreloop.answer.repair.run import answer

__all__ = ["answer"]


def __getattr__(name: str) -> Any:
    """Import the use case on first access: other modules of the package need little of it."""
    if name not in __all__:
        raise AttributeError(f"module 'coreloop.answer.repair' has no attribute {name!r}")
    from coreloop.answer.repair import run

    return getattr(run, name)
