"""Values: `one of` is said only where the source lists them, or where all that were tried worked."""

from coreloop.learn.statements.kinds import VALUE, KeyTally, Known, hash_of

TEXTS = ("low", "high", "urgent")
WORKED, FAILED = KeyTally(30, 31), KeyTally(0, 12)


def _lines(tallies: dict[str, KeyTally], *lists: tuple[str, ...]) -> list[str]:
    known = Known(
        texts={hash_of(text): text for text in TEXTS},
        listed=lambda _: frozenset(map(frozenset, lists)),
        numbers=frozenset(),
        tools=frozenset(),
    )
    keys = {("hash", hash_of(text)): tally for text, tally in tallies.items()}
    return [str(line) for line in VALUE.candidates(("priority",), keys, known) if line.form == "one_of"]


def test_a_list_of_the_source_is_said_with_values_that_nobody_tried():
    tallies = {"low": WORKED, "asap": FAILED}
    assert _lines(tallies, ("low", "high")) == ["- priority: one of high, low"]


def test_without_a_list_values_are_said_that_all_worked():
    tallies = {"low": WORKED, "high": WORKED, "asap": FAILED}
    assert _lines(tallies) == ["- priority: one of high, low"]


def test_a_value_of_the_source_that_fails_or_another_that_works_keeps_it_back():
    assert _lines({"low": WORKED, "high": WORKED, "urgent": FAILED}) == []
    assert _lines({"low": WORKED, "high": WORKED, "asap": WORKED}) == []
    assert _lines({"low": WORKED, "asap": FAILED}) == []
