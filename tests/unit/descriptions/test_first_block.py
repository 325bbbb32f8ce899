import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.descriptions.bullets import read_first_block
from coreloop.descriptions.sections import scan
from coreloop.descriptions.source import UnprovenError
from rows import each_row


def is_ours(text):
    return text.startswith(("- When:", "- Call:"))


def block(text, asked=()):
    """The last line of the first block and the texts of its list."""
    layout = scan(inspect.cleandoc(text), asked=asked)
    first = read_first_block(layout, is_ours)
    return layout.lines[first.last].text.strip(), [bullet.text for bullet in first.bullets]


ENDS = {
    "one line": ("A.", "A."),
    "paragraphs": ("A.\n\nB.\nC.\n\nD.\n", "D."),
    "numpydoc": ("A.\n\nB.\n\nParameters\n----------\nx : int", "B."),
    "numpydoc, an unknown name": ("A.\n\nData Sources\n------------\nx", "A."),
    "numpydoc, no blank line": ("A.\nParameters\n----------\nx", "A."),
    "underlined with ===": ("A.\n\nReturns\n=======\nint", "A."),
    "underlined with ~, which does not open a fence": ("A.\n\nGuide\n~~~~~\nx\n\nArgs:\n    x: y", "A."),
    "underlined with ~ below a Korean name": ("A.\n\n수익성\n~~~~~~\nx", "A."),
    "google": ("A.\n\nB.\n\nArgs:\n    x: y", "B."),
    "google, no blank line": ("A.\nB.\nArgs:\n    x: y", "B."),
    "google, an unknown title": ("A.\n\nData Sources:\n    x", "A."),
    "google, text not indented": ("A.\n\nReturns:\nint", "A."),
    "the project's own names, text on the same line": ("A.\n\nGuide: ask first.\n\nB.", "A."),
    "reST fields": ("A.\n\n:param x: y\n:returns: z", "A."),
    "reST fields, no blank line": ("A.\n:param x: y\n:returns: z", "A."),
    "reST, text below a field": ("A.\n\n:returns: z\n\nB.", "A."),
    "Epytext": ("A.\n\n@param x: y\n@return: z", "A."),
    "a role is not a field": ("A.\n\n:func:`pay` takes it.", ":func:`pay` takes it."),
    "a decorator is not a field": ("A.\n\n@property of it.", "@property of it."),
    "a field of an example is text": ("A::\n\n    :param x: y\n\nB.", "B."),
    "Markdown": ("A.\n\n## Args\nx", "A."),
    "Markdown, no blank line": ("A.\n## Args\nx", "A."),
    "a bold name": ("A.\n\n**Guide**\n\n- x", "A."),
    "a bold name with a colon inside": ("A.\n\n**Guide:**\n- x", "A."),
    "a bold name with a colon after it": ("A.\n\n**Guide**:\n- x", "A."),
    "underscores are bold, too": ("A.\n\n__Guide__\n\n- x", "A."),
    "another bold line is emphasis": ("A.\n\n**Not now**\n\nB.", "B."),
    "bold within text is emphasis": ("A.\n\n**Note:** slow.\n\nB.", "B."),
    "prose that begins like a section": ("A.\n\nNote: this is slow.", "Note: this is slow."),
    "such prose on the first line": ("Note: this is slow.\n\nB.\n\nArgs:\n    x: y", "B."),
    "a title of Markdown": ("# A\n\nB.\n\n## Args\nx", "B."),
    "a title underlined": ("A\n=\n\nB.", "B."),
    "a title underlined with three signs": ("Abc\n===\n\nB.\n\nArgs:\n    x: y", "B."),
    "a second title is a section": ("# A\n\nB.\n\n# C\n\nD.", "B."),
    "a summary's heading": ("Summary\n-------\nA.\n\nReturns\n-------\nint", "A."),
    "a description's heading": ("A.\n\n## Description\n\nB.\n\n## Args\nx", "B."),
    "google's summary": ("Summary:\n    A.\n\nArgs:\n    x: y", "A."),
    "only a title": ("# A\n\n## Args\nx", "# A"),
    "a fence": ("A.\n\n```\nArgs:\n    x\n```\n\nArgs:\n    x: y", "```"),
    "a doctest": ("A.\n\n>>> f()\n1\n\nArgs:\n    x: y", "1"),
    "an indented block": ("A::\n\n    Returns\n    -------\n\nArgs:\n    x: y", "-------"),
    "a table is not a heading": ("A.\n\n=====\nB\n=====\n1\n=====\n\nArgs:\n    x: y", "====="),
    "Korean": ("수익성.\n\n마진을 계산.\n\n수익성\n------\nx", "마진을 계산."),
    "a human's list": ("A.\n\n- x\n- y\n\nArgs:\n    x: y", "- y"),
    "prose that begins like a section, above a section without blank line": (
        "A.\n\nNote: slow.\nArgs:\n    x: y",
        "Note: slow.",
    ),
}


