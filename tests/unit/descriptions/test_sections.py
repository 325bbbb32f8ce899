import inspect

from coreloop.descriptions.sections import scan
from rows import each_row


def find_sections(text, asked=()):
    layout = scan(inspect.cleandoc(text), asked=asked)
    return [(section.name, section.style, layout.content(section)) for section in layout.sections]


NOTES = ("Notes", "numpydoc", ["x"])
CASES = {
    "numpydoc, an unknown name": (
        "S.\n\nNotes\n-----\nx\n\nProvenance\n==========\ny",
        [NOTES, ("Provenance", "numpydoc", ["y"])],
    ),
    "numpydoc, no blank line above": ("S.\nNotes\n-----\nx", [NOTES]),
    "numpydoc right below an empty section": (
        "S.\n\nGuide\n-----\nNotes\n-----\nx",
        [("Guide", "numpydoc", []), NOTES],
    ),
    "dashes after a blank line are not an underline": ("S.\n\nNotes\n\n-----\nx", []),
    "dashes at another column are not an underline": ("S.\n\nNotes\n  -----\nx", []),
    "google": ("S.\n\nArgs:\n    x: y\n\n    z: w\nend", [("Args", "google", ["x: y", "", "z: w"])]),
    "google on the heading's line": (
        "S.\n\nWhen: a\nHow: b\nc\n\nend",
        [("When", "google", ["a"]), ("How", "google", ["b", "c"])],
    ),
    "text that is not indented is no section of google's": ("S.\n\nGuide:\n- a\n- b\n\nend", []),
    "google, a block below text on the heading's line ends with its indentation": (
        "S.\n\nGuide: x\n    - a\nend",
        [("Guide", "google", ["x", "- a"])],
    ),
    "a parameter is not a heading": ("S.\n\nnotes: str\n    x", []),
    "a numpydoc section's items are not headings": (
        "S.\n\nReturns\n-------\nNotes: str\n    x\nData:\n    y",
        [("Returns", "numpydoc", ["Notes: str", "x", "Data:", "y"])],
    ),
    "prose in a numpydoc section is not a heading": (
        "S.\n\nNotes\n-----\nx\n\nReturns: y",
        [("Notes", "numpydoc", ["x", "", "Returns: y"])],
    ),
    "but coreloop's own names are": (
        "S.\n\nNotes\n-----\nx\n\nGuide: y",
        [NOTES, ("Guide", "google", ["y"])],
    ),
    "markdown": ("S.\n\n## Notes ##\n\nx", [("Notes", "markdown", ["", "x"])]),
    "markdown, a deeper heading is another section": (
        "S.\n\n## Notes\nx\n### Sub\ny",
        [("Notes", "markdown", ["x"]), ("Sub", "markdown", ["y"])],
    ),
    "a fence hides": ("S.\n\n```\nNotes\n-----\n# Guide\n\nArgs:\n    x\n```\n", []),
    "a longer fence is not closed by a shorter": ("S.\n\n````\n```\nNotes\n-----\n````\n", []),
    "three backticks around text are no fence": ("S.\n\n```x```\n\nNotes\n-----\nx", [NOTES]),
    "a doctest ends where the indentation does": (
        "S.\n\nExample:\n    >>> f()\n    y\nReturns:\n    z",
        [("Example", "google", [">>> f()", "y"]), ("Returns", "google", ["z"])],
    ),
    "a fence in a doctest is output": ("S.\n\n>>> f()\n```\n\nNotes\n-----\nx", [NOTES]),
}


@each_row(("text", "sections"), CASES.values(), ids=CASES)
def test_sections_are(text, sections):
    assert find_sections(text) == sections


def test_requested_name_is_known():
    assert find_sections("S.\n\nHinweis: x") == []
    assert find_sections("S.\n\nHinweis: x", asked=["Hinweis"]) == [("Hinweis", "google", ["x"])]
    assert find_sections("S.\n\n가이드: x", asked=["가이드"]) == [("가이드", "google", ["x"])]
