"""Edits of docstrings, and what must hold of each of them."""

import ast
import warnings

from coreloop.descriptions import texts
from coreloop.descriptions.edit import Edited
from coreloop.descriptions.place import Wanted, never
from coreloop.descriptions.source import UnprovenError
from coreloop.guard.proof import changed_lines
from coreloop.learn.proposals.allowed_lines import is_form

LINES = ("- When: margin.", "- Call: show().")
DAY = "- day: as YYYY-MM-DD"
DEFINITIONS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def put_lines(
    source, qualname, lines, *, section=None, style="numpydoc", is_ours=never, replaced=()
) -> Edited:
    """Put lines into a docstring of a Python file."""
    wanted = Wanted(tuple(lines), section, style, is_ours)
    text = texts.find_text("f.py", source, qualname)
    return texts.put_lines("f.py", source, text, wanted, replaced=replaced)


def remove_lines(source, qualname, lines) -> bytes:
    """Take lines out of a docstring of a Python file."""
    return texts.remove_lines("f.py", source, texts.find_text("f.py", source, qualname), lines).source


def edit(source, qualname="f", lines=LINES, *, section="Guide", **choices):
    """Put lines, and check the outcome with nothing else of the package."""
    raw = source if isinstance(source, bytes) else source.encode()
    choices = {"section": section, **choices}
    outcome = attempt(raw, qualname, lines, **choices)
    if isinstance(outcome, Edited) and outcome.appended:
        assert outcome.old == raw
        assert choices.get("replaced") or is_one_insertion(raw, outcome.source)
        assert_one_docstring_changed(raw, outcome)
        assert not put_lines(outcome.source, qualname, lines, **{**choices, "replaced": ()}).appended
    return outcome


def put_text(path: str, raw: bytes, name: str, *lines: str) -> Edited:
    """Put lines into a text of any kind, as the guard proves it, and take them out again."""
    wanted = Wanted(lines or (DAY,), is_ours=is_form)
    edited = texts.put_lines(path, raw, texts.find_text(path, raw, name), wanted)
    if edited.appended:
        text = texts.find_text(path, edited.source, name)
        assert text.value == edited.after
        assert texts.remove_lines(path, edited.source, text, edited.appended).source == raw
        proved, _ = changed_lines(raw, edited.source, f"{path}::{name}", sections=("Caveats",))
        assert proved == [*edited.appended]
    return edited


def attempt(raw, qualname, lines, **choices):
    """The edit, or the reason why there is none."""
    try:
        return put_lines(raw, qualname, lines, **choices)
    except UnprovenError as reason:
        return str(reason)


def is_one_insertion(old, new):
    pairs = enumerate(zip(old, new, strict=False))
    at = next((number for number, (left, right) in pairs if left != right), len(old))
    return len(new) > len(old) and new[at + len(new) - len(old) :] == old[at:]


def assert_one_docstring_changed(old, edited):
    old_rest, old_texts = split_docstrings(old)
    new_rest, new_texts = split_docstrings(edited.source)
    assert new_rest == old_rest
    changed = [(old or "", new) for old, new in zip(old_texts, new_texts, strict=True) if old != new]
    assert changed == [(edited.before, edited.after)]
    words = " ".join(edited.after.split())
    assert all(" ".join(line.split()) in words for line in edited.appended)


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


def function(*lines, indent="    "):
    return "def f():\n" + "".join(f"{indent}{line}\n" if line else "\n" for line in lines)


GUIDE = ("Guide", "-----", *LINES)
ARGS = ("Args:", "    x: y")
NUMPYDOC = ("Parameters", "----------", "x : int", "    Text.")


def is_ours(text):
    return text.startswith(("- When:", "- Call:"))
