from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from coreloop.descriptions.place import read_bullets, read_list, write_bullet
from coreloop.descriptions.sections import columns, scan
from rows import each_row


def bullets(*lines):
    layout = scan("\n".join(lines))
    return [
        (bullet.text, bullet.first, bullet.end) for bullet in read_bullets(layout.lines, 0, len(layout.lines))
    ]


def texts(*lines):
    return [text for text, _, _ in bullets("", *lines)]


def list_of(*lines):
    layout = scan("\n".join(lines))
    return [bullet.text for bullet in read_list(layout.lines, 0, len(layout.lines))]


READ = {
    "one line each": (["- a", "- b"], [("- a", 0, 1), ("- b", 1, 2)]),
    "text above belongs to no bullet": (["Text.", "- a"], [("- a", 1, 2)]),
    "text indented below the dash belongs to it": (["x", "- a", "  b", "    c"], [("- a b c", 1, 4)]),
    "text in the dash's own column does not": (["x", "- a", "b", "  c"], [("- a", 1, 2)]),
    "a blank line ends a bullet": (["- a", "", "  b"], [("- a", 0, 1)]),
    "a nested list has its own bullets": (["- a", "  - b", "    c"], [("- a", 0, 1), ("- b c", 1, 3)]),
    "tabs indent, too": (["x", "\t- a", "\t\tb"], [("- a b", 1, 3)]),
    "a dash without a blank is text": (["-a", "--flag", "x - y"], []),
    "other marks are text": (["* a", "+ b", "1. c"], []),
    "surrounding white space is dropped": (["x", "   - a  "], [("- a", 1, 2)]),
    "blanks inside stay": (["- a  b"], [("- a  b", 0, 1)]),
    "a no-break space is text": (["- \xa0a\xa0"], [("- \xa0a\xa0", 0, 1)]),
    "Korean": (["x", "- 마진을", "  계산한다"], [("- 마진을 계산한다", 1, 3)]),
}


@each_row(("lines", "expected"), READ.values(), ids=READ)
def test_bullets_are_read_as(lines, expected):
    assert bullets(*lines) == expected


def test_bullets_outside_the_range_are_not_read():
    layout = scan("- a\n- b\n  c\n- d")
    assert [bullet.text for bullet in read_bullets(layout.lines, 1, 2)] == ["- b"]


@each_row(
    ("lines", "expected"),
    [
        (["- a", "  b", "- c"], ["- a b", "- c"]),
        (["Text.", "- a"], []),
        (["- a", "", "- b"], []),
        (["x", "- a", "b"], []),
        (["Text."], []),
    ],
    ids=["bullets only", "text above", "blank line between", "text in the dash's column", "not a bullet"],
)
def test_list_has_only_bullets(lines, expected):
    assert list_of(*lines) == expected


WRITTEN = {
    "fits": ("- a b", "", 5, ["- a b"]),
    "one column too wide": ("- a bc", "", 5, ["- a", "  bc"]),
    "no width, no limit": ("- " + "a " * 99 + "b", "", None, ["- " + "a " * 99 + "b"]),
    "the margin counts": ("- a b", "    ", 8, ["    - a", "      b"]),
    "a tab counts eight columns": ("- a b", "\t", 12, ["\t- a", "\t  b"]),
    "a tab that leaves room": ("- a b", "\t", 13, ["\t- a b"]),
    "a Korean sign counts two columns": ("- 가 나", "", 7, ["- 가 나"]),
    "and does not fit in one column less": ("- 가 나", "", 6, ["- 가", "  나"]),
    "a long word is not broken": ("- a abcdefgh b", "", 5, ["- a", "  abcdefgh", "  b"]),
    "the first word stays on the line of the dash": ("- abcdefgh b", "", 5, ["- abcdefgh", "  b"]),
    "a width too small for any word": ("- a b c", "  ", 1, ["  - a", "    b", "    c"]),
    "two blanks in a row would not read back": ("- aaaa  bbbb cccc", "", 6, ["- aaaa  bbbb cccc"]),
    "a blank at the end would not read back": ("- aaaa bbbb ", "", 6, ["- aaaa bbbb "]),
    "text without a dash is not wrapped": ("aaaa bbbb cccc", "  ", 6, ["  aaaa bbbb cccc"]),
    "a no-break space does not break": ("- a\xa0b c", "", 4, ["- a\xa0b", "  c"]),
}


@each_row(("text", "lead", "width", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_bullet_is_written_as(text, lead, width, expected):
    assert write_bullet(text, lead, width=width) == expected


@each_row("text", ["- aaaa - bbbb", "- aaaa - - bbbb", "- 마진 - 비율", "- a - b"])
def test_continuation_never_begins_with_a_dash(text):
    for width in range(1, 16):
        written = write_bullet(text, "", width=width)
        assert not any(line.lstrip().startswith("- ") for line in written[1:]), width
        assert texts(*written) == [text]


WORDS = st.text(alphabet="ab-*>`:#.1'\"\\가마\u3000\xa0", min_size=1, max_size=8)
LEADS = st.sampled_from(["", "  ", "    ", "\t", "        "])


@given(st.lists(WORDS, min_size=1, max_size=12), LEADS, st.one_of(st.none(), st.integers(1, 60)))
@example(["a"] * 12, "", 5)
@example(["-", "a"], "", 3)
def test_bullet_is_read_back_as_it_was(words, lead, width):
    text = " ".join(["-", *words])
    written = write_bullet(text, lead, width=width)
    assert texts(*written) == [text]
    assert all(line.startswith(lead) for line in written)


# words that may begin any line
PLAIN = st.lists(st.text(alphabet="ab:1'\"\\가마", min_size=1, max_size=8), min_size=1, max_size=12)


@given(PLAIN, LEADS, st.integers(1, 60))
def test_line_is_wider_than_the_width_only_for_a_single_word(words, lead, width):
    first, *others = write_bullet(" ".join(["-", *words]), lead, width=width)
    assert columns(first) <= width or len(first.strip(" \t").split(" ")) == 2
    assert all(columns(line) <= width or len(line.strip(" \t").split(" ")) == 1 for line in others)


@given(PLAIN, LEADS, st.integers(1, 60))
def test_no_line_is_wrapped_too_early(words, lead, width):
    written = write_bullet(" ".join(["-", *words]), lead, width=width)
    for line, following in pairwise(written):
        assert columns(f"{line} {following.removeprefix(lead + '  ').split(' ')[0]}") > width


@given(st.lists(WORDS, min_size=1, max_size=12), LEADS, st.integers(1, 60))
def test_no_continuation_begins_with_markup(words, lead, width):
    for line in write_bullet(" ".join(["-", *words]), lead, width=width)[1:]:
        word = line.removeprefix(lead + "  ").split(" ")[0]
        assert not word.startswith(("```", "~~~", ">>>"))
        assert word not in ("-", "*", "#", "##", "..")
