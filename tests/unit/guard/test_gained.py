"""coreloop's lines among what docstrings gain: which files are parsed, and which lines count. No git."""

from collections import Counter

import pytest

from coreloop.guard import gained
from coreloop.guard.change import Gained, Texts
from coreloop.guard.gained import gained_lines, is_worded, own_lines, stray_lines, undone_lines
from coreloop.project.settings import CategoryRule, Settings
from guarding import HEAD, file
from promoting import FILE, LINES
from rows import each_row

ONCE = "- Call once per request"
SETTINGS = Settings(categories=(CategoryRule(label="FIN", any=("roe",)),))


def function(*lines: str, name: str = "f") -> bytes:
    body = "".join(f"    {line}\n" for line in lines)
    return f'def {name}(company, axis):\n    """Sums.\n\n{body}    """\n'.encode()


PLAIN = function()


def lines_of(old: bytes, new: bytes, path: str = FILE) -> list[tuple[str, str]]:
    return [(line.qualname, line.line) for line in gained_lines([Texts(path, old, new)])]


@each_row(
    ("new", "line"),
    [
        (function(ONCE), ONCE),
        (function("- company: from", "  show().code"), "- company: from show().code"),
        (rb"def f(): 'Sums.\n\n- Call once per request'", ONCE),
        (rb"def f(): 'Sums.\n\n\x2d Call once per request'", ONCE),
        (rb"def f(): 'Sums.\n\n\N{HYPHEN-MINUS} Call once per request'", ONCE),
        (b"class f:\n    '''\n\t- Call once per request\n    '''", ONCE),
        (b"def f():\r\n    '''Sums.\r\n\r\n    - Call once per request\r\n    '''", ONCE),
    ],
    ids=["a line", "wrapped", "one line", "an escape", "a named escape", "a class", "CRLF"],
)
def test_a_line_is_gained_however_it_is_written(new: bytes, line: str):
    assert lines_of(PLAIN, new) == [("f", line)]


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


def test_the_same_line_in_a_second_docstring_is_gained():
    assert lines_of(function(ONCE), function(ONCE) + function(ONCE, name="g")) == [("g", ONCE)]


def test_a_line_may_move_to_another_file():
    moved = [Texts("a.py", function(ONCE), PLAIN), Texts("b.py", b"", function(ONCE))]
    assert gained_lines(moved) == ()
    copied = [*moved, Texts("c.py", b"", function(ONCE))]
    assert gained_lines(copied) == (Gained("c.py", "f", ONCE),)


def test_a_file_without_an_added_bullet_is_not_parsed(monkeypatch: pytest.MonkeyPatch):
    def refuse(raw: bytes) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(gained, "read_source", refuse)
    changed = function("- Old.").replace(b"Sums.", b"All sums.") + b"x = 1 - 2\n"
    assert gained_lines([Texts(FILE, function("- Old."), changed)]) == ()
    with pytest.raises(AssertionError, match="parsed"):
        gained_lines([Texts(FILE, PLAIN, function("- New."))])


def test_undoing_a_promotion_restores_what_it_replaced():
    before, after = (own_lines(function(f"- company: from {tool}().x")) for tool in ("a", "b"))
    assert undone_lines(after, before, before=before, after=after) == before
    assert undone_lines(before, after, before=before, after=after) == Counter()
    assert undone_lines(after, before + after, before=before, after=after) == Counter()
    assert undone_lines(after, before, before=before, after=before) == Counter()
    # the base does not have what it added, or it added nothing
    assert undone_lines(Counter(), before, before=before, after=after) == Counter()
    assert undone_lines(Counter(), before, before=before, after=Counter()) == Counter()


@each_row(
    ("line", "worded"),
    [
        (ONCE, True),
        ("- company: from show().code", True),
        ("- other: from show().code", False),
        ("- First: login", False),
        ("- Use for: roe", True),
        ("- Use for: charts", False),
        ("- When: questions of no category.", True),
        ("- When: questions on roe (category FIN).", True),
        ("- When: questions on charts (category FIN).", False),
        ("- Call: show(company).", True),
        ("- Call: login(company).", False),
        ("- Fails: called without axis: 3 of 3 calls failed (auth); with it 0 of 7.", True),
        ("- Fails: called without other: 3 of 3 calls failed (auth); with it 0 of 7.", False),
    ],
)
def test_a_line_counts_if_the_base_has_its_words(line: str, worded: bool):
    names = {"show"}
    assert is_worded(Gained(FILE, "f", line), PLAIN, settings=SETTINGS, names=names) is worded
    assert is_worded(Gained(FILE, "", line), b"def (", settings=SETTINGS, names=names)


def test_the_arguments_are_those_of_the_line_s_own_function():
    line, both = "- company: from show().code", PLAIN + b"\n\ndef g(other):\n    return other\n"
    for name, worded in (("f", True), ("g", False)):
        assert is_worded(Gained(FILE, name, line), both, settings=SETTINGS, names={"show"}) is worded


def test_a_new_function_has_no_arguments_at_the_base():
    for line, worded in (("- First: show", True), ("- company: from show().code", False)):
        assert is_worded(Gained(FILE, "new", line), PLAIN, settings=SETTINGS, names={"show"}) is worded


def test_lines_of_a_promotion_are_not_stray():
    lines = tuple(Gained(FILE, "analysis", line) for line in LINES)
    assert stray_lines(lines, {HEAD: (file(),)}) == ()
    assert stray_lines((*lines, lines[0]), {HEAD: (file(),)}) == (lines[0],)
    assert stray_lines(lines, {}) == lines
