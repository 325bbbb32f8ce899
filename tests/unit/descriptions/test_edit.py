from coreloop.descriptions.edit import Edited
from editing import GUIDE, LINES, edit, function
from rows import each_row

BEFORE_AFTER = {
    "one line becomes several, quotes on their own line": (
        function('"""Sum."""', "return 1"),
        function('"""Sum.', "", *GUIDE, '"""', "return 1"),
    ),
    "a new section goes to the end, above the closing quotes": (
        function('"""Sum.', "", "Notes", "-----", "x", '"""'),
        function('"""Sum.', "", "Notes", "-----", "x", "", *GUIDE, '"""'),
    ),
    "closing quotes after text get their own line": (
        function('"""Sum.', "", 'Say "no". """'),
        function('"""Sum.', "", 'Say "no". ', "", *GUIDE, '"""'),
    ),
    "an existing section grows at its end, before the next": (
        function('"""Sum.', "", "Guide", "-----", "- a", "", "Notes", "-----", "x", '"""'),
        function('"""Sum.', "", "Guide", "-----", "- a", *LINES, "", "Notes", "-----", "x", '"""'),
    ),
    "a list does not run into the paragraph above": (
        function('"""Sum.', "", "Guide", "-----", "Prose.", '"""'),
        function('"""Sum.', "", "Guide", "-----", "Prose.", "", *LINES, '"""'),
    ),
    "the text of a numpydoc section may be indented": (
        function('"""Sum.', "", "Guide", "-----", "  - a", "    b", '"""'),
        function('"""Sum.', "", "Guide", "-----", "  - a", "    b", *(f"  {x}" for x in LINES), '"""'),
    ),
    "a google section ends where the indentation ends": (
        function('"""Sum.', "", "Guide:", "    - a", "", "Prose.", '"""'),
        function('"""Sum.', "", "Guide:", "    - a", *(f"    {x}" for x in LINES), "", "Prose.", '"""'),
    ),
    "text on the heading's line stays there": (
        function('"""Sum.', "", "Guide: ask first.", "", "Returns:", "    int", '"""'),
        function(
            *('"""Sum.', "", "Guide: ask first.", *(f"    {x}" for x in LINES)),
            *("", "Returns:", "    int", '"""'),
        ),
    ),
    "titles above blocks indicate google style": (
        function('"""Sum.', "", "Data Sources:", "    x", '"""'),
        function('"""Sum.', "", "Data Sources:", "    x", "", "Guide:", *(f"    {x}" for x in LINES), '"""'),
    ),
    "markdown, same level": (
        function('"""Sum.', "", "### Notes", "", "x", '"""'),
        function('"""Sum.', "", "### Notes", "", "x", "", "### Guide", *LINES, '"""'),
    ),
    "markdown, a subsection is not the section": (
        function('"""Sum.', "", "## Guide", "- a", "### Sub", "- b", '"""'),
        function('"""Sum.', "", "## Guide", "- a", *LINES, "### Sub", "- b", '"""'),
    ),
    "a title over === does not make an underline": (
        function('"""Polars: fast', "============", "x", '"""'),
        function('"""Polars: fast', "============", "x", "", *GUIDE, '"""'),
    ),
    "a heading in a fence is text": (
        function('"""Sum.', "", "```", "Guide", "-----", "- a", "```", '"""'),
        function('"""Sum.', "", "```", "Guide", "-----", "- a", "```", "", *GUIDE, '"""'),
    ),
    "mixed line ends: the docstring's own": (
        "def f():\r\n" + function('"""Sum.', "", "x", '"""', "1").removeprefix("def f():\n"),
        "def f():\r\n" + function('"""Sum.', "", "x", "", *GUIDE, '"""', "1").removeprefix("def f():\n"),
    ),
    "BOM on the docstring's line": (
        '\ufeffdef f(수=1): # 익\n    """성"""\n',
        "\ufeffdef f(수=1): # 익\n" + function('"""성', "", *GUIDE, '"""').removeprefix("def f():\n"),
    ),
    "form feed, U+2028 and U+0085 are not line ends": (
        "\x0c" + function('"""a\u2028b\x85c\x0c', "d", '"""'),
        "\x0c" + function('"""a\u2028b\x85c\x0c', "d", "", *GUIDE, '"""'),
    ),
    "no final newline": (
        'def f():\n    """Sum."""',
        function('"""Sum.', "", *GUIDE, '"""').removesuffix("\n"),
    ),
}


