"""The former name of the parser in `coreloop.learn.knowledge.audit_analysis`."""

from coreloop.learn.knowledge.audit_analysis import parse_all, parse_engine_improvement_bullets

__all__ = ["parse_all", "parse_engine_improvement_bullets"]
