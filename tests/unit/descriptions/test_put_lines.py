import inspect

from hypothesis import given
from hypothesis import strategies as st

from coreloop.descriptions.edit import Edited
from editing import ARGS, LINES, NUMPYDOC, edit, function, is_ours
from rows import each_row

LIST = ("", *LINES)
HERE, HERE_AND_BLANK = object(), object()


def put(source, lines=LINES, **choices):
    return edit(source, lines=lines, **{"section": None, "is_ours": is_ours, **choices})


def docstring(*lines, indent="    "):
    """A function before and after the list was put at HERE."""
    after = {HERE: LIST, HERE_AND_BLANK: (*LIST, "")}
    before = [line for line in lines if isinstance(line, str)]
    grown = [part for line in lines for part in ([line] if isinstance(line, str) else after[line])]
    return function('"""' + before[0], *before[1:], '"""', indent=indent), function(
        '"""' + before[0], *grown[1:], '"""', indent=indent
    )


PLACES = {
    "quotes on their own line": ("Sum.", HERE),
    "numpydoc": ("Sum.", HERE, "", *NUMPYDOC),
    "google": ("Sum.", HERE, "", *ARGS, "", "Returns:", "    z"),
    "google's summary": ("Summary:", "    Text.", HERE, "", *ARGS),
    "reST fields": ("Sum.", HERE, "", ":param x: y", ":returns: z"),
    "reST fields without blank line": ("Sum.", HERE_AND_BLANK, ":param x: y", ":returns: z"),
    "Epytext": ("Sum.", HERE, "", "@param x: y", "@return: z"),
    "Markdown": ("Sum.", HERE, "", "## Args", "", "x"),
    "a title": ("Title", "=====", "", "Text.", HERE, "", *NUMPYDOC),
    "a bold name": ("Sum.", HERE, "", "**Guide**", "", "- x"),
    "underlined with ~": ("Sum.", HERE, "", "Guide", "~~~~~", "- x"),
    "Korean": ("수익성.", "", "마진을 계산.", HERE, "", "수익성", "------", "x"),
    "a fence": ("Sum.", "", "```python", "Args:", "    x", "```", HERE, "", *ARGS),
    "a doctest": ("Sum.", "", ">>> f()", "1", HERE, "", *ARGS),
    "an indented block": ("Sum::", "", "    x = 1", HERE, "", *ARGS),
    "a directive": ("Sum.", "", ".. note::", "    x", HERE, "", *ARGS),
    "a table": ("Sum.", "", "=====", "A", "=====", "1", "=====", HERE),
    "prose that begins like a section": ("Sum.", "", "Note: this is slow.", HERE),
    "such prose with text below": ("Sum.", "", "Note: this is", "slow.", HERE, "", *ARGS),
    "a human's list is not continued": ("Sum.", "", "- human", "- list", HERE, "", *ARGS),
    "nor a list that is a human's in part": ("Sum.", "", "- human", "- When: x.", HERE, "", *ARGS),
    "nor a list right below text": ("Sum.", "- When: x.", HERE, "", *ARGS),
    "deeper text is not the margin": ("Sum.", "", "more:", "        deep", HERE),
    "a backslash at the end": ("Sum.", "", "C:\\\\", HERE, "", *ARGS),
}


@each_row("lines", PLACES.values(), ids=PLACES)
@each_row("indent", ["    ", "\t"], ids=["blanks", "tabs"])
def test_list_is_at_the_end_of_the_first_block(lines, indent):
    before, after = docstring(*lines, indent=indent)
    outcome = put(before)
    assert isinstance(outcome, Edited), outcome
    assert outcome.source.decode() == after


JOINED = {
    "at the end": (("Sum.", "", "- When: x."), 3),
    "above a section": (("Sum.", "", "- When: x.", "", *ARGS), 3),
    "above a field without blank line": (("Sum.", "", "- When: x.", ":param x: y"), 3),
    "below a human's list": (("Sum.", "", "- human", "", "- When: x.", "", *ARGS), 5),
}


