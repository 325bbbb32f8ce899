"""Each regular expression of the package takes time in proportion to a text made to be hard for it.

The texts repeat each part of an expression that it repeats itself. All are tried at 10 KB against 1 KB; the
dearest of each expression at 100 KB, too, and weekly at 1,000.
"""

import re
import time
from typing import Final

import pytest

from expressions import Expression, build, expressions, run, units
from unit import test_linear_time, test_linear_time_of_projects
from weekly import WEEKLY

CUT_BEFORE: Final = {
    "coreloop.answer.models.sentences._CODE_LINE": ("matches at the start of a line", "sentences"),
    "coreloop.answer.search.extract.markdown._COMMENT": ("one without an end is looked for once", "Markdown"),
    "coreloop.base.tempfiles._PARTIAL": ("the name of a file, 255 bytes", ""),
    "coreloop.cli.promote: Got unexpected extra arguments? \\((\\S+).*\\)": ("what a person typed", ""),
    "coreloop.observe.log_settings._DATA_DIR": ("a line of the project's own settings", ""),
    "coreloop.observe.reading.error_texts._NUMBER": ("an error's text, cut", "an error"),
    "coreloop.observe.reading.error_texts._VALUES": ("an error's text, cut", "an error"),
    "coreloop.observe.reading.own_values.QUOTED": ("an error's text, cut", "an error"),
    "coreloop.sanitize.detectors.network._VERSION": ("what stands before a number, cut", "private data"),
    "coreloop.sanitize.detectors.rule._WORD_BEFORE": ("what stands before a find, cut", "private data"),
    r"coreloop.sanitize.detectors.rule: [0-9A-Za-z_-]*\Z": ("what stands before a find, cut", "private data"),
}
"""Expressions that are only applied to a part of a text that is bounded, with what bounds it.

The second is the work of `test_linear_time` or `test_linear_time_of_projects` that calls it with 1,000 KB;
none where no stranger writes the text.
"""
_SCREENED: Final = (1_000, 10_000)
_MOST: Final = 5.0
"""As in `linear`."""
_MOST_OF_A_LONG_TEXT: Final = {100_000: 5.0, 1_000_000: 25.0} if WEEKLY else {100_000: 5.0}
"""Against 10 KB: 10 and 100 if quadratic; the stack of a repeated group costs 13 times as much at 1,000."""
_CHEAP_S: Final = 2e-9
"""For a byte; an expression that fails at the first one costs nothing that could be measured."""
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


def swept() -> list[Expression]:
    return [each for each in expressions() if each.place not in CUT_BEFORE]


@pytest.mark.slow
@pytest.mark.no_cover
def test_no_expression_is_quadratic_in_a_part_that_it_repeats():
    slow = {
        f"{each.place}: {start!r} and {unit!r}"
        for each in swept()
        for start, unit in units(each)
        if is_quadratic(each, start, unit)
    }
    assert slow == set()


@pytest.mark.slow
@pytest.mark.no_cover
def test_the_dearest_text_of_each_expression_takes_time_in_proportion():
    steep = {}
    for each in swept():
        dearest = max(units(each), key=lambda text: seconds(each, *text, _SCREENED[0]))
        if all(_is_steep(each, *dearest) for _ in range(2)):
            steep[each.place] = dearest
    assert steep == {}


def _is_steep(expression: Expression, start: str, unit: str) -> bool:
    """Whether a byte of a long text costs too much against one of 10 KB."""
    small = max(seconds(expression, start, unit, 10_000) / 10_000, _CHEAP_S)
    return any(
        seconds(expression, start, unit, size) / size > most * small
        for size, most in _MOST_OF_A_LONG_TEXT.items()
    )


@pytest.mark.slow
def test_what_is_cut_before_is_still_an_expression_whose_caller_is_tried():
    assert set(CUT_BEFORE) <= {each.place for each in expressions()}
    tried = {*test_linear_time.WORKS, *test_linear_time_of_projects.WORKS}
    assert {work for _, work in CUT_BEFORE.values() if work} <= tried


@pytest.mark.slow
def test_the_sweep_finds_a_quadratic_expression_among_its_parts():
    for pattern in (r"charset\s*=\s*[\"']?\s*([\w-]{2,40})", r"\d+\s?[년월일]", r"<[a-z]+[^<>]*>"):
        expression = Expression("here", re.compile(pattern), False)
        assert any(is_quadratic(expression, *text, (500, 5_000)) for text in units(expression)), pattern
