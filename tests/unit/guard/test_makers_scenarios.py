"""Who brought a line: the commit that first has its words, not one that moves, renames, merges or mends."""

import pytest

from coreloop.guard.event import Account
from guard_bench import BETTER, GITHUB, PROMOTED, WORSE, Bench, assert_row, named, rows, with_line
from promoting import FILE, OTHER_FILE, OTHER_SOURCE, SOURCE

APP = Account("coreloop-app[bot]", human=False)


def by(name: str, number: int) -> dict[str, str]:
    """The names of a commit."""
    people = ("AUTHOR", "COMMITTER")
    named_ = {f"GIT_{role}_NAME": name for role in people}
    return named_ | {f"GIT_{role}_EMAIL": f"{number}+{name}@users.noreply.github.com" for role in people}


AS_APP, AS_KIM = by("coreloop-app[bot]", 3), by("kim", 2)
OTHER_LINE = OTHER_SOURCE.replace(b"Shows a company.", b"Shows.\n\n    - First: show\n    ")
NEW = b'def new(a):\n    """New.\n\n    - First: show\n    """\n'
MOVED = "tools/ratios.py"


def brought(bench: Bench, source: bytes, path: str = FILE, **environ: str) -> None:
    """A commit with the line in a person's pull request."""
    bench.start("docs")
    bench.write(source, "docs: analysis", path, **environ)
    bench.call()


def move(bench: Bench, path: str, target: str, **environ: str) -> None:
    (bench.project.root / target).parent.mkdir(exist_ok=True)
    bench.git("mv", path, target)
    bench.git("commit", "--quiet", "--message", "refactor: names", **environ)


def merge_of_moved(bench: Bench, **environ: str) -> None:
    """Main renames the file, and the branch is updated."""
    bench.git("switch", "--quiet", "main")
    move(bench, FILE, MOVED)
    bench.push()
    bench.git("switch", "--quiet", "docs")
    bench.git("merge", "--quiet", "--no-edit", "main", **environ)


def file_renamed(bench: Bench) -> None:
    """A machine's line, whose file a person then moves"""
    brought(bench, PROMOTED, **AS_APP)
    move(bench, FILE, "toolbox/ratios.py", **AS_KIM)


def tool_renamed(bench: Bench) -> None:
    """The same, and the person renames the tool"""
    brought(bench, PROMOTED, **AS_APP)
    bench.write(PROMOTED.replace(b"def analysis", b"def ratios"), "refactor: names", **AS_KIM)


def tool_in_a_class(bench: Bench) -> None:
    """The same, and the person puts the tool into a class"""
    brought(bench, PROMOTED, **AS_APP)
    indented = b"".join(b"    " + line for line in PROMOTED.splitlines(keepends=True))
    bench.write(b"class Tools:\n" + indented, "refactor: a class", **AS_KIM)


def merged_after_a_rename(bench: Bench) -> None:
    """The same, main renames the file, and the person merges main"""
    brought(bench, PROMOTED, **AS_APP)
    merge_of_moved(bench, **AS_KIM)


def renamed_by_a_machine(bench: Bench) -> None:
    """A person's line, whose file and tool a machine then renames"""
    brought(bench, PROMOTED, **AS_KIM)
    move(bench, FILE, MOVED, **AS_APP)
    bench.write(PROMOTED.replace(b"def analysis", b"def ratios"), "fix: names", MOVED, **AS_APP)


def updated_by_a_machine(bench: Bench) -> None:
    """A person's line, main renames the file, and a machine presses "Update branch\""""
    brought(bench, PROMOTED, **AS_KIM)
    merge_of_moved(bench, **{**AS_APP, **GITHUB})


def updated_with_the_same_line(bench: Bench) -> None:
    """A person's line, main gains the same for another tool, and a machine presses "Update branch\""""
    brought(bench, PROMOTED, **AS_KIM)
    bench.git("switch", "--quiet", "main")
    bench.write(OTHER_LINE, "docs: show", OTHER_FILE)
    bench.push()
    bench.git("switch", "--quiet", "docs")
    bench.git("merge", "--quiet", "--no-edit", "main", **{**AS_APP, **GITHUB})


def listed_by_a_machine(bench: Bench) -> None:
    """A person's line, which a machine then lists in a page"""
    brought(bench, PROMOTED, **AS_KIM)
    bench.write(b"# Tools\n\n- First: show\n", "docs: tools", "docs/tools.md", **AS_APP)


def copied_by_a_machine(bench: Bench) -> None:
    """A person's line, which a machine then copies to another tool"""
    brought(bench, PROMOTED, **AS_KIM)
    bench.write(OTHER_LINE, "docs: show", OTHER_FILE, **AS_APP)


def put(bench: Bench, *, other: dict[str, str], merge: dict[str, str]) -> None:
    """A merge that itself adds the line, which main removed elsewhere, after a commit of another file."""
    bench.write(OTHER_LINE, "docs: show", OTHER_FILE)
    brought(bench, b"x = 1\n", "other.py", **other)
    bench.git("switch", "--quiet", "main")
    bench.write(OTHER_SOURCE, "docs: no hint", OTHER_FILE)
    bench.push()
    bench.git("switch", "--quiet", "docs")
    bench.git("merge", "--quiet", "--no-commit", "main")
    bench.write(PROMOTED, "Merge branch 'main' into docs", **merge)


def put_by_a_merge(bench: Bench) -> None:
    """A machine's merge that itself adds the line, which main removed elsewhere"""
    put(bench, other=AS_KIM, merge=AS_APP)


def put_by_a_persons_merge(bench: Bench) -> None:
    """The same by a person, with a machine's commit of another file"""
    put(bench, other=AS_APP, merge=AS_KIM)


