import ast
import importlib.util
import json
import logging
import warnings
from pathlib import Path

import griffe
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from coreloop.docstrings.edit import Edited, Refused, Unchanged, append_to_section
from rows import each_row

LINES = ("- When: margin.", "- Call: show().")
DEFINITIONS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
logging.getLogger("griffe").setLevel(logging.CRITICAL)


def edit(source, qualname="f", section="Guide", lines=LINES, **choices):
    """Append, and check the outcome with nothing else of the package."""
    raw = source if isinstance(source, bytes) else source.encode()
    outcome = append_to_section(raw, qualname, section, lines, **choices)
    if isinstance(outcome, Edited):
        assert_only_one_docstring_grew(raw, outcome)
        assert isinstance(append_to_section(outcome.source, qualname, section, lines, **choices), Unchanged)
    return outcome


def assert_only_one_docstring_grew(old, edited):
    assert edited.source == old[: edited.offset] + edited.inserted + old[edited.offset :]
    old_rest, old_texts = split_docstrings(old)
    new_rest, new_texts = split_docstrings(edited.source)
    assert new_rest == old_rest
    changed = [(old, new) for old, new in zip(old_texts, new_texts, strict=True) if old != new]
    assert changed == [(edited.before or None, edited.after)]
    lines, grown = edited.before.split("\n"), edited.after.split("\n")
    extra = len(grown) - len(lines)
    cuts = [at for at in range(len(lines) + 1) if grown[:at] + grown[at + extra :] == lines]
    assert cuts or not edited.before
    stripped = [line.strip() for line in grown]
    assert all(line.strip() in stripped for line in edited.appended)


def split_docstrings(source):
    """The tree without any docstring, as text, and all docstrings in order (None if absent)."""
    with warnings.catch_warnings(action="ignore"):
        tree, texts = ast.parse(source), []
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS):
            texts.append(ast.get_docstring(node, clean=False))
            if texts[-1] is not None:
                del node.body[0]
    return ast.dump(tree), texts


def griffe_sections(value, style):
    sections = griffe.Docstring(value, parser=style).parse(warnings=False)
    return [json.dumps(plain(section.as_dict()), sort_keys=True, ensure_ascii=False) for section in sections]


def plain(value):
    if hasattr(value, "as_dict"):
        return plain(value.as_dict())
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else str(value).strip()


def function(*lines, indent="    "):
    return "def f():\n" + "".join(f"{indent}{line}\n" if line else "\n" for line in lines)


