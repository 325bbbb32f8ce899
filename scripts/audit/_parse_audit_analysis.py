"""The parser of audit notes under the name that maintainers know."""

from coreloop.knowledge.audit_analysis import parse_all, parse_engine_improvement_bullets

__all__ = ["parse_all", "parse_engine_improvement_bullets"]
