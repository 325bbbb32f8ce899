"""Hostile text is harmless on a screen, and a line fits."""

from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.text import fitted, linked_markdown, printable, wrapped
from rows import each_row


@each_row(
    ("text", "shown"),
    [
        ("삼성전자 ROE?", "삼성전자 ROE?"),
        ("a\nb\tc", "a\\u{a}b\\u{9}c"),
        ("\x1b[2J", "\\u{1b}[2J"),
        ("a\u202eb\u200b\u3164", "a\\u{202e}b\\u{200b}\\u{3164}"),
        ("a\u00a0b\ud800\U000e0041", "a\\u{a0}b\\u{d800}\\u{e0041}"),
    ],
)
def test_invisible_characters_are_escaped(text, shown):
    assert printable(text) == shown


@each_row(
    ("text", "columns", "expected"),
    [
        ("", 1, ""),
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("한국", 4, "한국"),
        ("한국어", 4, "한…"),
        ("한국어", 5, "한국…"),
        ("한", 1, "…"),
    ],
)
def test_a_line_is_cut_to_the_columns_of_a_terminal(text: str, columns: int, expected: str):
    assert fitted(text, columns) == expected


@given(st.text(alphabet="ab 가나 ", max_size=60), st.integers(2, 12))
def test_wrapped_lines_fit_and_lose_nothing(text: str, columns: int):
    lines = wrapped(text, columns).split("\n")
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(sum(2 if char in "가나" else 1 for char in line) <= columns for line in lines)


def test_addresses_stay_links_and_mentions_notify_nobody() -> None:
    text = "see https://github.com/o/my_tools/pull/1, *ask* @octo"
    assert linked_markdown(text) == r"see https://github.com/o/my_tools/pull/1, \*ask\* &#64;octo"
    assert linked_markdown("https://x.example/a_b") == "https://x.example/a_b"
    assert linked_markdown("a_b") == r"a\_b"
