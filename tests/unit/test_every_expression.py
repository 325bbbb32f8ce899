"""Each regular expression of the package takes time in proportion to a text made to be hard for it.

The texts repeat each part of an expression that it repeats itself, at 10 KB against 1 KB.
"""

import time
from typing import Final

import pytest

from expressions import Expression, build, expressions, run, units

CUT_BEFORE: Final = {
    "coreloop.answer.search.extract.text._COMMENT": "one without an end is looked for once",
    "coreloop.base.files._PARTIAL": "the name of a file, 255 bytes",
    "coreloop.cli.promote: Got unexpected extra arguments? \\((\\S+).*\\)": "what a person typed",
    "coreloop.observe.reading.error_texts._NUMBER": "an error's text, cut",
    "coreloop.observe.reading.error_texts._VALUES": "an error's text, cut",
    "coreloop.observe.reading.error_texts._QUOTED": "an error's text, cut",
    "coreloop.sanitize.detectors.contact._VERSION": "what stands before a number, cut",
    "coreloop.sanitize.detectors.rule._WORD_BEFORE": "what stands before a find, cut",
    r"coreloop.sanitize.detectors.rule: [0-9A-Za-z_-]*\Z": "what stands before a find, cut",
    "coreloop.web.pages.markdown._CITATION": "what the renderer wrote, which closes each code",
    "coreloop.web.pages.render._TABLE": "what the templates wrote, which close each table",
}
"""Expressions that are only applied to a part of a text that is bounded, with what bounds it."""
_SCREENED: Final = (1_000, 10_000)
_MOST: Final = 5.0  # of ten times the text: noise of a busy machine
_NOISE_S: Final = 5e-4
"""Of the larger text: a quadratic expression takes 1e8 steps for it, half a second."""


def seconds(expression: Expression, start: str, unit: str, size: int) -> float:
    text = build(expression, start, unit, size)
    tries = []
    for _ in range(2):
        began_at = time.process_time()
        run(expression, text)
        tries.append(time.process_time() - began_at)
    return min(tries)


def is_quadratic(expression: Expression, start: str, unit: str, sizes: tuple[int, int] = _SCREENED) -> bool:
    small, large = (seconds(expression, start, unit, size) for size in sizes)
    return large > _NOISE_S and large / small > 10 * _MOST


@pytest.mark.slow
@pytest.mark.no_cover
def test_no_expression_is_quadratic_in_a_part_that_it_repeats():
    slow = {
        f"{each.place}: {start!r} and {unit!r}"
        for each in expressions()
        for start, unit in units(each)
        if each.place not in CUT_BEFORE and is_quadratic(each, start, unit)
    }
    assert slow == set()