@each_row(("text", "last"), ENDS.values(), ids=ENDS)
def test_first_block_ends_with(text, last):
    assert block(text) == (last, [])


@each_row("title", ["# Title", "Title\n====="])
def test_title_does_not_hide_a_google_section_without_blank_line(title):
    assert block(f"{title}\n\nA.\nArgs:\n    x: y")[0] == "A."


WITHOUT = {
    "empty": "",
    "blank": "  \n\n ",
    "only a section": "Args:\n    x: y",
    "only a numpydoc section": "Returns\n-------\nint",
    "only a field": ":param x: y",
    "a field, then text": ":param x: y\n\nText.",
    "the project's name first": "Guide: ask first.",
    "only a known heading": "## Args",
}


@each_row("text", WITHOUT.values(), ids=WITHOUT)
def test_docstring_without_text_before_its_first_section_is_refused(text):
    with pytest.raises(UnprovenError, match="write a summary first, or set docstring"):
        block(text)


LISTS = {
    "a list of coreloop's forms": ("A.\n\n- When: a.\n- Call: b().", ["- When: a.", "- Call: b()."]),
    "wrapped lines are joined": ("A.\n\n- When: a\n  b\n- Call: c", ["- When: a b", "- Call: c"]),
    "deeper than the margin": ("A.\n\n  - When: a", ["- When: a"]),
    "a human's list": ("A.\n\n- x\n- y", []),
    "one bullet is a human's": ("A.\n\n- When: a\n- x", []),
    "a bullet continues in the dash's column": ("A.\n\n- When: a\nb", []),
    "text right above": ("A.\n- When: a", []),
    "not the last paragraph": ("A.\n\n- When: a\n\nB.", []),
    "in a section": ("A.\n\nGuide:\n    - When: a", []),
    "in a fence": ("A.\n\n```\n- When: a\n```", []),
    "the end of a fence": ("A.\n\n```\n\n- When: a\n\n```", []),
    "on the first line, which has no margin": ("- When: a\n\nArgs:\n    x: y", []),
    "the output of a doctest": ("A.\n\n>>> f()\n- When: a", []),
    "above a section": ("A.\n\n- When: a\n\nReturns\n-------\nint", ["- When: a"]),
    "above a field without blank line": ("A.\n\n- When: a\n:param x: y", ["- When: a"]),
    "other marks": ("A.\n\n* When: a", []),
    "a list that a human wrote above": ("A.\n\n- x\n\n- When: a", ["- When: a"]),
}


@each_row(("text", "bullets"), LISTS.values(), ids=LISTS)
def test_list_at_the_end_is(text, bullets):
    assert block(text)[1] == bullets


TEXTS = ("A.", "B.\nC.", "- x\n- y", "- When: a\n- Call: b", "```\nArgs:\n```", ">>> f()\n1", "수익성.")
SECTIONS = (
    "Args:\n    A.",
    "Returns\n-------\nA.",
    ":param x: A.",
    "@return: A.",
    "## Notes\nA.",
    "**Guide**\nA.",
)


@given(
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4),
    st.lists(st.sampled_from(SECTIONS), max_size=3),
)
def test_first_block_is_all_text_above_the_first_section_whatever_its_style(texts, sections):
    texts = ["Summary.", *texts]
    layout = scan("\n\n".join([*texts, *sections]))
    first = read_first_block(layout, is_ours)
    assert first.last == "\n\n".join(texts).count("\n")
    assert bool(first.bullets) == texts[-1].startswith("- When")
    assert all(bullet.end <= first.last + 1 for bullet in first.bullets)
