import pytest

from coreloop.descriptions.lost_sections import SECTIONS, Loss, docstring_sections, lost_sections, shapes
from coreloop.descriptions.source import UnprovenError
from rows import each_row

NUMPYDOC = """Summary.

    More text.

    Parameters
    ----------
    x : int

    Returns
    -------
    None

    Raises
    ------
    KeyError
        Always.

    See Also
    --------
    g

    Notes
    -----
    A note.

    Examples
    --------
    >>> f()

    Guide
    -----
    - When: always.
    """
GOOGLE = """Summary.

    More text.

    Args:
        x: y

    Returns: an int.

    Raises:
        KeyError: always.

    Example:
        >>> f()

    Note:
        A note.

    SeeAlso:
        g

    Guide: always.
    """
MARKDOWN = "Summary.\n\nMore text.\n" + "".join(f"\n## {name}\n\ntext\n" for name in SECTIONS[2:])


@each_row("docstring", [NUMPYDOC, GOOGLE, MARKDOWN], ids=["numpydoc", "google", "markdown"])
def test_nine_sections_are_seen_in_every_style(docstring):
    assert docstring_sections(docstring) == SECTIONS


@each_row(
    "stub",
    ["", "…", "-", "```python\n    ```"],
)
@each_row("heading", ["Guide\n    -----", "## Guide", "Guide:"])
def test_stub_is_missing(heading, stub):
    body = f"    {stub}" if heading == "Guide:" else stub
    docstring = f"Summary.\n\n    {heading}\n    {body}\n\n    Notes\n    -----\n    x\n    "
    assert docstring_sections(docstring) == ("Summary", "Notes")


@each_row(
    ("docstring", "present"),
    {
        "nothing": (None, ()),
        "a directive is not a description": ("Sum.\n\n.. versionadded:: 1", ("Summary",)),
        "a stub and text": ("Sum.\n\nGuide\n-----\n…\n- a", ("Summary", "Guide")),
        "stub on the heading's line": ("Sum.\n\nGuide: …", ("Summary",)),
        "a heading in a fence": ("Sum.\n\n```\nGuide\n-----\n- a\n```", ("Summary", "Description")),
    }.values(),
)
def test_section_counts_if_it_has_content(docstring, present):
    assert docstring_sections(docstring) == present


SOURCE = '''
def f():
    """Sum."""
    def inner():
        """Sum."""
def _private():
    """Sum."""
class A:
    @property
    def p(self):
        """Sum."""
    @p.setter
    def p(self, value): ...
    def __init__(self): ...
class _B:
    def public(self): ...
if True:
    async def g():
        f"""Sum."""
'''


def test_public_definitions_are_reported_in_order():
    public = shapes(SOURCE.encode(), sections=("Summary", "Guide"))
    assert [(shape.qualname, shape.line, shape.present, shape.missing) for shape in public] == [
        ("f", 2, ("Summary",), ("Guide",)),
        ("A", 8, (), ("Summary", "Guide")),
        ("A.p", 10, ("Summary",), ("Guide",)),
        ("g", 18, (), ("Summary", "Guide")),
    ]


def test_unreadable_file_is_refused():
    for pair in ((b"x = 1", b"\0"), (b"\0", b"x = 1")):
        with pytest.raises(UnprovenError, match="cannot read the file"):
            lost_sections(*pair)


def with_docstring(docstring):
    return f'class A:\n  def f(self):\n    """{docstring}"""\n'.encode()


@each_row(
    ("new", "lost"),
    {
        "nothing lost": (with_docstring(NUMPYDOC), ()),
        "a section lost": (
            with_docstring(NUMPYDOC.replace("Guide\n    -----\n    - When: always.", "")),
            ("Guide",),
        ),
        "a section made a stub": (with_docstring(NUMPYDOC.replace("- When: always.", "…")), ("Guide",)),
        "all lost": (b"class A:\n  def f(self): ...\n", SECTIONS),
        "no longer defined": (b"class A:\n  def g(self): ...\n", ()),
    }.values(),
)
def test_lost_sections_are_named(new, lost):
    expected = (Loss("A.f", 2, lost),) if lost else ()
    assert lost_sections(with_docstring(NUMPYDOC), new) == expected
