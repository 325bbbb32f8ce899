"""coreloop's lines among what docstrings gain: which files are parsed, and which lines count. No git."""

import pytest

from coreloop.guard.added_lines import read_added_lines, stray_lines, written_lines
from coreloop.guard.change import AddedLine, Texts
from guarding import HEAD, file
from promoting import FILE, LINES
from rows import each_row

ONCE = "- Call once per request"


def function(*lines: str, name: str = "f") -> bytes:
    body = "".join(f"    {line}\n" for line in lines)
    return f'def {name}(company, axis):\n    """Sums.\n\n{body}    """\n'.encode()


PLAIN = function()


def lines_of(old: bytes, new: bytes, path: str = FILE) -> list[tuple[str, str]]:
    return [(line.qualname, line.line) for line in read_added_lines([Texts(path, old, new)])]


@each_row(
    ("new", "line"),
    [
        (function(ONCE), ONCE),
        (function("- company: from", "  show().code"), "- company: from show().code"),
        (rb"def f(): 'Sums.\n\n- Call once per request'", ONCE),
        (function(ONCE, "  >>> f(1)"), ONCE),
        (function("- Call once", "  per request", "  * then more"), ONCE),
        (function("- company: from", "  show().code", "  (a code)"), "- company: from show().code"),
        (b"def f():\n    '''- Call once per request\n    Sums.\n    '''", ONCE),
        (rb"def f(): 'Sums.\n\n\x2d Call once per request'", ONCE),
        (rb"def f(): 'Sums.\n\n\N{HYPHEN-MINUS} Call once per request'", ONCE),
        (b"class f:\n    '''\n\t- Call once per request\n    '''", ONCE),
        (b"def f(): 'Sums.\\n\\n-\\x20Call once per request'", ONCE),
        (b"def f(): 'Sums.\\n\\n-\\040Call once per request'", ONCE),
        (b"def f(): 'Sums.\\n\\n- Call once\\\n per request'", ONCE),
        (b"def f(): 'Sums.\\n\\n- Call ' 'once per request'", ONCE),
        (b"def f(): 'Sums.\\r- Call once per request'", ONCE),
        ("def f(): 'Sums.\\u2028-\u00a0Call once\u200b per request'".encode(), ONCE),
        ("def f(): 'Sums.\\n\\n- Call\u3164once\u2800per\u115frequest'".encode(), ONCE),
        (b"def f():\r\n    '''Sums.\r\n\r\n    - Call once per request\r\n    '''", ONCE),
    ],
    ids=[
        *(
            "a line",
            "wrapped",
            "one line",
            "above other text",
            "wrapped above other text",
            "a path above other text",
        ),
        "above the summary",
        *("an escape", "a named escape", "a class", "an escaped space"),
        *(
            "an octal space",
            "a line continuation",
            "two literals",
            "CR",
            "invisible characters",
            "fillers",
            "CRLF",
        ),
    ],
)
def test_a_line_is_gained_however_it_is_written(new: bytes, line: str):
    assert lines_of(PLAIN, new) == [("f", line)]


@each_row(
    "written",
    [
        b'f.__doc__ = "Sums.\\n\\n- Call once per request"',
        b'tool(f, description="Sums.\\n\\n- Call " "once per request")',
        b'@tool(description="""Sums.\n- Call once per request""")\ndef g(): pass',
    ],
    ids=["a later docstring", "an argument", "a decorator"],
)
def test_a_line_is_gained_where_another_description_than_a_docstring_has_it(written: bytes):
    assert lines_of(PLAIN, PLAIN + written) == [("", ONCE)]


def test_a_line_that_moves_from_a_docstring_to_another_description_is_not_gained():
    assert lines_of(function(ONCE), PLAIN + b'f.__doc__ = "Sums.\\n\\n- Call once per request"') == []