@each_row(("before", "after"), BEFORE_AFTER.values(), ids=BEFORE_AFTER)
def test_edit_gives_exactly(before, after):
    outcome = edit(before)
    assert isinstance(outcome, Edited), outcome
    assert outcome.source.decode() == after
    assert edit(after).appended == ()


REFUSED = {
    "f-string, which is no docstring": (function('f"""Sum."""'), "empty"),
    "implicit concatenation": (function('"a" "b"'), "several literals"),
    "body on the def line": ('def f(): """Sum."""\n', "line of its definition"),
    "no docstring": (function("return 1"), "empty"),
    "empty docstring": (function('"""  """'), "empty"),
    "no such name": ("def g():\n    '''x'''\n", "nothing here describes f"),
    "syntax error": ('def f(:\n    """Sum."""\n', "cannot read the file: invalid syntax (line 1)"),
    "unknown coding": ('# coding: nope\ndef f():\n    """Sum."""\n', "unknown encoding: nope"),
    "too deep": ("x = " + "+".join(["1"] * 100_000) + '\ndef f():\n    """Sum."""\n', "cannot read the file"),
    "defined twice": (function('"""a"""') + function('"""b"""'), "lines 2, 4"),
    "two guides": (
        function('"""Sum.', "", "Guide", "-----", "a", "", "Guide", "-----", "b", '"""'),
        "2 sections",
    ),
    "raw in single quotes": (function('r"Sum."'), 'raw string in "'),
    "open fence": (function('"""Sum.', "", "```", "x", '"""'), "never closed"),
    "table in the section": (
        function('"""Sum.', "", "Guide", "-----", "x", "", "=====", "A", "=====", "1", "=====", '"""'),
        "dashes",
    ),
}


@each_row(("source", "reason"), REFUSED.values(), ids=REFUSED)
def test_refusal_says_why(source, reason):
    assert reason in edit(source)


def test_quotes_and_backslashes_are_escaped_where_they_must_be():
    lines = ['- a\\nb "c" \\', '- """', "- '''"]
    for quoted in ('"""Sum."""', "'''Sum.'''", '"Sum."', "'Sum.'"):
        outcome = edit(function(quoted), lines=lines)
        assert isinstance(outcome, Edited)
        assert [line.strip() for line in outcome.after.split("\n")][4:7] == lines
    assert isinstance(edit(function('r"""Sum."""'), lines=lines[:1]), Edited)
    refused = edit(function('r"""Sum."""'), lines=lines[1:2])
    assert refused == 'the text is a raw string in """, which cannot hold the lines'


def test_character_that_the_encoding_lacks_is_refused():
    source = '# coding: latin-1\ndef f():\n    """é"""\n'.encode("latin-1")
    assert edit(source, lines=["- 수"]) == "the file's encoding, iso-8859-1, cannot encode the text"
    assert isinstance(edit(source, lines=["- é"]), Edited)


def test_trail_byte_that_looks_like_a_backslash_is_not_an_escape():
    source = '# coding: shift_jis\ndef f():\n    """表ソ能"""\n'.encode("shift_jis")
    assert edit(source).after.startswith("表ソ能\n\n")


NAMES = '''
class A:
    """A."""
    @staticmethod
    async def m(x=lambda: "no"):
        """m."""
        class C:
            def deep():
                """deep."""
    @property
    def p(self):
        """getter."""
    @p.setter
    def p(self, value):
        """setter."""
try:
    pass
except E:
    match x:
        case 1:
            def matched():
                """matched."""
@typing.overload
def o(x: str):
    """overload."""
def o(x):
    """implementation."""
'''


@each_row(
    ("qualname", "text"),
    [
        ("A", "A."),
        ("A.m", "m."),
        ("A.m.C.deep", "deep."),
        ("A.p", "getter."),
        ("matched", "matched."),
        ("o", "implementation."),
    ],
)
def test_name_leads_to_its_docstring(qualname, text):
    outcome = edit(NAMES, qualname)
    assert isinstance(outcome, Edited), outcome
    assert outcome.before == text
