"""Each regular expression on a record, a proposal, an answer or a key takes time in proportion to it.

At 10 and 100 KB, weekly at 1,000: a line of a proposal or a page is cut long before, and the expression must
not rely on it.
"""

from collections.abc import Callable
from typing import Any

import pytest

from coreloop.admin.checks.guard import _RUNS_GUARD
from coreloop.admin.init import new_settings, tool_usage
from coreloop.admin.init.decorated import _MENTION
from coreloop.admin.init.pinned_version import _is_public
from coreloop.answer.agent import quotes, spelling, swapped_values
from coreloop.answer.models import opposites
from coreloop.answer.repair.repair_targets import _SPEAKS, _SYMBOL
from coreloop.base.errors import CoreloopError
from coreloop.learn.pattern.find_candidates import distinct_questions
from coreloop.learn.proposals import statement_draft
from coreloop.learn.proposals.allowed_lines import is_form, refuse_line
from coreloop.learn.proposals.declared_words import names_in
from coreloop.learn.proposals.figures import read_statement_evidence
from coreloop.learn.proposals.sequence_lines import parse_line
from coreloop.learn.proposals.statement_lines import parse_advice, written_path
from coreloop.promote.reach import _arrives
from coreloop.runs.driver.spending import Reports
from coreloop.web.keys import read_keys
from coreloop.web.pages.activity import _tool_of
from coreloop.web.pages.markdown import render_answer
from coreloop.web.pages.runs import passage_of
from linear import assert_linear, cases, repeated

Work = Callable[[str], object]


def refusing(work: Work) -> Work:
    def refused(text: str) -> object:
        try:
            return work(text)
        except (CoreloopError, ValueError):
            return None

    return refused


def after(start: str, work: Work) -> Work:
    return lambda text: work(start + text)


def reported(line: str) -> Reports:
    reports = Reports()
    reports.add_line(line.encode())
    return reports


WORKS: dict[str, tuple[Work, tuple[str, ...]]] = {
    "a proposed line": (parse_line, ("When ", ": call ", " -> ", 'a(b="c") ', "=<")),
    "a guide": (after("When category is a: call ", parse_line), ('a(b="', " -> a", ", then a", '="')),
    "a caveat": (after("Fails when ", parse_line), ('a(b="', "a, ", "a and ", " -> ")),
    "an advice": (parse_advice, ("a: ", "Always pass ", "a, ", "a and ", " or ", "a()", ".a", "[]")),
    "a source": (after("a: from ", parse_advice), ("a()", "a().b", "a()[]", ".*", " or a()")),
    "a path of a result": (lambda text: written_path(text, ["a"]), ("a.", "a[]", "a.*", "[].a")),
    "the form of a line": (is_form, ("a: ", '="', "a=<a>", "->", "a().")),
    "what a line may hold": (
        lambda text: refuse_line(text, private=False),
        ('="', 'a="b"', "a=<", "a=<a>", "->", "a().", "a().b", "2024-01-", "2024-01-01"),
    ),
    "the names in a line": (lambda text: list(names_in(text)), ("a(", 'a(b="', "a=", "a.")),
    "the evidence of a statement": (read_statement_evidence, ("1 of 2", "1 of 2 calls ", "calls, ")),
    "questions": (lambda text: distinct_questions([text, text + "a"]), ("a1", "1a ", "가1")),
    "the words of a docstring": (statement_draft._words, ("as ", "a_")),
    "a source in a docstring": (lambda text: statement_draft._names_source(text, "a", "b().a"), ("a_", "\n")),
    "whether a docstring names it": (lambda text: statement_draft._is_named("a_b", text), ("a_b", "a_")),
    "symbols of a file": (_SYMBOL.findall, ("\n", "def ", "async ", "\n def a", "\t", "class ")),
    "words about a column": (_SPEAKS.findall, ("column", "columns ", "컬럼")),
    "a row of a source": (quotes._CSV.fullmatch, ("a", "a,", ",")),
    "a unit in brackets": (quotes._IN_BRACKETS.findall, ("(", "( ", "(단위", " ", "(단위 : ", "(a", "[a]")),
    "a unit after many spaces": (after("(단위", quotes._IN_BRACKETS.findall), (" ", " :", ": ")),
    "a line that goes on": (quotes._UNFINISHED.search, (", ", "the ", "하고 ", "(", "a")),
    "superlatives": (
        lambda text: [each.search(text) for each in quotes._SUPERLATIVES],
        ("a", "est", "가장 "),
    ),
    "Korean endings": (
        lambda text: [ending.sub(other, text) for ending, other in spelling._ENDINGS],
        ("임", "가가임", "이다", "함 ", "됐다", "임."),
    ),
    "Korean spellings": (spelling.one_spelling, ("가", "가는 ", "1원", "1 (", "1억", "%", "1년 ", "을 기록")),
    "roles of two names": (swapped_values._ROLES.findall, ("가", "a", "가는 ", "가는 a", "은")),
    "two things compared": (swapped_values._COMPARED.findall, ("a", "a is ", " is a than")),
    "a list of names": (swapped_values._KOREAN_LIST.findall, ("과", "과 ", "가, ", "a·")),
    "words with opposites": (lambda text: list(opposites.sides_of(text)), ("늘", "줄지 ", "rise ", "not ")),
    "a line in a description": (lambda text: _arrives("a b", text), ("a b", "a  b", "\n", "ab")),
    "a value that a tool was given": (tool_usage._VALUE.fullmatch, ("a.", "a-")),
    "words of a topic": (new_settings._WORD.findall, ("aB", "가a")),
    "parts of a name": (new_settings._PARTS.findall, ("aB", "AB", "Aa", "가A")),
    "a starting file": (
        lambda text: new_settings._RULES.search(text.encode()),
        ("#  - {label: a\n", "#  - {label: "),
    ),
    "a decorator": (lambda text: _MENTION.findall(text.encode()), ("@", "@a.", "@tool", "a.")),
    "a workflow": (
        lambda text: _RUNS_GUARD.search(text.encode()),
        ("guard ", "guard check", "\n", "#\n", "\t"),
    ),
    "an address": (after("https://a", _is_public), ("a.", ":1", "/a", "a/")),
    "keys": (refusing(read_keys), ("a:", "a:b:", "a,", "ci:read:0", "+")),
    "a tool of a path": (lambda text: _tool_of(text, ["a", "b"]), (".", "[", "a.b", "a[")),
    "an answer": (
        lambda text: render_answer(text, {1}),
        ("\n", "\n\n", " \n", "[1]", "\t", "a\n", "`", "*a", "[", "> "),
    ),
    "a passage of a source": (lambda text: passage_of("a b c", text), ("a ", "a b ", "a\n", "b ")),
    "a claim in a source": (lambda text: passage_of(text, "a b c"), ("a ", "a b ")),
    "a report of spending": (reported, ('{"usd":', '{"usd": 1, ', "[", '[{"usd": 1},')),
}


def test_a_list_of_reports_is_looked_at_for_duplicates_once():
    def build(size: int) -> str:
        return "[" + ",".join(['{"usd": 0.01}'] * (size // 14)) + "]"

    assert reported(build(1_000)).cost.microusd == 10_000 * (1_000 // 14)
    assert_linear(reported, build, sizes=(2_000, 20_000))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "unit"), cases(WORKS))
def test_what_is_learnt_and_shown_takes_time_in_proportion(name: str, unit: str):
    work: Any = WORKS[name][0]
    assert_linear(work, repeated(unit, end="x"))
