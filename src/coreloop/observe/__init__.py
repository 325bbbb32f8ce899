"""Phase O: an agent's requests become lines of the audit log."""

from coreloop.observe.collector import AuditCollector, current, dropped, warm_up
from coreloop.observe.decorator import observed_tool

__all__ = ["AuditCollector", "current", "dropped", "observed_tool", "warm_up"]