GUIDE = ("Guide", "-----", *LINES)
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
    "an unknown heading ends the section above": (
        function('"""Sum.', "", "Guide", "-----", "- a", "", "Provenance", "==========", "x", '"""'),
        function('"""Sum.', "", "Guide", "-----", "- a", *LINES, "", "Provenance", "==========", "x", '"""'),
    ),
    "only missing lines are added": (
        function('"""Sum.', "", "Guide", "-----", LINES[0], '"""'),
        function('"""Sum.', "", *GUIDE, '"""'),
    ),
    "a heading without text is filled": (
        function('"""Sum.', "", "Guide", "-----", "", "Notes", "-----", "x", '"""'),
        function('"""Sum.', "", *GUIDE, "", "Notes", "-----", "x", '"""'),
    ),
    "a list does not run into the paragraph above": (
        function('"""Sum.', "", "Guide", "-----", "Prose.", '"""'),
        function('"""Sum.', "", "Guide", "-----", "Prose.", "", *LINES, '"""'),
    ),
    "the text of a numpydoc section may be indented": (
        function('"""Sum.', "", "Guide", "-----", "  - a", "    b", '"""'),
        function('"""Sum.', "", "Guide", "-----", "  - a", "    b", *(f"  {x}" for x in LINES), '"""'),
    ),
    "google style, two spaces as in its other sections": (
        function('"""Sum.', "", "Args:", "  x: y", '"""'),
        function('"""Sum.', "", "Args:", "  x: y", "", "Guide:", *(f"  {x}" for x in LINES), '"""'),
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
    "text on the heading's line, in a run of such headings": (
        function('"""Sum.', "", "When: always.", "Guide: ask", "first.", "How: so.", '"""'),
        function(
            *('"""Sum.', "", "When: always.", "Guide: ask", "first.", *(f"    {x}" for x in LINES)),
            *("How: so.", '"""'),
        ),
    ),
    "titles above blocks indicate google style": (
        function('"""Sum.', "", "Data Sources:", "    x", '"""'),
        function('"""Sum.', "", "Data Sources:", "    x", "", "Guide:", *(f"    {x}" for x in LINES), '"""'),
    ),
    "prose that starts with Note: does not indicate a style": (
        function('"""Sum.', "", "Note: slow.", '"""'),
        function('"""Sum.', "", "Note: slow.", "", *GUIDE, '"""'),
    ),
    "markdown, same level": (
        function('"""Sum.', "", "### Notes", "", "x", '"""'),
        function('"""Sum.', "", "### Notes", "", "x", "", "### Guide", "", *LINES, '"""'),
    ),
    "markdown, a subsection is not the section": (
        function('"""Sum.', "", "## Guide", "- a", "### Sub", "- b", '"""'),
        function('"""Sum.', "", "## Guide", "- a", *LINES, "### Sub", "- b", '"""'),
    ),
    "a title over === does not make an underline": (
        function('"""Polars: fast', "============", "x", '"""'),
        function('"""Polars: fast', "============", "x", "", *GUIDE, '"""'),
    ),
    "=== stays if sections have it": (
        function('"""Sum.', "", "Returns", "=======", "int", '"""'),
        function('"""Sum.', "", "Returns", "=======", "int", "", "Guide", "=====", *LINES, '"""'),
    ),
    "a heading in a fence is text": (
        function('"""Sum.', "", "```", "Guide", "-----", "- a", "```", '"""'),
        function('"""Sum.', "", "```", "Guide", "-----", "- a", "```", "", *GUIDE, '"""'),
    ),
    "a heading in a doctest is text": (
        function('"""Sum.', "", ">>> f()", "Guide", "-----", "- a", '"""'),
        function('"""Sum.', "", ">>> f()", "Guide", "-----", "- a", "", *GUIDE, '"""'),
    ),
    "a heading in indented text is text": (
        function('"""Sum::', "", "    Guide", "    -----", "    - a", "", "end", '"""'),
        function('"""Sum::', "", "    Guide", "    -----", "    - a", "", "end", "", *GUIDE, '"""'),
    ),
    "raw": (function('r"""a\\d"""'), function('r"""a\\d', "", *GUIDE, '"""')),
    "u": (function('u"""Sum."""'), function('u"""Sum.', "", *GUIDE, '"""')),
    "'''": (function("'''Sum.'''"), function("'''Sum.", "", *GUIDE, "'''")),
    "single quotes take escapes": (
        function("'it\\'s'"),
        function("'it\\'s\\n\\nGuide\\n-----\\n- When: margin.\\n- Call: show().'"),
    ),
    "parentheses": (
        function("(", '  """Sum."""  # why', ")"),
        function("(", '  """Sum.', "", *GUIDE, '"""  # why', ")"),
    ),
    "followed by a statement": (
        function('"""Sum."""; x = 1'),
        function('"""Sum.', "", *GUIDE, '"""; x = 1'),
    ),
    "continued lines": (
        function('"""\\', "Sum.\\", ' more."""'),
        function('"""\\', "Sum.\\", " more.", "", *GUIDE, '"""'),
    ),
    "line breaks as escapes": (
        'def f():\n    """Sum.\\n\\nGuide\\n-----\\n- a\\n"""\n',
        'def f():\n    """Sum.\\n\\nGuide\\n-----\\n- a\n- When: margin.\n- Call: show().\\n"""\n',
    ),
    "tabs": (
        function("'''Sum.", "", "Args:", "\tx: y", "'''", indent="\t"),
        function(
            *("'''Sum.", "", "Args:", "\tx: y", "", "Guide:", *(f"\t{x}" for x in LINES), "'''"),
            indent="\t",
        ),
    ),
    "CRLF": (
        function('"""Sum."""').replace("\n", "\r\n"),
        function('"""Sum.', "", *GUIDE, '"""').replace("\n", "\r\n"),
    ),
    "CR": (
        function('"""Sum.', "", 'x"""').replace("\n", "\r"),
        function('"""Sum.', "", "x", "", *GUIDE, '"""').replace("\n", "\r"),
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
    "an example's escaped line break leaves the margin where the quotes are": (
        function('"""Sum.', "", "Guide", "-----", "- 'a\\nb'", "", "Notes", "-----", "x", '"""'),
        function('"""Sum.', "", "Guide", "-----", "- 'a\\nb'", *LINES, "", "Notes", "-----", "x", '"""'),
    ),
}


@each_row(("before", "after"), BEFORE_AFTER.values(), ids=BEFORE_AFTER)
def test_edit_gives_exactly(before, after):
    outcome = edit(before)
    assert isinstance(outcome, Edited), outcome
    assert outcome.source.decode() == after
    assert isinstance(edit(after), Unchanged)


REFUSED = {
    "f-string": (function('f"""Sum."""'), "f-string"),
    "bytes": (function('b"""Sum."""'), "bytes"),
    "implicit concatenation": (function('"a" "b"'), "several literals"),
    "concatenation of triple quotes": (function('"""a""" """b"""'), "several literals"),
    "concatenation in parentheses": (function('("a"', ' "b")'), "several literals"),
    "empty literal next to another": (function('"" "a"'), "several literals"),
    "body on the def line": ('def f(): """Sum."""\n', "line of its definition"),
    "body on the class line": ('class f: "Sum."\n', "line of its definition"),
    "body on a def line with a backslash": ('def f(): \\\n    """Sum."""\n', "line of its definition"),
    "no docstring": (function("return 1"), "no docstring"),
    "a sum of strings": (function('"a" + "b"'), "no docstring"),
    "empty docstring": (function('"""  """'), "empty"),
    "no such name": ("def g():\n    '''x'''\n", "nothing named f"),
    "syntax error": ('def f(:\n    """Sum."""\n', "cannot read the file: invalid syntax (line 1)"),
    "NUL": ('def f():\n    """Su\0m."""\n', "cannot read the file"),
    "unknown coding": ('# coding: nope\ndef f():\n    """Sum."""\n', "unknown encoding: nope"),
    "a codec that is not a text encoding": (
        '# coding: rot13\ndef f():\n    """Sum."""\n',
        "cannot read the file",
    ),
    "too deep": (
        "x = " + "+".join(["1"] * 100_000) + '\ndef f():\n    """Sum."""\n',
        "cannot read the file",
    ),
    "too deep for the parser": (
        "x = " + "-" * 20_000 + '1\ndef f():\n    """Sum."""\n',
        "cannot read the file",
    ),
    "defined twice": (function('"""a"""') + function('"""b"""'), "lines 1, 3"),
    "two guides": (
        function('"""Sum.', "", "Guide", "-----", "a", "", "Guide", "-----", "b", '"""'),
        "2 sections",
    ),
    "two guides in two styles": (
        function('"""Sum.', "", "Guide", "-----", "a", "", "Guide: b", '"""'),
        "2 sections",
    ),
    "raw in single quotes": (function('r"Sum."'), "single quotes"),
    "open fence": (function('"""Sum.', "", "```", "x", '"""'), "never closed"),
    "table in the section": (
        function('"""Sum.', "", "Guide", "-----", "x", "", "=====", "A", "=====", "1", "=====", '"""'),
        "dashes",
    ),
    "text of a google section that is not indented continues": (
        function('"""Sum.', "", "Guide:", "- a", "", "- b", '"""'),
        "not indented",
    ),
}


@each_row(("source", "reason"), REFUSED.values(), ids=REFUSED)
def test_refusal_says_why(source, reason):
    outcome = edit(source)
    assert isinstance(outcome, Refused)
    assert reason in outcome.reason


@each_row(
    ("line", "reason"),
    {
        "two lines": ("- a\nb", "U+000A"),
        "a line end of Unicode only": ("- a\u2028b", "U+2028"),
        "hidden direction": ("- a\u202eb", "U+202E"),
        "lone surrogate": ("- \ud800", "U+D800"),
        "empty": ("  ", "empty"),
        "an open fence": ("```", "would"),
    }.values(),
)
def test_line_that_is_not_one_line_of_text_is_refused(line, reason):
    outcome = edit(function('"""Sum."""'), lines=[line])
    assert isinstance(outcome, Refused)
    assert reason in outcome.reason


@each_row("lines", [("Returns", "-------", "- a"), ("- a", "## Notes", "- b"), ("a", "-----"), ("=====",)])
@each_row("source", [function('"""Sum."""'), function('"""Sum.', "", *GUIDE, '"""')])
def test_line_that_would_be_a_heading_is_refused(source, lines):
    assert isinstance(edit(source, lines=lines), Refused)


def test_quotes_and_backslashes_are_escaped_where_they_must_be():
    lines = ['- a\\nb "c" \\', '- """', "- '''"]
    for quoted in ('"""Sum."""', "'''Sum.'''", '"Sum."', "'Sum.'"):
        outcome = edit(function(quoted), lines=lines)
        assert isinstance(outcome, Edited)
        assert [line.strip() for line in outcome.after.split("\n")][4:7] == lines
    assert isinstance(edit(function('r"""Sum."""'), lines=lines[:1]), Edited)
    refused = edit(function('r"""Sum."""'), lines=lines[1:2])
    assert refused == Refused('the docstring is a raw string, which cannot contain """')


@each_row("encoding", ["cp949", "euc-kr", "iso2022_kr", "utf-8", "johab"])
def test_file_keeps_its_encoding(encoding):
    source = f'# coding: {encoding}\nx = "수"\ndef f(수="익"):\n    """성\n\n    마진"""\n'.encode(encoding)
    outcome = edit(source, lines=["- 수익성"])
    assert isinstance(outcome, Edited)
    assert outcome.source.decode(encoding).endswith('마진\n\n    Guide\n    -----\n    - 수익성\n    """\n')


def test_character_that_the_encoding_lacks_is_refused():
    source = '# coding: latin-1\ndef f():\n    """é"""\n'.encode("latin-1")
    assert edit(source, lines=["- 수"]) == Refused("the file's encoding, iso-8859-1, has no '수'")
    assert isinstance(edit(source, lines=["- é"]), Edited)


def test_trail_byte_that_looks_like_a_backslash_is_not_an_escape():
    source = '# coding: shift_jis\ndef f():\n    """表ソ能"""\n'.encode("shift_jis")
    assert edit(source).after.startswith("表ソ能\n\n")


NAMES = '''"""Module."""
import typing
class A:
    """A."""
    class B:
        """B."""
        @staticmethod
        @deco(1)
        async def m(x=lambda: "no"):
            """m."""
            class C:
                """C."""
                def deep():
                    """deep."""
    @property
    def p(self):
        """getter."""
    @p.setter
    def p(self, value):
        """setter."""
if x:
    try:
        pass
    except E:
        def handled():
            """handled."""
    match x:
        case 1:
            def matched():
                """matched."""
@typing.overload
def o(x: int): ...
@typing.overload
def o(x: str):
    """overload."""
def o(x):
    """implementation."""
def twice():
    """first."""
@deco
def twice():
    """second."""
'''


@each_row(
    ("qualname", "line", "text"),
    [
        ("", None, "Module."),
        ("<module>", None, "Module."),
        ("A", None, "A."),
        ("A.B", None, "B."),
        ("A.B.m", None, "m."),
        ("A.B.m.<locals>.C.deep", None, "deep."),
        ("A.B.m.C.deep", None, "deep."),
        ("A.p", None, "getter."),
        ("A.p", 19, "setter."),
        ("handled", None, "handled."),
        ("matched", None, "matched."),
        ("o", None, "implementation."),
        ("o", 33, "overload."),
        ("twice", 38, "first."),
        ("twice", 40, "second."),
        ("twice", 41, "second."),
    ],
)
def test_name_leads_to_its_docstring(qualname, line, text):
    outcome = edit(NAMES, qualname, line=line)
    assert isinstance(outcome, Edited), outcome
    assert outcome.before == text


def test_line_of_another_definition_is_refused():
    assert "lines" in edit(NAMES, "twice").reason
    assert edit(NAMES, "A", line=1).reason == "A is not defined at line 1 but at 3"


def test_other_spellings_name_the_same_section():
    source = function('"""Sum.', "", "Args:", "    x: y", "", "SeeAlso:", "    z", '"""')
    assert "x: y\n        w: v" in edit(source, section="Parameters", lines=["w: v"]).after
    assert "z\n        w" in edit(source, section="See Also", lines=["w"]).after


def test_line_after_a_doctest_is_not_its_output():
    source = function('"""Sum.', "", "Examples", "--------", ">>> 1", "1", '"""')
    assert "1\n\n    Text." in edit(source, section="Examples", lines=["Text."]).after


CREATED = {
    "function": ("@d\ndef f(\n    a,\n):\n    # c\n    return 1\n", "f", 4 * " "),
    "decorated body": ("class f:\n\t@d\n\tdef g(): pass\n", "f", "\t"),
    "module": ("# c\nfrom __future__ import annotations\n", "", ""),
    "CRLF": ("def f():\r\n    pass\r\n", "f", "    "),
}


@each_row(("source", "qualname", "indent"), CREATED.values(), ids=CREATED)
def test_docstring_is_created_only_when_asked(source, qualname, indent):
    assert "no docstring" in edit(source, qualname).reason
    outcome = edit(source, qualname, create_docstring=True)
    assert isinstance(outcome, Edited)
    assert outcome.after == "\n" + "".join(f"{indent}{line}\n" for line in GUIDE) + indent
    assert (b"\r\n" in outcome.inserted) == ("\r" in source)


@each_row("source", ["def f(): pass\n", "def f():\n    f'x'\n", "def f(): \\\n    pass\n"])
def test_docstring_is_not_created_if_that_cannot_be_proven(source):
    assert isinstance(edit(source, create_docstring=True), Refused)


BLOCKS = (
    ("Prose.", "More prose."),
    ("Parameters", "----------", "x : int", "    Text."),
    ("Notes", "-----", "Text with *marks*."),
    ("Guide", "-----", "- a", "- b"),
    ("Provenance", "==========", "x"),
    ("Args:", "    x: y", "", "    z: w"),
    ("Guide: inline",),
    ("Guide:", "    - a"),
    ("Data Sources:", "    x"),
    ("Note: slow.",),
    ("## Notes", "x"),
    ("# Guide", "", "- a"),
    ("```python", "Guide", "-----", "```"),
    (">>> f()", "Guide", "-----"),
    ("Example::", "", "    Guide", "    -----", "    - a"),
    ("- a", "  - b"),
    ("=====", "A", "=====", "1", "====="),
    (".. note::", "    x"),
    ("back\\\\slash \\x41 \\N{BULLET}", "\\ttab"),
    ("수익성 — ‘마진’",),
)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def documented_functions(draw):
    """A function in a class, its docstring made of blocks, in every spelling."""
    indent, newline = draw(st.sampled_from(["    ", "  ", "\t"])), draw(NEWLINES)
    quote = draw(st.sampled_from(['"""', "'''"]))
    prefix = draw(st.sampled_from(["", "r", "u", "R"]))
    blocks = draw(st.lists(st.sampled_from(BLOCKS), max_size=5))
    lines = ["Summary.", *(line for block in blocks for line in ("", *block))]
    margin = draw(st.sampled_from([indent * 2, indent * 2, indent * 3, ""]))
    text = ("\n").join([lines[0], *(margin + line if line else draw(BLANKS) for line in lines[1:])])
    closing = draw(st.sampled_from(["", "\n" + indent * 2, "\n\n" + indent * 2]))
    head = draw(st.sampled_from(["", "\ufeff", "# coding: cp949\n", "#!/x\n# -*- coding: utf-8 -*-\n"]))
    source = (
        f"{head}class A:\n{indent}@d\n{indent}def f(self, 수='익'):\n"
        f"{indent * 2}{prefix}{quote}{text}{closing}{quote}\n{indent * 2}return 'Guide'\n"
    )
    return source.replace("\n", newline).encode("cp949" if "cp949" in head else "utf-8", "replace")


BLANKS = st.sampled_from(["", "", "  ", "\t"])


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documented_functions(), st.sampled_from(["Guide", "Notes", "Parameters", "Caveats"]))
def test_any_docstring_made_of_blocks_is_edited_or_refused(source, section):
    outcome = edit(source, "A.f", section)
    assert isinstance(outcome, Edited | Refused)
    if isinstance(outcome, Refused):
        assert "cannot read the file" not in outcome.reason


