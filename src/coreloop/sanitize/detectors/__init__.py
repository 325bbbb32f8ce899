"""All rules, selected by sign; patterns are compiled when the first text shows their sign."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from coreloop.sanitize.detectors import contact, national, numbers, persons, secrets
from coreloop.sanitize.detectors.rule import COUNTRIES, Country, OwnPattern, Rule, Sign, current

_EVERYWHERE: Final = (
    *secrets.RULES,
    *contact.CONTACT_RULES,
    *contact.NETWORK_RULES,
    *numbers.FINANCE_RULES,
    *contact.PHONES_RULES,
    *contact.PATHS_RULES,
    *persons.RULES,
    *contact.BIRTH_RULES,
)
_BY_COUNTRY: Final[dict[Country, tuple[Rule, ...]]] = {
    "kr": numbers.KR_RULES,
    "us": national.US_RULES,
    "uk": national.UK_RULES,
    "eu": national.EU_RULES,
}
Compiled = tuple[
    str,
    Callable[..., Iterator[re.Match[str]]],
    Callable[[re.Match[str]], bool] | None,
    Callable[..., re.Match[str] | None] | None,
]


@lru_cache(maxsize=16)
def chosen_rules(countries: tuple[Country, ...], own: tuple[OwnPattern, ...]) -> tuple[Rule, ...]:
    """Return the rules for some countries and the project's own patterns."""
    return (
        *_EVERYWHERE,
        *(rule for name in COUNTRIES if name in countries for rule in _BY_COUNTRY[name]),
        *(Rule(pattern.kind, pattern.pattern, Sign.OWN) for pattern in own),
    )


def rules_for(markers: int) -> tuple[Compiled, ...]:
    """Return the rules for some signs: kind, finditer, check, search of ``near``."""
    chosen = current()
    return _rules_for(markers, chosen.countries, chosen.own)


@lru_cache(maxsize=4096)
def _rules_for(
    markers: int, countries: tuple[Country, ...], own: tuple[OwnPattern, ...]
) -> tuple[Compiled, ...]:
    return tuple(_compiled(rule) for rule in chosen_rules(countries, own) if int(rule.sign) & markers)


@lru_cache(maxsize=512)
def _compiled(rule: Rule) -> Compiled:
    return (
        rule.kind,
        re.compile(rule.pattern).finditer,
        rule.check,
        re.compile(rule.near).search if rule.near else None,
    )
