"""Findings: confidence by independent origins, tags in their order."""

from coreloop.answer.research.findings import (
    CONTRADICTED,
    HIGH,
    LIKELY,
    UNCERTAIN,
    VERIFIED,
    Finding,
    Provenance,
    confidence_of,
    merged,
    rated,
    tag_of,
)
from rows import each_row


def evidence(*origins: str, kind: str = "web") -> list[Provenance]:
    return [Provenance(number=n, origin=origin, type=kind) for n, origin in enumerate(origins, 1)]


def finding(**fields: object) -> Finding:
    whole = {"text": "t", "sources": (1,), "confidence": 0.0, "tag": UNCERTAIN, "hypothesis_id": None}
    return Finding(**{**whole, "iteration": 1, **fields})


@each_row(
    ("origins", "confidence"),
    [((), 0.0), (("a",), 0.6), (("a", "a"), 0.6), (("a", "b"), 0.8), (("a", "b", "c"), 0.95), ("abcd", 0.95)],
    ids=["none", "one", "a copy counts once", "two", "three", "more"],
)
def test_confidence_grows_with_independent_origins(origins: tuple[str, ...], confidence: float):
    assert confidence_of(evidence(*origins)) == confidence


@each_row(
    ("given", "is_contradicted", "tag"),
    [
        (evidence("a", "b", "c"), True, CONTRADICTED),
        (evidence("a", "b"), False, VERIFIED),
        (evidence("a", "b", kind="paper"), False, VERIFIED),
        (evidence("a", kind="paper"), False, HIGH),
        (evidence("a"), False, LIKELY),
        ([], False, UNCERTAIN),
    ],
    ids=["contradicted first", "two origins", "verified before high", "primary", "one other", "none"],
)
def test_the_first_tag_that_applies_holds(given: list[Provenance], is_contradicted: bool, tag: str):
    assert tag_of(given, is_contradicted=is_contradicted) == tag
    assert rated(finding(), given, is_contradicted=is_contradicted).tag == tag


def test_the_same_sentence_of_two_sources_is_one_finding():
    both = merged(finding(answers=("q1",)), finding(sources=(1, 4), answers=("q2",), hypothesis_id="h1"))
    assert (both.sources, both.answers, both.hypothesis_id) == ((1, 4), ("q1", "q2"), "h1")
