"""What may be put into a docstring: whole lines at the end of one section, and nothing else anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.docstrings.edit import Edited, append_to_section
from coreloop.docstrings.source import UnprovenError
from coreloop.guard.insertion import inserted_lines

LINES = ("- When: margin.", "- Call: show().")
GUIDE = ("Guide", "-----", *LINES)


def function(*lines: str, name: str = "f", end: str = "\n") -> bytes:
    body = "".join(f"    {line}{end}" if line else end for line in lines)
    return f"def {name}():{end}{body}".encode()


def inserted(old: bytes, new: bytes, section: str = "Guide", line: int | None = None) -> list[str]:
    return inserted_lines(old, new, qualname="f", line=line, section=section)


def refused(old: bytes, new: bytes) -> str:
    with pytest.raises(UnprovenError) as reason:
        inserted(old, new)
    return str(reason.value)


ONE_LINE = function('"""Sum."""', "return 1")
PLAIN = function('"""Sum.', "", "More.", '"""', "return 1")
HAS = function('"""Sum.', "", "Guide", "-----", "- Old.", "", "Notes", "-----", "x", '"""')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ONE_LINE, function('"""Sum.', "", *GUIDE, '"""', "return 1")),
        (PLAIN, function('"""Sum.', "", "More.", "", *GUIDE, '"""', "return 1")),
        (HAS, function('"""Sum.', "", "Guide", "-----", "- Old.", *LINES, "", "Notes", "-----", "x", '"""')),
        (function('"Sum."'), function('"Sum.\\n\\nGuide\\n-----\\n- When: margin.\\n- Call: show()."')),
        (
            function('"""Sum.', "", "Args:", "    x: y", '"""'),
            function(
                '"""Sum.', "", "Args:", "    x: y", "", "Guide:", *(f"    {one}" for one in LINES), '"""'
            ),
        ),
        (
            function('"""Sum.', "", "## A", "x", '"""'),
            function('"""Sum.', "", "## A", "x", "", "## Guide", *LINES, '"""'),
        ),
    ],
    ids=["one line becomes several", "a new section", "an old section", "escapes", "google", "markdown"],
)
def test_lines_at_the_end_of_the_section_are_told(old: bytes, new: bytes):
    assert inserted(old, new) == list(LINES)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "cp949"])
def test_what_promote_writes_is_read_back(end: str, coding: str):
    text = f"# coding: {coding.removesuffix('-sig')}\n" + function('"""요약."""', "return '값'").decode()
    old = text.replace("\n", end).encode(coding)
    lines = ("- When: 마진.", "- Call: show().")
    edited = append_to_section(old, "f", "Guide", lines)
    assert isinstance(edited, Edited)
    assert inserted(old, edited.source) == list(lines)


def test_one_of_several_definitions_is_named_by_its_line():
    other = function('"""Other."""')
    new = function('"""Sum.', "", *GUIDE, '"""', "return 1")
    assert inserted(other + ONE_LINE, other + new, line=3) == list(LINES)
    with pytest.raises(UnprovenError, match="defined more than once"):
        inserted(other + ONE_LINE, other + new)


NEW = function('"""Sum.', "", "More.", "", *GUIDE, '"""', "return 1")


def changed(old: str, new: str, source: bytes = NEW) -> bytes:
    assert old in source.decode()
    return source.decode().replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        pytest.param(changed("return 1", "return 2"), "something outside", id="code"),
        pytest.param(changed("return 1", "return 1  # noqa"), "something outside", id="a comment"),
        pytest.param(changed("def f", "def  f"), "something outside", id="a space that no tree shows"),
        pytest.param(changed('"""Sum', '"""\\\nSum'), "is removed or rewritten", id="a joined line"),
        pytest.param(changed('"""Sum', 'u"""Sum'), "something outside", id="a prefix"),
        pytest.param(NEW.replace(b'"""', b"'''"), "something outside", id="other quotes"),
        pytest.param(b"\xef\xbb\xbf" + NEW, "something outside", id="a byte order mark"),
        pytest.param(NEW.replace(b"\n", b"\r\n"), "something outside", id="line ends"),
        pytest.param(NEW + b"\n", "something outside", id="a blank line at the end"),
        pytest.param(PLAIN, "is removed or rewritten", id="nothing"),
        pytest.param(changed("Sum", "Total"), "is removed or rewritten", id="a line that is another"),
        pytest.param(changed("    More.\n", ""), "is removed or rewritten", id="a line less"),
        pytest.param(changed("More.", "Never More.", PLAIN), "a line of the", id="a word before a line"),
        pytest.param(changed("More.", "More or less.", PLAIN), "a line of the", id="words in a line"),
        pytest.param(changed("    More", "      More", PLAIN), "a line of the", id="an indented line"),
        pytest.param(changed("More.\n", "More. \n", PLAIN), "a line of the", id="white space behind a line"),
        pytest.param(changed("Sum.", "Sum. \\n\n", PLAIN), "a line of the", id="an escape"),
        pytest.param(
            changed("    More", "    Even\n    More", PLAIN), "does not have one section", id="no heading"
        ),
        pytest.param(changed("Guide", "Notes"), "does not have one section", id="another section"),
        pytest.param(changed("- Call", "\n    Notes\n    -----\n    - Call"), "elsewhere", id="two sections"),
        pytest.param(
            changed("More.\n\n", "More.\n\n    x.\n\n"), "elsewhere", id="a line before the new section"
        ),
        pytest.param(changed(" show().", " show().\x0c"), "elsewhere", id="a form feed at a line's end"),
        pytest.param(changed(" show().", " show().\u2028"), "elsewhere", id="a line separator"),
        pytest.param(changed(" show().", " show().\\r"), "elsewhere", id="an escaped carriage return"),
        pytest.param(
            changed(" show().", " show().\n    \x85"), "elsewhere", id="a line of a control character"
        ),
        pytest.param(
            changed("    - When: margin.\n    - Call: show().\n", ""), "elsewhere", id="only a heading"
        ),
        pytest.param(b"def f(:\n", "cannot read", id="no Python"),
        pytest.param(changed('"""Sum', 'f"""Sum'), "f-string", id="an f-string"),
        pytest.param(changed('"""Sum.', '"" """Sum.'), "several literals", id="two literals"),
        pytest.param(changed("def f", "def g"), "nothing named f", id="another name"),
        pytest.param(function("return 1"), "f has no docstring", id="no docstring"),
        pytest.param(NEW + b"\n\ndef f():\n    pass\n", "defined more than once", id="a second definition"),
        pytest.param(
            changed('"""\n    return', '"""; x = """\n"""\n    return'), "something", id="code behind it"
        ),
    ],
)
def test_anything_else_is_refused(new: bytes, reason: str):
    assert reason in refused(PLAIN, new)


