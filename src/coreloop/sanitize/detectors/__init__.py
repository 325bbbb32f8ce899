"""All rules, selected by sign; patterns are compiled when the first text shows their sign."""

import re
from functools import lru_cache
from typing import Final

from coreloop.sanitize.detectors import contact, finance, korean_ids, network, paths, persons, phones, secrets
from coreloop.sanitize.detectors.rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    *secrets.RULES,
    *contact.RULES,
    *network.RULES,
    *korean_ids.RULES,
    *finance.RULES,
    *phones.RULES,
    *paths.RULES,
    *persons.RULES,
)
Compiled = tuple[Rule, re.Pattern[str], re.Pattern[str] | None]


@lru_cache(maxsize=1024)
def rules_for(signs: int, *, joins: bool = False) -> tuple[Compiled, ...]:
    """Return the rules for some signs, each with its compiled pattern and ``near`` pattern."""
    rules = (rule for rule in RULES if rule.sign & signs and (rule.joins or not joins))
    return tuple(
        (rule, _compiled(rule.pattern), _compiled(rule.near) if rule.near else None) for rule in rules
    )


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