def after_a_machine(bench: Bench) -> None:
    """A person's line after a machine's commit of another file"""
    brought(bench, b"x = 1\n", "other.py", **AS_APP)
    bench.write(PROMOTED, "docs: analysis", **AS_KIM)


def moved_from_an_old_start(bench: Bench, **environ: str) -> None:
    """A machine moves a line to another tool on a branch from before main lost it"""
    bench.write(PROMOTED, "docs: show")
    bench.git("branch", "old")
    bench.write(SOURCE, "docs: no hint")
    bench.push()
    bench.start("docs", "old")
    bench.project.commit({FILE: SOURCE, OTHER_FILE: OTHER_LINE}, "docs: move", **(environ or AS_APP))
    bench.call()


def moved_by_a_person(bench: Bench) -> None:
    """A person moves it so"""
    moved_from_an_old_start(bench, **AS_KIM)


def from_another_history(bench: Bench) -> None:
    """A machine's commit without parents, which a person merges"""
    bench.start("docs")
    bench.git("switch", "--quiet", "--orphan", "other")
    bench.write(NEW, "feat: new", "tools/new.py", **AS_APP)
    bench.git("switch", "--quiet", "docs")
    bench.git("merge", "--quiet", "--no-edit", "--allow-unrelated-histories", "other", **AS_KIM)
    bench.call()


def mended(bench: Bench, source: bytes, path: str = "tools/new.py") -> None:
    """A machine's text that is no docstring yet, which a person's commit makes one."""
    brought(bench, source, path, **AS_APP)
    if path != "tools/new.py":
        bench.git("rm", "--quiet", path)
    bench.write(NEW, "fix: new", "tools/new.py", **AS_KIM)


def broken_file(bench: Bench) -> None:
    """A machine's file with a syntax error, which a person repairs"""
    mended(bench, NEW + b"def (:\n")


def format_string(bench: Bench) -> None:
    """A machine's f-string in the place of a docstring, whose `f` a person takes out"""
    mended(bench, NEW.replace(b'"""New', b'f"""New'))


def comment(bench: Bench) -> None:
    """A machine's comment, which a person makes a docstring"""
    mended(bench, b"def new(a):\n    # New.\n    #\n    # - First: show\n    return a\n")


def other_suffix(bench: Bench) -> None:
    """A machine's text file, which a person renames to `.py`"""
    mended(bench, NEW, "notes.txt")


def first_of_a_docstring(bench: Bench) -> None:
    """A machine's line that begins the docstring, with text right below"""
    brought(bench, SOURCE.replace(b'"""Ratios', b'"""- First: show\n    Ratios'), **AS_APP)


def above_a_second_line(bench: Bench) -> None:
    """A machine's line above `* then more`, wrapped before that"""
    brought(bench, PROMOTED.replace(b"First: show\n", b"First:\n      show\n      * then more\n"), **AS_APP)


def restored(bench: Bench, *more: tuple[bytes, str]) -> None:
    """A machine puts a line back that a newer promotion replaced, by these commits or exactly."""
    first, second = (with_line(line) for line in (WORSE, BETTER))
    bench.land(*first)
    bench.land(*second)
    bench.start("docs")
    for source, path in more or ((first[0], FILE),):
        bench.write(source, "docs: x", path, **AS_APP)
    bench.call(author=APP)


def restored_exactly(bench: Bench) -> None:
    """A machine's commit that does nothing but undo a promotion that had replaced a line"""
    restored(bench)


def restored_with_more(bench: Bench) -> None:
    """The same, and it changes more"""
    restored(bench, (with_line(WORSE)[0].replace(b"Ratios of a", b"All ratios of a"), FILE))


def restored_by_a_person(bench: Bench) -> None:
    """The same by a person"""
    restored_with_more(bench)
    bench.git("commit", "--quiet", "--amend", "--no-edit", "--reset-author", **AS_KIM)
    bench.call()


def brought_again_and_undone(bench: Bench) -> None:
    """A machine brings such a promotion's line again, which main lacks, and then undoes exactly that"""
    first, second = (with_line(line) for line in (WORSE, BETTER))
    bench.land(*first)
    bench.land(*second)
    bench.write(SOURCE, "docs: no hints")
    bench.push()
    bench.start("docs")
    for source in (second[0], first[0]):
        bench.write(source, "docs: x", **AS_APP)
    bench.call(author=APP)


def restored_beside(bench: Bench) -> None:
    """A machine's commit undoes exactly such a promotion, and its next one puts the newer line beside it"""
    older = with_line(WORSE)[0]
    both = older.replace(WORSE.encode(), f"{WORSE}\n    {BETTER}".encode())
    restored(bench, (older, FILE), (both, FILE))


WAYS = (
    *(file_renamed, tool_renamed, tool_in_a_class, merged_after_a_rename, renamed_by_a_machine),
    *(updated_by_a_machine, updated_with_the_same_line, listed_by_a_machine, copied_by_a_machine),
    *(moved_from_an_old_start, moved_by_a_person, put_by_a_merge, put_by_a_persons_merge, after_a_machine),
    *(from_another_history, broken_file, format_string, comment, other_suffix),
    *(first_of_a_docstring, above_a_second_line),
    *(restored_exactly, restored_with_more, restored_by_a_person, brought_again_and_undone, restored_beside),
)
HEADING = "Who brought a line"


@pytest.mark.slow
@pytest.mark.parametrize("build", WAYS, ids=[build.__name__ for build in WAYS])
def test_way(build, bench: Bench):
    build(bench)
    assert_row(rows(HEADING)[named(build)], bench.decide(bench.event()))


def test_the_page_has_these_rows():
    assert list(rows(HEADING)) == list(map(named, WAYS))
