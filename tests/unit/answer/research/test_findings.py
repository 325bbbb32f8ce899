"""Findings: confidence by independent origins, tags in their order."""

from types import SimpleNamespace
from typing import Any

from coreloop.answer.research.believe import tag_of
from coreloop.answer.research.findings import (
    CONTRADICTED,
    HIGH,
    LIKELY,
    UNCERTAIN,
    VERIFIED,
)
from rows import each_row


def evidence(*origins: str, kind: str = "web") -> list[Any]:
    return [SimpleNamespace(origin=origin, type=kind) for origin in origins]


@each_row(
    ("given", "is_contradicted", "tag"),
    [
        (evidence("a", "b", "c"), True, CONTRADICTED),
        (evidence("a", "b", kind="paper"), False, VERIFIED),
        (evidence("a", kind="paper"), False, HIGH),
        (evidence("a"), False, LIKELY),
        ([], False, UNCERTAIN),
    ],
    ids=["contradicted first", "verified before high", "primary", "one other", "none"],
)
def test_the_first_tag_that_applies_holds(given: list[Any], is_contradicted: bool, tag: str):
    assert tag_of(given, is_contradicted=is_contradicted) == tag
