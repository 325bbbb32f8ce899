"""The words of the base: what the docstring's file has, and what it uses of other files."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coreloop.base.git.repository import Repository
from coreloop.base.project.settings import Settings
from coreloop.descriptions.source import find_definition, read_source
from coreloop.learn.proposals.declared_words import Words, refuse_words
from promoting import Project, copy_project, hush_git

TOOLS = "from shop.backend import Priority\n\ndef open_ticket(priority):\n    return Priority(priority)\n"
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
        with Repository(project.root) as repository:
            file = read_source(TOOLS.encode())
            definition = find_definition(file.tree, "open_ticket")
            base = project.git("rev-parse", "HEAD")
            path = "lib/shop/tools.py"
            yield Words(repository, base, Settings(), path, file.text, "open_ticket", definition)


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
    text = f'FIELDS = ("priority", "우선순위")\n{TOOLS}'
    definition = find_definition(read_source(text.encode()).tree, "open_ticket")
    there = replace(words, source=text, definition=definition)
    assert bool([*refuse_words(f"- priority: only while {field} is low", there)]) is is_refused