@pytest.mark.parametrize(
    "new",
    [
        changed("- Old.", "- New.\n    - Old.", HAS),
        changed("    x\n", "    x\n    - New.\n", HAS),
        changed("    Guide", "    - New.\n    Guide", HAS),
        changed("    x\n", "    x\n\n    See Also\n    --------\n    - New.\n", HAS),
    ],
    ids=["before an old line", "in another section", "before the heading", "a new section"],
)
def test_lines_are_only_put_to_the_end_of_the_section_that_is_there(new: bytes):
    assert refused(HAS, new) == "lines are put elsewhere than to the end of section Guide"


def test_a_second_section_of_the_name_is_refused():
    twice = changed(
        "    Notes\n    -----\n", "    Guide\n    -----\n    - New.\n\n    Notes\n    -----\n", HAS
    )
    assert "does not have one section" in refused(HAS, twice)
    assert "does not have one section" in refused(twice, changed("    x\n", "    x\n    - New.\n", twice))


@given(st.integers(0, 400), st.integers(0, 60), st.text(alphabet='ab-:. \n"\\#G', max_size=40))
def test_no_other_edit_is_told_as_lines(at: int, gone: int, text: str):
    """An edit anywhere is refused, or it is whole lines at the end of the section and nothing else."""
    new = HAS[:at] + text.encode() + HAS[at + gone :]
    try:
        lines = inserted(HAS, new)
    except UnprovenError:
        return
    head, tail = HAS.split(b"- Old.", 1)
    assert new.startswith(head + b"- Old.")
    assert new.endswith(tail)
    middle = new[len(head) + 6 : len(new) - len(tail)].decode()
    assert [one.strip() for one in middle.split("\n") if one.strip()] == lines