NASTY = st.text(alphabet="ab \\\"'\n\r\t\f\u2028수-=:#`>NGuide{}x0", max_size=60)


@settings(max_examples=250, deadline=None)
@given(NASTY, st.sampled_from(['"""', "'''", '"', "'", 'r"""', "(", "f'"]), NASTY)
def test_any_text_is_edited_provably_or_refused(text, quote, line):
    closing = {"(": ")", "f'": "'", 'r"""': '"""'}.get(quote, quote)
    edit(f"def f():\n    {quote}{text}{closing}\n    return 1\n", lines=[line])


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
@example(b"# coding: utf-16\nx")
@example(b"\xef\xbb\xbf# coding: latin-1\nx")
@example(b"# coding: undefined\n'x'")
def test_any_bytes_give_an_outcome(source):
    assert isinstance(append_to_section(source, "", "Guide", LINES), Edited | Refused)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=3))
def test_any_line_arrives_unchanged_or_is_refused(lines):
    outcome = edit(function('"""Sum."""'), lines=lines)
    if isinstance(outcome, Edited):
        written = outcome.after.split("\n")
        assert all("    " + line.rstrip() in written for line in lines)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(BLOCKS[:3]), max_size=4), st.sampled_from([None, "Guide", "Usage Hints"]))
def test_griffe_finds_the_lines_in_the_section_and_nothing_else_changed(blocks, existing):
    heading = [existing, "-" * len(existing), "- a"] if existing else []
    lines = [line for block in (*blocks, heading) for line in ("", *block)]
    outcome = edit(function('"""Sum.', *lines, '"""'), section=existing or "Guide")
    if isinstance(outcome, Refused):
        assert "sections named" in outcome.reason
        return
    before, after = (griffe_sections(text, "numpy") for text in (outcome.before, outcome.after))
    others = before[:-1] if existing else before
    assert after[: len(others)] == others
    assert len(after) == len(others) + 1
    assert all(line in after[-1] for line in LINES)


