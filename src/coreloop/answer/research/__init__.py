"""Research: a question becomes searches, findings and an answer whose every sentence has a source.

>>> from coreloop.answer.research import run_research
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coreloop.answer.research.run import run_research

__all__ = ["run_research"]


def __getattr__(name: str) -> Any:
    """Import the use case on first access: other modules of the package need little of it."""
    if name not in __all__:
        raise AttributeError(f"module 'coreloop.answer.research' has no attribute {name!r}")
    from coreloop.answer.research import run

    return getattr(run, name)