@each_row(("lines", "at"), JOINED.values(), ids=JOINED)
def test_list_of_coreloops_forms_is_continued(lines, at):
    outcome = put(function('"""' + lines[0], *lines[1:], '"""'))
    blank = [""] if ":param x: y" in lines else []
    grown = [*lines[:at], *LINES, *blank, *lines[at:]]
    assert outcome.source.decode() == function('"""' + grown[0], *grown[1:], '"""')


def test_only_missing_lines_are_added():
    outcome = put(function('"""Sum.', "", LINES[0], '"""'))
    assert outcome.appended == LINES[1:]
    assert put(function('"""Sum.', "", *LINES[::-1], '"""')).appended == ()
    assert put(function('"""Sum."""'), lines=[LINES[0]] * 3).appended == LINES[:1]


LITERALS = {
    "one line": ('"""Sum."""', '"""Sum.\n\n    - When: margin.\n    - Call: show().\n    """'),
    "raw": ('r"""\\d"""', 'r"""\\d\n\n    - When: margin.\n    - Call: show().\n    """'),
    "single quotes": ("'it\\'s'", "'it\\'s\\n\\n- When: margin.\\n- Call: show().'"),
    "line breaks as escapes": (
        '"""Sum.\\n\\nArgs:\\n    x: y"""',
        '"""Sum.\n\n- When: margin.\n- Call: show().\\n\\nArgs:\\n    x: y"""',
    ),
    "continued lines": (
        '"""\\\nSum.\\\n"""',
        '"""\\\nSum.\\\n\n\n    - When: margin.\n    - Call: show().\n    """',
    ),
    "in parentheses": (
        '(\n      """Sum."""  # why\n    )',
        '(\n      """Sum.\n\n      - When: margin.\n      - Call: show().\n      """  # why\n    )',
    ),
    "followed by a statement": (
        '"""Sum."""; x = 1',
        '"""Sum.\n\n    - When: margin.\n    - Call: show().\n    """; x = 1',
    ),
}


@each_row(("before", "after"), LITERALS.values(), ids=LITERALS)
def test_literal_becomes(before, after):
    outcome = put(f"def f():\n    {before}\n")
    assert isinstance(outcome, Edited), outcome
    assert outcome.source.decode() == f"def f():\n    {after}\n"


@each_row(
    "encoding", ["cp949", "euc-kr", "utf-8", "utf-8-sig"], ids=["cp949", "euc-kr", "utf-8", "byte order mark"]
)
def test_file_keeps_its_encoding(encoding):
    head = "" if encoding == "utf-8-sig" else f"# coding: {encoding}\n"
    before, after = docstring("수익성.", HERE_AND_BLANK, "Args:", "    x: 값")
    outcome = put((head + before).encode(encoding))
    assert outcome.source == (head + after).encode(encoding)
    korean = put((head + before).encode(encoding), lines=["- When: 마진을 묻는다."])
    assert korean.source.decode(encoding).count("마진을") == 1


HOSTILE = {
    "a heading of google": ("Returns:", "first block"),
    "a field": (":param x: y", "first block"),
    "a prompt": (">>> f()", "block of code"),
    "an open fence": ("```", "would"),
    "text": ("When: x.", "first block"),
    "indentation of its own": ("  - When: x.", "first block"),
    "a blank at the end": ("- When: x. ", "first block"),
    "an underline": ("-----", "first block"),
    "two lines": ("- When: a\nb", "invisible"),
    "escape sequence of a terminal": ("- When: \x1b[2K", "invisible"),
    "hidden direction": ("- When: \u202e", "invisible"),
    "surrogate": ("- When: \ud800", "invisible"),
}


@each_row(("line", "reason"), HOSTILE.values(), ids=HOSTILE)
@each_row("lines", [("Sum.",), ("Sum.", "", *ARGS), ("Sum.", "", "- When: old.", "", *NUMPYDOC)])
def test_line_that_is_not_a_bullet_is_refused(line, reason, lines):
    outcome = put(function('"""' + lines[0], *lines[1:], '"""'), lines=[line], is_ours=lambda _: True)
    assert reason in outcome


