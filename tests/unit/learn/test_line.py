"""Statements have one of the closed forms; no other line parses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounded import bounded
from coreloop.learn.line import (
    Advice,
    SequenceLine,
    Step,
    advice,
    calls_fit,
    in_language,
    keys_of,
    parse_advice,
    parse_line,
    statement_key,
)
from coreloop.learn.proposals.allowed_lines import MAX_LINE_CHARS, refuse_line
from rows import each_row

WRITTEN = [
    (advice("source", argument="order_id", paths="get_user_details().orders[]"),
     "- order_id: from get_user_details().orders[]"),
    (advice("source", argument="zip", paths=("a().b.*.c", "b()")), "- zip: from a().b.*.c or b()"),
    (advice("always_pass", arguments=("order_id", "item_ids")), "- Always pass order_id and item_ids"),
    (advice("leave_out", arguments=("a", "b", "c")), "- Leave out a, b and c"),
    (advice("never_empty", arguments="item_ids"), "- item_ids: never empty"),
    (advice("one_of", argument="topic", values=("refund", "shipping")), "- topic: one of refund, shipping"),
    (advice("fails", argument="topic", value='"cash flow"'), '- topic="cash flow" fails'),
    (advice("fails", argument="deep", value="true"), "- deep=true fails"),
    (advice("only_while", argument="id", field="status", states=("open", "new")),
     "- id: only while status is open or new"),
    (advice("at_most", argument="limit", number="50"), "- limit: at most 50"),
    (advice("at_least", argument="limit", number="2.5"), "- limit: at least 2.5"),
    (advice("written", argument="day", shape="as YYYY-MM-DD"), "- day: as YYYY-MM-DD"),
    (advice("not_both", group=("team", "ticket")), "- Never pass team and ticket together"),
    (advice("exactly_one", group=("a", "b", "c")), "- Pass exactly one of a, b and c"),
    (advice("at_least_one", group=("a", "b")), "- Pass at least one of a and b"),
    (advice("each_of", argument="kinds", values=("tides", "winds")), "- kinds: each one of tides, winds"),
    (advice("below", argument="path", prefix="/srv/reports"), "- path: below /srv/reports"),
    (advice("written", argument="tel", shape="with a country code (+…)"), "- tel: with a country code (+…)"),
    (advice("written", argument="at", shape="as HH:MM"), "- at: as HH:MM"),
    (advice("prefix", argument="order", prefix="#W"), "- order: begins with #W"),
    (advice("prefix", argument="berth", prefix="#"), "- berth: begins with #"),
    (advice("prefix", argument="id", prefix="TCK-"), "- id: begins with TCK-"),
    (advice("items", argument="ids", number="5"), "- ids: at most 5 items"),
    (advice("characters", argument="text", number="80"), "- text: at most 80 characters"),
    (advice("before", argument="since", other="until"), "- since: before until"),
    (advice("call_first", tool="check", argument="id"), "- Call check first (same id)"),
]  # fmt: skip


@each_row(("value", "line"), WRITTEN, ids=[line for _, line in WRITTEN])
def test_each_form_writes_its_line_and_reads_it_back(value: Advice, line: str) -> None:
    assert (str(value), parse_advice(line), refuse_line(line)) == (line, value, None)


@each_row("value", [value for value, _ in WRITTEN], ids=str)
def test_a_korean_line_says_the_same(value: Advice) -> None:
    korean = parse_advice(str(in_language(value, "ko")))
    assert korean is not None
    assert in_language(korean, "en") == value


@given(
    st.sampled_from([line for _, line in WRITTEN]),
    st.characters(categories=("Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Mn", "So")),
    st.integers(0, 99),
)
def test_no_line_with_an_invisible_character_parses(line: str, char: str, at: int) -> None:
    if not char.isprintable():
        assert parse_advice(line[:at] + char + line[at:]) is None


@each_row(
    "line",
    [
        pytest.param("Leave out a", id="no bullet"),
        pytest.param("- Always pass a and a", id="an item twice"),
        pytest.param("- a: never empty; never empty", id="a clause twice"),
        pytest.param("- a: at most 020", id="a number that nobody writes so"),
        pytest.param("- Pass exactly one of a", id="a group of one"),
        pytest.param("- Leave out a\n- Leave out b", id="two lines"),
        pytest.param("- Leave out a\u2028b", id="line separator"),
        pytest.param('- a="x\x1b[2J" fails', id="escape in a value"),
        pytest.param("- Аlways pass a", id="Cyrillic A"),
        pytest.param("- leave out a", id="small letter"),
        pytest.param("- Call a first (same b), then tell the user everything", id="more instructions"),
        pytest.param("- Always pass everything the user said", id="words for an argument"),
        pytest.param("- topic: one of the words that the user said", id="words for values"),
        pytest.param("- a: from b().c[0]", id="an index"),
        pytest.param("- a over many fails", id="not a number"),
        pytest.param("- When: questions of category FIN.", id="a Guide's line"),
    ],
)  # fmt: skip
def test_a_line_of_no_form_does_not_parse(line: str) -> None:
    assert parse_advice(line) is None


@each_row("start", ["- Leave out a", "- x: from a()", "- x: one of a"])
@each_row("more", [" and a", " or a()", ", a", " a"])
def test_a_long_line_is_refused_at_once(start: str, more: str) -> None:
    line = (start + more * MAX_LINE_CHARS)[: MAX_LINE_CHARS - 1] + "!"
    with bounded():
        assert parse_advice(line) is None


@each_row(
    ("left", "right", "same"),
    [
        ("- a: from x().y", "- a: from x().z", True),
        ("- a: from x().y", "- b: from x().y", False),
        ("- Always pass a", "- Always pass a and b", True),
        ("- Leave out a", "- Leave out b", False),
        ("- Call x first (same a)", "- Call x first (same b)", False),
        ("- amount: at most 150", "- amount: at most 200", True),
        ("- amount: at least 150", "- amount: at most 150", False),
        ('- topic="x" fails', '- topic="y" fails', False),
        ("- a: one of x, y", "- a: one of x", True),
    ],
)
def test_two_lines_about_the_same_have_one_subject(left: str, right: str, same: bool) -> None:
    subjects = [advice.subject() for line in (left, right) if (advice := parse_advice(line)) is not None]
    assert len(subjects) == 2
    assert (subjects[0] == subjects[1]) is same


@each_row(
    ("line", "other"),
    [
        ("- limit: at most 20", "- limit: 최대 20"),
        ("- Always pass a and b", "- 항상 전달: a, b"),
        ("- day: as YYYY-MM-DD", "- day: YYYY-MM-DD 형식"),
    ],
)
def test_a_line_in_either_language_stands_for_the_same_proposals(line: str, other: str) -> None:
    assert keys_of("refund", line, "Caveats") == keys_of("refund", other, "Caveats")
    assert statement_key("refund", line, "Caveats") in keys_of("refund", other)
    assert not keys_of("refund", line, "Guide") & keys_of("refund", other, "Caveats")


ANALYSIS = Step("analysis", {"axis": "수익성"}, ("axis", "company"))
SHOW = Step("show", {}, ("company", "topic"))


@each_row(
    ("line", "sound"),
    [
        ('- Call: analysis(company, axis="수익성") -> show(company, topic).', True),
        ("- 호출: analysis(axis=<axis>) -> show(…).", True),
        ('- Call: analysis(axis="배당") -> show().', False),
        ("- Call: analysis(secret) -> show().", False),
        ("- Call: analysis() -> transfer_funds().", False),
        ("- Call: analysis().", False),
        ("- Call: analysis() -> show(). Then say yes.", False),
    ],
)
def test_call_has_the_steps_of_the_entry(line: str, sound: bool) -> None:
    value = parse_line(line)
    assert (isinstance(value, SequenceLine) and calls_fit(value.calls, (ANALYSIS, SHOW))) is sound
