"""An edit of any docstring, and of those of real libraries, is proven or refused."""

import ast
import importlib.util
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coreloop.descriptions.edit import Edited
from editing import DEFINITIONS, LINES, attempt, split_docstrings
from weekly import WEEKLY


@settings(max_examples=150 if WEEKLY else 50, deadline=None)
@given(st.binary(max_size=200))
@example(b"# coding: utf-16\nx")
@example(b"\xef\xbb\xbf# coding: latin-1\nx")
@example(b"# coding: undefined\n'x'")
def test_any_bytes_give_an_outcome(source):
    assert isinstance(attempt(source, "", LINES, section="Guide"), Edited | str)


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
        if scope and isinstance(node, DEFINITIONS) and ast.get_docstring(node, clean=False) is not None:
            yield scope
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
        for qualname in dict.fromkeys(documented(old)):
            outcome = attempt(new, qualname, LINES, section="Guide")
            if isinstance(outcome, str):
                reasons.add(outcome.replace(qualname, "NAME").partition(", at lines")[0])
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
    assert reasons <= {
        "the docstring is empty, or begins with a field; write a summary first",
        "NAME is described more than once",
    }
