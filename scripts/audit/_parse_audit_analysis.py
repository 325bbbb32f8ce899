"""The former name of the parser in `coreloop.knowledge.audit_analysis`."""

from coreloop.knowledge.audit_analysis import parse_all, parse_engine_improvement_bullets

__all__ = ["parse_all", "parse_engine_improvement_bullets"]
