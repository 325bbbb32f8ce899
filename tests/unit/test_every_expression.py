"""Each regular expression of the package takes time in proportion to a text made to be hard for it.

The texts repeat each part of an expression that it repeats itself. All are tried at 10 KB against 1 KB; the
dearest of each expression at 100 and 1,000 KB, too.
"""

import re
import time
from typing import Final

import pytest

from expressions import Expression, build, expressions, run, units
from unit import test_linear_time, test_linear_time_of_projects

CUT_BEFORE: Final = {
    "coreloop.answer.models.sentences._CODE_LINE": ("matches at the start of a line", "sentences"),
    "coreloop.answer.search.extract.markdown._COMMENT": ("one without an end is looked for once", "Markdown"),
    "coreloop.base.tempfiles._PARTIAL": ("the name of a file, 255 bytes", ""),
    "coreloop.cli.promote: Got unexpected extra arguments? \\((\\S+).*\\)": ("what a person typed", ""),
    "coreloop.observe.log_settings._DATA_DIR": ("a line of the project's own settings", ""),
    "coreloop.observe.reading.failure_signals._NUMBER": ("an error's text, cut", "an error"),
    "coreloop.observe.reading.failure_signals._VALUES": ("an error's text, cut", "an error"),
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
_MOST_OVER_TWO_DECADES: Final = 25.0
"""A quadratic one costs 100 times as much; the stack of a repeated group outside the caches, 13 times."""
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


def is_quadratic(expression: Expression, start: str, unit: str) -> bool:
    small, large = (seconds(expression, start, unit, size) for size in _SCREENED)
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
        steepness = min(_steepness(each, *dearest) for _ in range(2))
        if steepness > _MOST_OVER_TWO_DECADES:
            steep[each.place] = dearest, steepness
    assert steep == {}


def _steepness(expression: Expression, start: str, unit: str) -> float:
    """What a byte costs at 100 or 1,000 KB against one at 10 KB."""
    small = seconds(expression, start, unit, 10_000) / 10_000
    costs = (seconds(expression, start, unit, size) / size for size in (100_000, 1_000_000))
    return max(costs) / max(small, _CHEAP_S)


@pytest.mark.slow
def test_what_is_cut_before_is_still_an_expression_whose_caller_is_tried():
    assert set(CUT_BEFORE) <= {each.place for each in expressions()}
    tried = {*test_linear_time.WORKS, *test_linear_time_of_projects.WORKS}
    assert {work for _, work in CUT_BEFORE.values() if work} <= tried


@pytest.mark.slow
def test_the_sweep_finds_a_quadratic_expression_among_its_parts():
    for pattern in (r"charset\s*=\s*[\"']?\s*([\w-]{2,40})", r"\d+\s?[년월일]", r"<[a-z]+[^<>]*>"):
        expression = Expression("here", re.compile(pattern), False)
        assert any(is_quadratic(expression, *text) for text in units(expression)), pattern
