"""Repair: a failed answer becomes signals, signals become actions, and the question is asked again.

>>> from coreloop.answer.repair import answer
"""

from typing import TYPE_CHECKING, Any

from coreloop.base.messages import Phrase

if TYPE_CHECKING:
    from coreloop.answer.repair.run import answer

__all__ = ["answer"]


def __getattr__(name: str) -> Any:
    """Import the use case on first access: other modules of the package need little of it."""
    if name not in __all__:
        raise AttributeError(Phrase("module 'coreloop.answer.repair' has no attribute {name!r}", name=name))
    from coreloop.answer.repair import run

    return getattr(run, name)