@each_row("tail", [(), ("Returns:", "    int: z")])
def test_griffe_reads_google_sections_the_same_way(tail):
    source = function('"""Sum.', "", "Args:", "    x: y", "", "Guide:", "    - a", "", *tail, '"""')
    outcome = edit(source)
    before, after = (griffe_sections(text, "google") for text in (outcome.before, outcome.after))
    same = [old == new for old, new in zip(before, after, strict=True)]
    assert same == [True, True, False, *([True] * bool(tail))]
    assert all(line in after[2] for line in LINES)


PACKAGES = ("polars", "numpy", "click")
SHARDS = 8
# The benchmark covers the largest files: each edit parses its file twice.
SIZE_LIMIT = 35_000


def third_party_files():
    folders = (importlib.util.find_spec(name).submodule_search_locations[0] for name in PACKAGES)
    files = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    return [path for path in files if path.stat().st_size <= SIZE_LIMIT]


def documented(source):
    stack = [("", ast.parse(source))]
    while stack:
        scope, node = stack.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            scope = f"{scope}.{node.name}".strip(".")
        if isinstance(node, DEFINITIONS) and ast.get_docstring(node, clean=False) is not None:
            yield scope, getattr(node, "lineno", None)
        stack += [
            (scope, child)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.excepthandler)
        ]


