"""An edit of any docstring, and of those of real libraries, is proven or refused."""

import ast
import importlib.util
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from coreloop.descriptions.edit import Edited, Refused, put_lines
from editing import (
    DEFINITIONS,
    LINES,
    edit,
    split_docstrings,
)
from weekly import WEEKLY

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


@pytest.mark.slow
@settings(max_examples=250 if WEEKLY else 80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documented_functions(), st.sampled_from(["Guide", "Notes", "Parameters", "Caveats"]))
def test_any_docstring_made_of_blocks_is_edited_or_refused(source, section):
    outcome = edit(source, "A.f", section)
    assert isinstance(outcome, Edited | Refused)
    if isinstance(outcome, Refused):
        assert "cannot read the file" not in outcome.reason


@settings(max_examples=150 if WEEKLY else 50, deadline=None)
@given(st.binary(max_size=200))
@example(b"# coding: utf-16\nx")
@example(b"\xef\xbb\xbf# coding: latin-1\nx")
@example(b"# coding: undefined\n'x'")
def test_any_bytes_give_an_outcome(source):
    assert isinstance(put_lines(source, "", LINES, section="Guide"), Edited | Refused)


PACKAGES = ("polars", "numpy", "click")
SHARDS = 8 if WEEKLY else 2
# The benchmark covers the largest files: each edit parses its file twice.
SIZE_LIMIT = 35_000


def third_party_files():
    folders = (importlib.util.find_spec(name).submodule_search_locations[0] for name in PACKAGES)
    files = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    return [path for path in files if path.stat().st_size <= SIZE_LIMIT][:: 1 if WEEKLY else 4]


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
@pytest.mark.no_cover  # other tests run the same lines, and tracing them costs half as much again
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
            outcome = put_lines(new, qualname, LINES, section="Guide", line=line)
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
