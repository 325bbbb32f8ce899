"""Which lines are coreloop's in real history: merged, reverted, replaced, written again by a person."""

from coreloop.base.git.repository import Repository
from coreloop.descriptions.own_lines import docstring_bullets, promoted_lines
from coreloop.learn.proposals.allowed_lines import is_form
from merging import message, revert
from promoting import FILE, SOURCE, Project
from rows import each_row

FIRST, ALWAYS, MORE = "- company: from show().code", "- Always pass company", "- Always pass company and axis"
TARGET = f"{FILE}::analysis"


def source(*lines: str) -> bytes:
    listed = "".join(f"    {line}\n" for line in lines).encode()
    return SOURCE.replace(b"company.\n", b"company.\n\n" + listed, 1) if lines else SOURCE


def promote(project: Project, key: str, *lines: str, target: str = TARGET) -> str:
    """A promotion after which the docstring has these lines."""
    return project.commit({FILE: source(*lines)}, message(key, target=target))


def ours(project: Project) -> frozenset[str]:
    repository = Repository(project.root)
    return promoted_lines(repository, "HEAD", path=FILE, target=TARGET, is_form=is_form)


def test_lines_of_promotions_are_ours_and_a_persons_are_not(project: Project) -> None:
    project.commit({FILE: source(FIRST)}, "theirs")
    promote(project, "aa", FIRST, ALWAYS)
    assert ours(project) == {ALWAYS}


def test_a_replaced_line_is_no_longer_ours(project: Project) -> None:
    promote(project, "aa", FIRST, ALWAYS)
    promote(project, "bb", FIRST, MORE)
    assert ours(project) == {FIRST, MORE}
    project.commit({FILE: source(FIRST, MORE, ALWAYS)}, "a person writes it again")
    assert ALWAYS not in ours(project)


def test_a_reverted_line_that_a_person_writes_again_is_not_ours(project: Project) -> None:
    sha = promote(project, "aa", ALWAYS)
    revert(project, sha)
    project.commit({FILE: source(ALWAYS)}, "a person writes it")
    assert ours(project) == frozenset()


def test_a_line_that_a_reviewer_added_in_their_own_words_is_not_ours(project: Project) -> None:
    promote(project, "aa", ALWAYS, "- Ask the customer first.")
    assert ours(project) == {ALWAYS}


def test_a_line_that_a_later_commit_repaired_is_a_person_s(project: Project) -> None:
    """As docs/how-to/guard.md says of a merge or rebase; a squash is the first case here."""
    promote(project, "aa", "- Always : pass company")
    project.commit({FILE: source(ALWAYS)}, "Apply suggestions")
    assert ours(project) == frozenset()


@each_row("broken", [b"def (", b"", None], ids=["not Python", "empty", "absent"])
def test_an_unreadable_file_has_no_lines(broken: bytes | None) -> None:
    assert not docstring_bullets(broken, TARGET)
