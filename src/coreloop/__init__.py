"""coreloop turns the real use of an LLM agent into better docstrings for the agent's tools.

>>> from coreloop import AuditCollector
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coreloop.answer.repair.feedback import feedback
    from coreloop.observe import AuditCollector, current, dropped, observed_tool
    from coreloop.observe.adapters.attach import attach

__all__ = ["AuditCollector", "attach", "current", "dropped", "feedback", "observed_tool"]
__version__ = "0.4.0"


def __getattr__(name: str) -> Any:
    """Import on first access: the commands do not need the collector, and servers not the rest."""
    if name not in __all__:
        raise AttributeError(f"module 'coreloop' has no attribute {name!r}")
    if name == "feedback":
        from coreloop.answer.repair.feedback import feedback

        return feedback
    if name == "attach":
        from coreloop.observe.adapters.attach import attach

        return attach
    from coreloop import observe

    return getattr(observe, name)
