"""Phase O: an agent's requests become lines of the audit log."""

from coreloop.observe.collector import AuditCollector, current, warm_up
from coreloop.observe.decorator import observed_tool
from coreloop.observe.drops import dropped

__all__ = ["AuditCollector", "current", "dropped", "observed_tool", "warm_up"]
