"""Phase O (observe): record an agent's requests in the audit log."""

from coreloop.observe.collector import AuditCollector, current
from coreloop.observe.decorator import observed_tool
from coreloop.observe.drops import dropped

__all__ = ["AuditCollector", "current", "dropped", "observed_tool"]
