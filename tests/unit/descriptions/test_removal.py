import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coreloop.descriptions.edit import Edited
from coreloop.descriptions.source import UnprovenError
from editing import ARGS, LINES, NUMPYDOC, function, is_ours, put_lines, remove_lines, split_docstrings
from rows import each_row
from weekly import WEEKLY


def put(source, lines=LINES, qualname="f", **choices):
    raw = source if isinstance(source, bytes) else source.encode()
    return put_lines(raw, qualname, lines, is_ours=is_ours, **choices)


def remove(source, lines=LINES):
    raw = source if isinstance(source, bytes) else source.encode()
    try:
        return remove_lines(raw, "f", lines).decode()
    except UnprovenError as reason:
        return str(reason)


def alike(one, other):
    """Whether two files differ at most in the white space of docstrings."""
    (code, texts), (other_code, others) = split_docstrings(one), split_docstrings(other)
    return code == other_code and [(text or "").split() for text in texts] == [
        (text or "").split() for text in others
    ]


REMOVED = {
    "a list and the blank line above": (["Sum.", "", *LINES], ["Sum."]),
    "a list above a section": (["Sum.", "", *LINES, "", *ARGS], ["Sum.", "", *ARGS]),
    "the first of a list": (["Sum.", "", *LINES, "- When: x."], ["Sum.", "", "- When: x."]),
    "two lines apart": (
        ["Sum.", "", LINES[0], "- When: x.", LINES[1], "", *ARGS],
        ["Sum.", "", "- When: x.", "", *ARGS],
    ),
    "wrapped lines": (
        ["Sum.", "", "- When:", "  margin.", "- Call:", "    show().", "", *ARGS],
        ["Sum.", "", *ARGS],
    ),
    "from a human's list": (["Sum.", "", "- human", *LINES, "", *ARGS], ["Sum.", "", "- human", "", *ARGS]),
    "right above a field": (
        ["Sum.", "", "- When: x.", *LINES, ":param x: y"],
        ["Sum.", "", "- When: x.", ":param x: y"],
    ),
}


