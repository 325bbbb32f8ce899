"""The cheap checks before the rules never change the findings, and run in linear time."""

import random
import re
import time
from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coreloop.sanitize.apply_rules import encoded, matches, may_be_encoded
from coreloop.sanitize.detectors import RULES
from coreloop.sanitize.detectors.signs import JOINING, closed_signs, signs_of
from coreloop.sanitize.find_in_text import Hit, find_hits
from coreloop.sanitize.undisguised import readings
from coreloop.sanitize.without_spaces import Closed, closings
from planted import planted_records

# Parts of private data and of its context.
PARTS = (
    *"aAtTdDoOlI09-_.:/\\@~|?=([{<)]}>*%&;,가공영일닷점앳님씨김대표이사",
    *("  ", " ", " ", " ", "\n", "\t", "\u200b", "\u3000", "０", "а", "&#64;", "%40", "\\u0040", "\\n"),
    *(
        "at",
        "dot",
        "골뱅이",
        "앳",
        "컴",
        "http",
        "https:",
        "www.",
        "com",
        "home/",
        "/Users",
        "Documents and Settings",
    ),
    *(
        "hong",
        "example.com",
        "010",
        "1234",
        "5678",
        "900101",
        "1234567",
        "4111",
        "DE89",
        "3704",
        "M123",
        "10.20.30",
    ),
    *(
        "sk-",
        "ghp_",
        "AKIA",
        "eyJ",
        "MII",
        "pass",
        "word",
        "token",
        "비번",
        "대표",
        "Mr",
        "John",
        "::",
        "2001:db8",
    ),
    *("aG9uZ0BleGFtcGxl", "LmNvbQ==", "k2Jd8Sm4Qw6Zx1Cv", "여권", "은행", "카드", "면허"),
)
texts = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)


@st.composite
def closed_texts(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the text without some of its white space."""
    text = draw(texts)
    keeps = draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
    return text, "".join(char for char, keep in zip(text, keeps, strict=True) if keep or not char.isspace())


def compact(text: str) -> str:
    return "".join(text.split())


@given(closed_texts())
@example((" a t ", " at "))
@example(("h\nd o t\nc", "h\ndot\nc"))
@example(("12345\n67", "12345\n67"))
@example(("1 - 2 - 3 - 4 - 5 - 6 - 7", "1 -2 -3 -4 -5 -6 -7"))
@example(("www . a . b ? c = d", "www.a.b?c=d"))
@example(("C:\\Documents and Settings\\x", "C:\\Documents and Settings\\x"))
@example(("DE 89 37 04 00 44", "DE89 3704 0044"))
def test_no_sign_of_a_closed_text_is_missed_by_the_first_check(texts: tuple[str, str]) -> None:
    text, closed = texts
    assert signs_of(closed) & ~closed_signs(text, compact(text)) == 0


@given(closed_texts())
def test_base64_of_a_closed_text_is_not_missed_by_the_first_check(texts: tuple[str, str]) -> None:
    text, closed = texts
    assert may_be_encoded(compact(text)) or not list(encoded(closed))


@given(texts, st.booleans())
def test_rules_find_the_same_with_only_the_possible_signs(text: str, joins: bool) -> None:
    signs = closed_signs(text, compact(text)) & (JOINING if joins else ~0)
    assert list(matches(text, joins=joins, among=signs)) == list(matches(text, joins=joins))


def without_gates(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Hit, ...]:
    module = import_module("coreloop.sanitize.find_in_text")  # the package has a function of that name
    with monkeypatch.context() as patch:
        patch.setattr(module, "closed_signs", lambda text, compact: ~0)
        patch.setattr(module, "may_be_encoded", lambda compact: True)
        return tuple(module._merged(module._scan(text)))


@given(texts)
def test_the_first_check_changes_no_finding(text: str) -> None:
    assert find_hits(text) == without_gates(text, pytest.MonkeyPatch())


@pytest.mark.slow
def test_the_first_check_changes_no_finding_in_planted_records() -> None:
    seed = random.SystemRandom().getrandbits(32)
    records = [planted.record for planted in planted_records(seed)[::20]]
    texts = {value for record in records for value in (record["question"], *map(str, record["tool_calls"]))}
    patch = pytest.MonkeyPatch()
    assert [text for text in sorted(texts) if find_hits(text) != without_gates(text, patch)] == [], seed


@pytest.mark.slow
@given(texts)
def test_characters_of_a_closed_text_map_to_their_original_places(text: str) -> None:
    for view in readings(text):
        shown = text if view is None else view.text
        for closed, _ in closings(view, shown, pieces=True):
            unchanged = Closed(shown, [], view)
            assert len(closed.text) < len(shown)
            places = [closed.span(at, at + 1) for at in range(len(closed.text))]
            expected = [unchanged.span(at, at + 1) for at, char in enumerate(shown) if not char.isspace()]
            letters = zip(places, closed.text, strict=True)
            assert [place for place, char in letters if not char.isspace()] == expected
            assert closed.span(0, len(places)) == (places[0][0], places[-1][1])


HOSTILE = (
    "1",
    "12 ",
    "1234 ",
    "1\t",
    " ",
    "a ",
    "ab ",
    "abcdefgh ",
    "a\n",
    "가 ",
    ".a",
    ".a?",
    "::",
    "/a",
    "at ",
    "%41",
    "a@b.kr ",
)


@pytest.mark.slow
@pytest.mark.parametrize("part", HOSTILE)
def test_a_text_four_times_as_long_takes_less_than_ten_times_as_long(part: str) -> None:
    def seconds(chars: int) -> float:
        text = (part * chars)[:chars]
        begun = time.process_time()
        find_hits(text)
        return time.process_time() - begun

    short, long = (min(seconds(chars) for _ in range(3)) for chars in (5_000, 20_000))
    assert long < 10 * short + 0.05


SHAPES = (
    "\\",
    '\\"',
    "http://",
    "a://b:c",
    "token: ",
    "password ",
    "a",
    "A",
    "1",
    " ",
    "Ab ",
    "a@",
    "a.",
    "/home/",
    "_",
    "-",
    '"',
    '"name":"',
    "-----BEGIN PRIVATE KEY-----",
    "eyJaaaaaaaa.",
    "김민수 대표 ",
    "공일공 ",
    "+1",
    "(0",
    "?a=",
    "a.bc/x,",
    "4f",
    "AB12",
    "abcdef12a",
    "1 Main ",
    "x/y@z:",
    "name: Aa ",
    "은행 12-",
    "-u a:",
    "--a-",
    "born ",
)


@pytest.mark.slow
@pytest.mark.parametrize("part", SHAPES)
def test_every_rule_takes_time_in_proportion_to_a_hostile_text(part: str) -> None:
    patterns = [re.compile(rule.pattern) for rule in RULES]

    def seconds(chars: int) -> list[float]:
        text = (part * chars)[:chars]
        times = []
        for pattern in patterns:
            begun = time.process_time()
            for _ in pattern.finditer(text):
                pass
            times.append(time.process_time() - begun)
        return times

    slow = [
        (rule.kind, rule.pattern)
        for rule, short, long in zip(RULES, seconds(5_000), seconds(20_000), strict=True)
        if long > 10 * short + 0.05
    ]
    assert slow == []