@pytest.mark.slow
def test_at_least_two_thousand_third_party_docstrings_are_tried():
    assert sum(len(list(documented(path.read_bytes()))) for path in third_party_files()) >= 2_000


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_third_party_docstring_breaks(shard):
    edited, reasons = 0, set()
    for path in third_party_files()[shard::SHARDS]:
        old = new = path.read_bytes()
        expected = {}
        # From the last to the first, so that line numbers above do not change.
        for qualname, line in sorted(
            documented(old), key=lambda definition: definition[1] or 0, reverse=True
        ):
            outcome = append_to_section(new, qualname, "Guide", LINES, line=line)
            if isinstance(outcome, Refused):
                reasons.add(outcome.reason)
                continue
            # a new section is above fields
            after = iter([text.rstrip() for text in outcome.after.split("\n")])
            assert all(text.rstrip() in after for text in outcome.before.rstrip().split("\n")), (
                path,
                qualname,
            )
            assert all(text in outcome.after for text in LINES), (path, qualname)
            new = outcome.source
            expected.setdefault(outcome.before, set()).add(outcome.after)
            edited += 1
        (old_rest, old_texts), (new_rest, new_texts) = split_docstrings(old), split_docstrings(new)
        assert new_rest == old_rest, path
        pairs = zip(old_texts, new_texts, strict=True)
        assert all(after in expected.get(before, {before}) for before, after in pairs), path
    assert edited > 100
    assert reasons <= {"the docstring is empty, or begins with a field; write a summary first"}