@each_row(("before", "after"), REMOVED.values(), ids=REMOVED)
@each_row("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_lines_are_removed(before, after, newline):
    old, new = (
        function('"""' + lines[0], *lines[1:], '"""').replace("\n", newline) for lines in (before, after)
    )
    assert remove(old) == new


SECTIONS = {
    "numpydoc": (["Guide", "-----", "- x", *LINES], ["Guide", "-----", "- x"]),
    "all of a section": (["Guide", "-----", *LINES], ["Guide", "-----"]),
    "google": (["Guide:", "    - x", *(f"    {x}" for x in LINES)], ["Guide:", "    - x"]),
    "Markdown": (["## Guide", *LINES], ["## Guide"]),
}


@each_row(("before", "after"), SECTIONS.values(), ids=SECTIONS)
def test_lines_are_removed_of_a_section(before, after):
    old, new = (function('"""Sum.', "", *lines, "", *NUMPYDOC, '"""') for lines in (before, after))
    assert remove(old) == new


REFUSED = {
    "absent": (function('"""Sum."""'), "absent"),
    "only one of them": (function('"""Sum.', "", LINES[0], '"""'), "absent"),
    "twice": (function('"""Sum.', "", *LINES, "", *LINES, '"""'), "more than once"),
    "text was added below": (function('"""Sum.', "", *LINES, "  and more", '"""'), "absent"),
    "another mark": (function('"""Sum.', "", *("*" + x[1:] for x in LINES), '"""'), "absent"),
}


@each_row(("source", "reason"), REFUSED.values(), ids=REFUSED)
def test_refusal_says_why(source, reason):
    assert reason in remove(source)


CHANGING = {
    "a title that would open a google section": ["Data Sources:", "    x"],
    "a word that may open one": ["Note: this is slow."],
}


@each_row("below", CHANGING.values(), ids=CHANGING)
def test_lines_are_not_removed_if_text_below_them_would_become_a_section(below):
    outcome = remove(function('"""Sum.', "", *LINES, *below, '"""'))
    assert outcome == "removing the lines would change how another section is read"


@each_row("code", [["```", *LINES, "```"], [">>> f()", *LINES]])
def test_code_is_not_removed(code):
    assert "absent" in remove(function('"""Sum.', "", *code, "", *ARGS, '"""'))


@each_row(
    "literal",
    ['"""Sum.\\\n\\\n"""', '"Sum\\x2e\\\n"', '"Sum.\\\n\\\n\\n\\nArgs:\\n    x: y"', '"""Sum.\\"\\\n"""'],
)
def test_an_escaped_line_break_after_the_list_stays(literal):
    source = f"def f():\n    {literal}\n"
    edited = put(source)
    assert isinstance(edited, Edited)
    assert alike(remove(edited.source), source)


@each_row("quoted", ['"""Sum."""', 'r"""Sum."""', "'Sum.'"])
def test_backslash_at_the_end_of_a_line_is_not_an_escaped_line_break(quoted):
    source = f"def f():\n    {quoted}\n"
    lines = ["- When: a\\", "- When: b\\", "- When: c"]
    edited = put(source, lines)
    assert alike(remove(edited.source, lines), source)


TEXTS = (
    ("More prose.", "and more"),
    ("수익성 — 마진",),
    ("Note: this is slow.",),
    ("**Not** a heading.",),
    ("- human", "- list"),
    ("- When: old.", "- Call: old()"),
    ("```python", "Guide", "-----", "```"),
    (">>> f()", "Guide", "-----"),
    ("Example::", "", "    Guide", "    -----"),
    ("=====", "A", "=====", "1", "====="),
    (".. note::", "    x"),
    ("- human", "", "  below it"),
)
RESTS = (
    NUMPYDOC,
    ("Guide", "~~~~~", "- x"),
    ("Provenance", "==========", "x"),
    (*ARGS, "", "    z: w"),
    ("Guide: inline", "more"),
    ("Data Sources:", "    x"),
    ("## Notes", "x"),
    ("**Guide**", "", "- x"),
    ("**Guide:**", "- When: x"),
    (":param x: y", "    more", ":returns: z", "", "Text."),
    ("@param x: y", "@return: z"),
)


@st.composite
def sources(draw, tight):
    """A method, its docstring's first block made of texts, above sections of any style."""
    indent, newline = draw(st.sampled_from(["    ", "  ", "\t"])), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    quote = draw(st.sampled_from(['"""', "'''", '"', "'"]))
    prefix = draw(st.sampled_from(["", "u"] if len(quote) == 1 else ["", "r", "u"]))
    texts = draw(st.lists(st.sampled_from(TEXTS), max_size=3))
    rests = draw(st.lists(st.sampled_from(RESTS), min_size=int(tight), max_size=2))
    lines = ["Summary.", *(line for block in texts for line in ("", *block))]
    for block in rests:
        lines += block if tight and block is rests[0] else ("", *block)
    margin = draw(st.sampled_from([indent * 2, indent * 2, indent * 3, ""]))
    blank = draw(st.sampled_from(["", "", "  ", "\t"]))
    text = "\n".join([lines[0], *(margin + line if line else blank for line in lines[1:])])
    text += draw(st.sampled_from(["", " ", "\n" + indent * 2, "\n\n" + indent * 2]))
    if len(quote) == 1:
        text = text.replace("\n", "\\n")
    head = draw(st.sampled_from(["", "\ufeff", "# coding: cp949\n"]))
    source = (
        f"{head}class A:\n{indent}@d\n{indent}def f(self, 수='익'):\n"
        f"{indent * 2}{prefix}{quote}{text}{quote}\n{indent * 2}return 'Guide'\n"
    )
    return source.replace("\n", newline).encode("cp949" if "cp949" in head else "utf-8", "replace")


NEW = (
    "- When: 마진을 묻는 질문이 온다.",
    "- Call: show(company) and then tell what it says of each of the companies in which it has a share.",
    "- When: x  y.",
)


@pytest.mark.slow
@each_row("tight", [False, True], ids=["blank line above a section", "none"])
def test_file_is_the_original_again_after_lines_were_put_replaced_and_removed(tight):
    @settings(max_examples=80 if WEEKLY else 40, deadline=None)
    @given(sources(tight), st.lists(st.sampled_from(NEW), min_size=1, unique=True), st.data())
    def check(source, lines, data):
        first = put(source, lines, "A.f")
        assert isinstance(first, Edited), first
        assert put(first.source, lines, "A.f").appended == ()
        replaced = data.draw(st.lists(st.sampled_from(lines), min_size=1, unique=True))
        second = put(first.source, LINES, "A.f", replaced=replaced)
        assert isinstance(second, Edited), second
        left = [*(line for line in lines if line not in replaced), *LINES]
        assert alike(remove_lines(second.source, "A.f", left), source)

    check()
