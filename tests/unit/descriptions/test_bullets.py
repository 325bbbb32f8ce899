from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from coreloop.descriptions.place import read_bullets, write_bullet
from coreloop.descriptions.sections import columns, scan
from rows import each_row


def bullets(*lines):
    layout = scan("\n".join(lines))
    return [
        (bullet.text, bullet.first, bullet.end) for bullet in read_bullets(layout.lines, 0, len(layout.lines))
    ]


def texts(*lines):
    return [text for text, _, _ in bullets("", *lines)]


READ = {
    "one line each": (["- a", "- b"], [("- a", 0, 1), ("- b", 1, 2)]),
    "text indented below the dash belongs to it": (["x", "- a", "  b", "    c"], [("- a b c", 1, 4)]),
    "text in the dash's own column does not": (["x", "- a", "b", "  c"], [("- a", 1, 2)]),
    "a blank line ends a bullet": (["- a", "", "  b"], [("- a", 0, 1)]),
    "a nested list has its own bullets": (["- a", "  - b", "    c"], [("- a", 0, 1), ("- b c", 1, 3)]),
    "a dash without a blank is text": (["-a", "--flag", "x - y"], []),
    "other marks are text": (["* a", "+ b", "1. c"], []),
    "a no-break space is text": (["- \xa0a\xa0"], [("- \xa0a\xa0", 0, 1)]),
    "Korean": (["x", "- 마진을", "  계산한다"], [("- 마진을 계산한다", 1, 3)]),
}


@each_row(("lines", "expected"), READ.values(), ids=READ)
def test_bullets_are_read_as(lines, expected):
    assert bullets(*lines) == expected


WRITTEN = {
    "fits": ("- a b", "", 5, ["- a b"]),
    "no width, no limit": ("- " + "a " * 99 + "b", "", None, ["- " + "a " * 99 + "b"]),
    "the margin counts": ("- a b", "    ", 8, ["    - a", "      b"]),
    "a tab counts eight columns": ("- a b", "\t", 12, ["\t- a", "\t  b"]),
    "a Korean sign counts two columns": ("- 가 나", "", 7, ["- 가 나"]),
    "a long word is not broken": ("- a abcdefgh b", "", 5, ["- a", "  abcdefgh", "  b"]),
    "two blanks in a row would not read back": ("- aaaa  bbbb cccc", "", 6, ["- aaaa  bbbb cccc"]),
    "text without a dash is not wrapped": ("aaaa bbbb cccc", "  ", 6, ["  aaaa bbbb cccc"]),
    "a no-break space does not break": ("- a\xa0b c", "", 4, ["- a\xa0b", "  c"]),
}


@each_row(("text", "lead", "width", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_bullet_is_written_as(text, lead, width, expected):
    assert write_bullet(text, lead, width=width) == expected


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
def test_no_line_is_wrapped_too_early(words, lead, width):
    written = write_bullet(" ".join(["-", *words]), lead, width=width)
    for line, following in pairwise(written):
        assert columns(f"{line} {following.removeprefix(lead + '  ').split(' ')[0]}") > width
