"""Which lines may be appended: hostile lines are refused, those of coreloop's forms pass."""

from collections.abc import Iterator

import pytest

from coreloop.base.git.repository import Repository
from coreloop.base.project.settings import Settings
from coreloop.learn.proposals.allowed_lines import Words, refuse_line, refuse_words
from promoting import Project, copy_project, hush_git
from rows import each_row


@each_row(
    "line",
    [
        "- When: questions of category FIN-profitability-KR.",
        '- Call: analysis(axis="수익성") -> show(topic).',
        "- Call: analysis(axis=<axis>, company, …) -> net_margin(sub=<sub>).",
        '- Call: scan(axis="영업이익률 3Y", target="KOSPI").',
        "- order_id: from get_user_details().orders[]",
        "- new_item_ids: from get_product_details().variants.*.item_id or find().*",
    ],
)
def test_lines_from_closed_vocabularies_pass(line):
    assert refuse_line(line) is None


@each_row(
    "line",
    [
        pytest.param("- Always pass " + ", ".join(["a" * 60] * 7) + " and b", id="over 400 characters"),
        pytest.param('- Call: a(b="c\u202ed").', id="bidi override in a value"),
        pytest.param('- Call: a(b="c\nd").', id="newline in a value"),
        pytest.param('- Call: a(b="c\u115fd").', id="jamo filler in a value"),
        pytest.param("- <b>", id="tag"),
        pytest.param("- a: from b().c[](x)", id="link behind a path"),
        pytest.param("- a: from *b().c", id="star before a path"),
        pytest.param("- see http://example.com", id="http"),
    ],
)
def test_hostile_lines_are_refused_with_a_reason(line):
    reason = refuse_line(line)
    assert reason
    assert reason.isprintable(), "the reason goes to a screen"


@each_row(
    "path",
    [
        "get_user_details().address.zip",
        "get_user_details().phone_number",
        "회원_조회().주소.우편번호",
    ],
)
def test_the_name_of_a_field_is_not_private_data(path):
    assert refuse_line(f"- zip: from {path}") is None


# --- The words of the base: what the docstring's file has, and what it uses of other files.

TOOLS = """
from shop.backend import Priority

FIELDS = ("priority", "우선순위")

def open_ticket(priority):
    return Priority(priority)
"""
ENUM = 'from enum import Enum\n\nclass Priority(Enum):\n    LOW = "low"\n    TOP = "top"\n'
FILES = {
    "lib/shop/tools.py": TOOLS,
    "lib/shop/backend/__init__.py": "from .types import Priority\n",
    "lib/shop/backend/types.py": ENUM,
    "lib/shop/mail.py": 'GREETING = "hello"\n',
}


@pytest.fixture(scope="module")
def words(first_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Words]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        hush_git(monkeypatch)
        project = copy_project(first_project, tmp_path_factory.mktemp("names"))
        project.commit(FILES)
        repository, base = Repository(project.root), project.git("rev-parse", "HEAD")
        yield Words(repository, base, Settings(), "lib/shop/tools.py", "open_ticket", "open_ticket")


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("- priority: one of low, top", False),
        ('- priority="low" fails', False),
        ("- priority: one of hello, low", True),
        ("- priority: one of low, urgent", True),
        ("- Call open_ticket first (same priority)", True),  # itself
    ],
)
def test_a_value_may_stand_where_the_file_imports_it_from_and_in_no_other(
    words: Words, line: str, is_refused: bool
) -> None:
    assert bool([*refuse_words(line, words)]) is is_refused


@pytest.mark.parametrize(("field", "is_refused"), [("priority", False), ("우선순위", True)])
def test_a_field_has_an_ascii_name_whatever_declares_it(field: str, is_refused: bool, words: Words) -> None:
    assert bool([*refuse_words(f"- priority: only while {field} is low", words)]) is is_refused