def test_other_texts_gain_no_lines():
    assert (
        lines_of(PLAIN, PLAIN + b'label = "- Call once per request"; log(text="- Call once per request")')
        == []
    )
    assert lines_of(PLAIN, PLAIN + b'f.label = "- Call once per request"') == []


@each_row(
    ("old", "new"),
    [
        (function(ONCE), function("- Fast.", ONCE)),
        (function(ONCE), function(ONCE, name="g")),
        (function(ONCE), PLAIN),
        (PLAIN, PLAIN + b"x = 1 - 2\n"),
        (PLAIN, PLAIN + b"# - Call once per request\n"),
        (PLAIN, PLAIN + b"X = '- Call once per request'\n"),
        (PLAIN, function("- Call it once per request")),
        (PLAIN, b"def f():\n    f'''\n    - Call once per request\n    '''\n"),
    ],
    ids=["there before", "renamed", "lost", "a minus", "a comment", "a string", "other words", "an f-string"],
)
def test_other_lines_are_not(old: bytes, new: bytes):
    assert lines_of(old, new) == []


@pytest.mark.parametrize(
    "text",
    [
        f"    {ONCE}",
        f'    """{ONCE}"""',
        '    "Sums.\\n\\n-\\x20Call once per request"',
        "    '- Call ' 'once per request'",
        "    - Call once\n      per request",
    ],
    ids=["a line", "quoted", "escaped", "two literals", "wrapped"],
)
def test_a_line_is_found_in_a_file_that_python_cannot_read(text: str):
    broken = f"def f(:\n{text}\n".encode()
    assert ("", ONCE) in lines_of(b"def f(:\n", broken)


def test_a_line_with_quotes_is_found_in_a_file_that_python_cannot_read():
    line = '- Call: analysis(company, axis="수익성") -> show(company).'
    broken = f'def f(:\n    """\n    {line}\n    """\n'.encode()
    assert ("", line) in lines_of(b"def f(:\n", broken)


def test_the_rest_of_an_old_bullet_makes_a_line():
    assert lines_of(function("- Call once"), function("- Call once", "  per request")) == [("f", ONCE)]


def test_the_same_line_in_a_second_docstring_is_gained():
    assert lines_of(function(ONCE), function(ONCE) + function(ONCE, name="g")) == [("g", ONCE)]


def test_a_line_may_move_to_another_file():
    moved = [Texts("a.py", function(ONCE), PLAIN), Texts("b.py", b"", function(ONCE))]
    assert read_added_lines(moved) == ()
    copied = [*moved, Texts("c.py", b"", function(ONCE))]
    assert read_added_lines(copied) == (AddedLine("c.py", "f", ONCE),)


@pytest.mark.parametrize(
    ("new", "may"),
    [
        (PLAIN, False),
        (b"x = 1\n", False),
        (function("- New."), True),
        (b"def f(): '\\x2d Call'\n", True),
    ],
)
def test_a_file_without_a_dash_or_an_escape_is_not_parsed(new: bytes, may: bool):
    assert Texts(FILE, PLAIN, new).may_gain() is may


@each_row(
    ("added", "removed", "gained"),
    [
        (f"# {ONCE}", "", {ONCE}),
        ('text = f"- Call " "once per request"', "", {ONCE}),
        ("# - Call once\n+    #   per request", "", {ONCE}),
        (f"    {ONCE}", f"# {ONCE}", set()),
        ("# - Call it once per request", "", set()),
    ],
    ids=["a comment", "two literals", "a wrapped comment", "from a comment", "other words"],
)
def test_a_patch_adds_lines_to_any_text(added: str, removed: str, gained: set[str]):
    assert set(written_lines(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n-{removed}\n+{added}\n")) == gained


def test_lines_of_a_promotion_are_not_stray():
    lines = tuple(AddedLine(FILE, "analysis", line) for line in LINES)
    assert stray_lines(lines, {HEAD: (file(),)}) == ()
    assert stray_lines((*lines, lines[0]), {HEAD: (file(),)}) == (lines[0],)
    assert stray_lines(lines, {}) == lines
