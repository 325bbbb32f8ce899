"""The scorer can tell: nothing done, everything taken, and the one right answer."""

import random
import re
from typing import Any

import pytest

from planted import Planted, Score, planted_records, score
from planted.broken import LINES
from planted.disguise import DISGUISES
from planted.fold import folded, survives
from planted.money import NAMES
from planted.place import CODES, NUMBER_KEYS, SECRETS, TEXTS
from planted.records import without
from planted.value import Core
from rows import each_row

SEED = 20260425


@pytest.fixture(scope="module")
def planted() -> list[Planted]:
    return planted_records(SEED, companies=NAMES)


def scored(planted: list[Planted], sanitize: Any) -> Score:
    return score(planted, {one.number: sanitize(one) for one in planted})


def emptied(value: Any) -> Any:
    """Every string and every number taken away."""
    if isinstance(value, dict):
        return {f"k{place}": emptied(item) for place, item in enumerate(value.values())}
    return [emptied(item) for item in value] if isinstance(value, list) else None


@pytest.mark.slow
def test_a_sanitizer_that_does_nothing_leaks_everything_and_changes_nothing(planted: list[Planted]) -> None:
    found = scored(planted, lambda one: one.record)
    assert (found.leak_rate, found.false_positive_rate) == (1, 0), found


@pytest.mark.slow
def test_a_sanitizer_that_takes_every_text_leaks_nothing_and_changes_every_look_alike(
    planted: list[Planted],
) -> None:
    found = scored(planted, lambda one: emptied(one.record))
    assert (found.leak_rate, found.false_positive_rate) == (0, 1), found


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 5])
def test_a_perfect_sanitizer_scores_nothing(planted: list[Planted], every: int) -> None:
    planted = planted[::every]
    found = scored(planted, lambda one: without(one.record, one.written) if one.written else one.record)
    assert (found.leak_rate, found.false_positive_rate, found.lost) == (0, 0, ()), found


def test_a_record_that_does_not_come_out_is_lost_and_not_clean(planted: list[Planted]) -> None:
    found = score(planted[:10], {})
    assert found.lost == tuple(one.number for one in planted[:10])


def test_every_kind_is_in_every_place_and_every_disguise_is_used(planted: list[Planted]) -> None:
    plain = {(one.kind, one.place) for one in planted if one.disguise == "plain"}
    kinds = {kind for kind, _ in plain} - {"opaque"}
    assert len(kinds) >= 37
    assert {(kind, place) for kind in kinds for place in TEXTS} <= plain
    assert {one.disguise for one in planted} == {*DISGUISES, "NFD", "plain", ""}
    assert {one.place for one in planted} == {
        *(*TEXTS, *SECRETS, "number", ""),
        *(f"code as {place}" for place in CODES),
    }
    assert {one.kind for one in planted if one.place == "number"} == set(NUMBER_KEYS)


@pytest.mark.slow
def test_one_seed_gives_the_same_records_and_another_gives_others() -> None:
    first, again, other = (planted_records(seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len({one.written for one in first} & {one.written for one in other}) < len(first) / 100


@each_row("name", DISGUISES)
def test_a_reader_undoes_every_disguise(name: str) -> None:
    text = "minsu.kim83@a.kr AKIA7QX2 010-2345-6789"
    shown = DISGUISES[name](random.Random(3), text)
    assert shown != text
    if name not in {"base64", "spelled"}:
        assert survives(Core(text), {"question": shown})


# what is left of a value -> whether it counts
PARTS = [
    pytest.param(Core("4539148803436467", 10), "4539-14**-****-6467", False, id="a receipt's card"),
    pytest.param(Core("4539148803436467", 10), "4539 1488 0343 ****", True, id="twelve digits of a card"),
    pytest.param(Core("8504021234567", 7), "850402-*******", False, id="a birthday"),
    pytest.param(Core("8504021234567", 7), "850402-1******", True, id="a birthday and the digit after it"),
    pytest.param(Core("23456789", 7), "010-2345-****", False, id="half of a phone"),
    pytest.param(Core("23456789", 7), "010-2345-678*", True, id="all but one digit of a phone"),
    pytest.param(Core("minsu.kim83"), "[EMAIL]@naver.com", False, id="a domain"),
    pytest.param(Core("minsu.kim83"), "minsu.kim83 [at] [HOST]", True, id="a local part"),
    pytest.param(Core("23456789", 7), "sha256:ab2345678923456789ef01cd", False, id="digits in a pseudonym"),
    pytest.param(Core("dgi"), "session-mbmgjminpandgiiolgbmaknefleppimh", False, id="letters in a pseudonym"),
    pytest.param(Core("dgi"), "session-mbmg DGI", True, id="letters beside the beginning of a pseudonym"),
    pytest.param(Core("3S"), "왜 [COMPANY-3]([STOCK-8])는", False, id="letters of two labels"),
    pytest.param(Core("3S"), "왜 3S([STOCK-8])는", True, id="two letters beside a label"),
    pytest.param(Core("김도현"), "김 도\u200b현", True, id="a name with a gap"),
    pytest.param(Core("김도현"), "김 부장", False, id="a surname"),
]


@each_row(("core", "left", "leaks"), PARTS)
def test_what_counts_as_a_leak(core: Core, left: str, leaks: bool) -> None:
    assert survives(core, {"a": [{"b": left}]}) is leaks
    assert survives(core, {left: None}) is leaks


def test_folding_is_the_same_the_second_time(planted: list[Planted]) -> None:
    for one in planted[:500]:
        assert folded(folded(one.written)) == folded(one.written)


def test_broken_lines_hold_no_line_break_and_the_mark() -> None:
    assert not [name for name, line in LINES.items() if b"\n" in line]
    assert sum(b"brokenCANARY" in line for line in LINES.values()) > len(LINES) - 4


def test_values_are_valid_by_the_rules_of_their_kind(planted: list[Planted]) -> None:
    cards = [
        re.sub(r"\D", "", one.written) for one in planted if one.kind == "card" and one.disguise == "plain"
    ]
    assert cards
    for number in cards:
        doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(number))]
        assert sum(sum(divmod(one, 10)) for one in doubled) % 10 == 0
    ibans = [
        one.written.replace(" ", "") for one in planted if one.kind == "IBAN" and one.disguise == "plain"
    ]
    assert ibans
    assert {int("".join(str(int(char, 36)) for char in one[4:] + one[:4])) % 97 for one in ibans} == {1}