LONG = "- When: a question names the margin of a company and of each of the companies that it owns"
WRAPPED = ("- When: a question names the margin of a company and of each of the", "  companies that it owns")


@each_row("lines", [("Sum.", HERE), ("Sum.", HERE, "", *ARGS), ("Sum.", HERE_AND_BLANK, *ARGS)])
def test_line_is_wrapped_at_the_width(lines):
    before, _ = docstring(*lines)
    outcome = put(before, lines=[LONG, LINES[1]])
    assert f"\n\n    {WRAPPED[0]}\n    {WRAPPED[1]}\n    {LINES[1]}\n" in outcome.after
    assert outcome.appended == (LONG, LINES[1])
    assert put(outcome.source, lines=[LONG]).appended == ()


def test_korean_line_is_wrapped_by_columns_not_by_characters():
    outcome = put(function('"""수익성."""'), lines=[f"- When: {'마진을 ' * 9}묻는 질문"])
    assert outcome.after == f"수익성.\n\n    - When: {'마진을 ' * 9}묻는\n      질문\n    "


OLD = ("- When: one.", "- When: two.", "- When: three.")
REPLACED = {
    "the first": (OLD[:1], [OLD[1], OLD[2], *LINES]),
    "the middle": (OLD[1:2], [OLD[0], OLD[2], *LINES]),
    "all": (OLD, LINES),
}
TAILS = {
    "at the end": [],
    "above a numpydoc section": ["", *NUMPYDOC],
    "above a google section": ["", *ARGS],
    "above fields": ["", ":param x: y"],
}


@each_row(("replaced", "left"), REPLACED.values(), ids=REPLACED)
@each_row("rest", TAILS.values(), ids=TAILS)
def test_lines_are_replaced_by_others(replaced, left, rest):
    old = put(function('"""Sum.', *rest, '"""'), lines=OLD)
    outcome = put(old.source, lines=LINES, replaced=replaced)
    assert isinstance(outcome, Edited), outcome
    assert (outcome.removed, outcome.appended) == (replaced, LINES)
    assert (outcome.before, outcome.old) == (old.after, old.source)
    expected = put(function('"""Sum.', *rest, '"""'), lines=left)
    assert outcome.source == expected.source


@each_row(
    ("replaced", "lines", "reason"),
    [
        (["- When: none."], LINES, "absent"),
        ([OLD[0], "- When: none."], LINES, "absent"),
        (["- When: twice."], LINES, "more than once"),
        (["x: y"], LINES, "absent"),
        (OLD[:1], OLD[1:2], "none added"),
        (OLD[:1], ["- When: a\nb"], "invisible"),
        (OLD[:1], [], "no lines"),
    ],
    ids=["absent", "partly absent", "twice", "not a bullet", "nothing new", "hostile", "nothing"],
)
def test_lines_are_not_replaced_if(replaced, lines, reason):
    source = function('"""Sum.', "", "- When: twice.", "", "- When: twice.", *OLD, "", *ARGS, '"""')
    assert reason in put(source, lines=lines, replaced=replaced)


NASTY = st.text(alphabet="ab \\\"'\n\r\t\f\u2028수-=:#`>@NGuide{}x0", max_size=60)


@given(NASTY, st.sampled_from(['"""', "'''", '"', "'", 'r"""', "(", "f'"]), st.sampled_from([None, "Guide"]))
def test_any_text_is_edited_provably_or_refused(text, quote, section):
    closing = {"(": ")", "f'": "'", 'r"""': '"""'}.get(quote, quote)
    put(f"def f():\n    {quote}{text}{closing}\n    return 1\n", section=section)


@given(st.text(alphabet="ab -\\\"'`>~#:=*수\u3000\xa0\t", max_size=40), st.integers(0, 80))
def test_any_line_arrives_unchanged_or_is_refused(text, before):
    line = f"- When: {'a' * before}{text}"
    outcome = put(function('"""Sum.', "", *NUMPYDOC, '"""'), lines=[line])
    if isinstance(outcome, Edited):
        above = inspect.cleandoc(outcome.after).partition("\n\nParameters")[0]
        assert " ".join(part.strip(" ") for part in above.split("\n")[2:]) == line
