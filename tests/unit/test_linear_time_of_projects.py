"""Each regular expression on what a project, a pull request or a trace holds takes time in proportion to it.

At 10 and 100 KB, weekly at 1,000, as for the texts of a question, a page and a model.
"""

from collections.abc import Callable
from typing import Any

import pytest

from coreloop.base.git.repository import git_failure
from coreloop.base.git.slug import to_slug
from coreloop.base.git.trailers import co_authors, read_promoted
from coreloop.base.github.connect import _named
from coreloop.base.github.github_api import ApiAnswer
from coreloop.descriptions.documents import described_tools
from coreloop.descriptions.edit import append_to_section
from coreloop.descriptions.lost_sections import shapes
from coreloop.descriptions.sections import scan
from coreloop.guard.change import _NOREPLY, QUEUED, says_promotion
from coreloop.guard.check import asks_to_merge
from coreloop.guard.github import _MERGED
from coreloop.learn.knowledge.audit_analysis import find_near_title, improvement_bullets
from coreloop.learn.knowledge.blog import read_post
from coreloop.learn.knowledge.insights import is_stock_code
from coreloop.observe.importers.attributes import flat_messages
from coreloop.observe.importers.claude_code import read_session
from coreloop.promote.axis.engine_history import calls_in, read_target
from coreloop.sanitize.detectors.detection import current
from coreloop.sanitize.find_in_text import find
from linear import assert_linear, cases, repeated

Work = Callable[[str], object]


def documented(text: str) -> bytes:
    """A file with a docstring that holds a text."""
    return f'def f():\n    """A.\n\n    {text}\n    """\n'.encode()


def after(start: str, work: Work) -> Work:
    return lambda text: work(start + text)


def searched(text: str) -> object:
    """Search for private data, without what an earlier search has cached."""
    current().cache.clear()
    current().long_cache.clear()
    return find(text)


def result_of_tool(text: str) -> list[Any]:
    part = {"type": "tool_result", "tool_use_id": "a", "is_error": True, "content": text}
    asked = {"type": "user", "message": {"role": "user", "content": text}}
    call = {"type": "tool_use", "id": "a", "name": "a", "input": {}}
    called = {"type": "assistant", "message": {"role": "assistant", "content": [call]}}
    result = {"type": "user", "message": {"role": "user", "content": [part]}}
    return list(read_session([asked, called, result], quiet_s=1e9))


WORKS: dict[str, tuple[Work, tuple[str, ...]]] = {
    "a message": (
        says_promotion,
        ("a:", "a: b\n", "```\n", " \n", "[coreloop-r] docs(", "\t", "<details>", "\n\na: b"),
    ),
    "a merge's subject": (after("Merge pull request #1 from ", _MERGED.match), ("a/", "(#1)", "(")),
    "a branch of the merge queue": (
        after("refs/heads/gh-readonly-queue/", QUEUED.fullmatch),
        ("/pr-1-", "/pr-"),
    ),
    "a label": (asks_to_merge, ("no", "not", "to", "dontbe", "cantbe", "ready", "auto", "r +", "병합")),
    "a co-author's address": (_NOREPLY.match, ("1+", "a+", "@", "1")),
    "trailers": (after("x\nPhase:", read_promoted), ("\t", "\r", "a ", "a-", "\n ", "\r\n \n", "\nPhase: ")),
    "co-authors": (
        after("Co-authored-by:", co_authors),
        ("\r", "<", "<a>", "a <", "\nCo-authored-by: a"),
    ),
    "co-authors in a list": (co_authors, ("\n* ", "*", " ", "-+")),
    "git's last message": (lambda text: git_failure(["push"], text), ("a:", "a@", ":@", "'a:", "'")),
    "an address of a repository": (_named, ("a:", "a/", "a+", ".git")),
    "GitHub's next page": (
        lambda text: ApiAnswer("", text, "").next_query(),
        ("<", "<>;", "<>; rel=", "rel=", " ;"),
    ),
    "a slug": (to_slug, ("a_", "가")),
    "sections": (
        after("A.\n\n", scan),
        ("# ", "## a\n", "**a", ":param a", "a:\n", "~~~\n", "a\n---\n", "1."),
    ),
    "a heading": (after("A.\n\n# a", scan), ("\t", "#", " #", "*")),
    "shapes": (
        lambda text: shapes(documented(text)),
        ("\n    - a", "\n    Args:\n      a: b", "1. ", ".. ", "# "),
    ),
    "an edited docstring": (
        lambda text: append_to_section(documented(text), "f", "Guide", ["- When: a"]),
        ("\n    - a", "\n      b", "\\\\", "\\n", "'"),
    ),
    "a script with tools": (
        lambda text: described_tools("a.ts", text.encode()),
        ("/*", "`", "\\`", '"', 'f("a",', '{name:"a",', '"a"+', '{name:"a",description:"b"},'),
    ),
    "a target": (read_target, (".py", "a.py::", "a.", "a.py::a.")),
    "calls": (
        lambda text: list(calls_in([text], owner="a")),
        ("a(", 'a("', 'a("b")', 'a("(a("', 'a="', "a=<", "a.", 'a(b="c",'),
    ),
    "a note": (
        improvement_bullets,
        ("- a\n", "## 엔진 개선\n- a\n", "> ", "*a", "- **a", "1. ", "`a", "[a](", "![", "<!--"),
    ),
    "an item of a note": (after("## 엔진 개선\n\n- ", improvement_bullets), ("i", "a) ", "i. ")),
    "a note's heading": (after("## ", find_near_title), ("engine ", "개선 ", "improvement ")),
    "a post": (lambda text: read_post(f"---\n{text}", evidence_ref="blog:a"), ("a: ", "- ", "a\n", "---\n")),
    "a stock code": (is_stock_code, ("A", "A.", "A1")),
    "an attribute of a span": (lambda text: flat_messages({text: "a"}), (".", "gen_ai.prompt.1")),
    "a span's number": (lambda text: flat_messages({f"gen_ai.prompt.{text}": "a"}), (".", "1.message.")),
    "a session": (result_of_tool, ("<", "</tool_use_error>", "<ide_")),
    "private data": (searched, ("a@", "1-", "a.", "://", "key=", "%41", "&#1", "\\u0", "[.]", "㈜")),
}


def test_a_commit_with_a_row_of_spaces_is_read_in_linear_time():
    assert_linear(after("x\nPhase:", read_promoted), repeated(" ", end="x"), sizes=(1_000, 10_000))
    assert_linear(after("Co-authored-by:", co_authors), repeated(" ", end="x"), sizes=(1_000, 10_000))


@pytest.mark.slow
@pytest.mark.no_cover  # other tests run the same lines, and tracing them costs half as much again
@pytest.mark.parametrize(("name", "unit"), cases(WORKS))
def test_what_a_project_holds_takes_time_in_proportion(name: str, unit: str):
    assert_linear(WORKS[name][0], repeated(unit, end="x"))
