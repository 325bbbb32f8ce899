"""Ways through that an attacker found: spoofed names, hidden spaces, links, co-authors without an account."""

from dataclasses import replace

import pytest

from coreloop.guard.event import Account
from guard_bench import (
    BODY,
    BRANCH,
    GITHUB,
    MESSAGE,
    PROMOTED,
    TRAILERS,
    Bench,
    assert_row,
    named,
    rows,
)
from guarding import REVIEWER
from promoting import FILE, SOURCE

APP = Account("coreloop-app[bot]", human=False)
KIM = Account("kim", human=True)
AS_KIM = {
    **{f"GIT_{role}_NAME": "kim" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "2+kim@users.noreply.github.com" for role in ("AUTHOR", "COMMITTER")},
}
REWORDED = PROMOTED.replace(b"First: show", b"First: call show, then this")
PRIVATE = "Co-authored-by: Max <max@example.com>"


def of_kim(bench: Bench, source: bytes = PROMOTED, message: str = "docs: analysis") -> None:
    """Kim's pull request, with a line of coreloop's below another commit."""
    bench.start("docs")
    bench.write(source, message, **AS_KIM)
    bench.write(b"x = 1\n", "fix: x", "other.py", **AS_KIM)
    bench.call(author=KIM, sender=KIM)


def two_commits_in_one_push(bench: Bench) -> None:
    """A machine pushes two commits with a person's git name at once, the line in the lower one"""
    of_kim(bench)
    bench.pushed(APP)


def two_commits_in_a_person_s_push(bench: Bench) -> None:
    """The same, pushed by that person"""
    of_kim(bench)
    bench.pushed(KIM)


def pushed_on_top_of_a_machine_s(bench: Bench) -> None:
    """A machine pushes the line in a person's name, and the person pushes more on top"""
    of_kim(bench)
    bench.pushed(APP, after="HEAD^")
    bench.pushed(KIM, before="HEAD^")


def pusher_of_the_line_unknown(bench: Bench) -> None:
    """GitHub tells who pushed the head, but not who pushed the line"""
    of_kim(bench)
    bench.pushed(KIM, before="HEAD^")


def new_branch_of_a_machine(bench: Bench) -> None:
    """A machine makes the branch with the line in a person's name"""
    of_kim(bench)
    bench.pushed(APP, before="")


def sent_by_a_machine(bench: Bench) -> None:
    """GitHub does not show the branch's activity; the event's sender is a machine"""
    of_kim(bench)
    bench.pushes = ()
    bench.words |= {"action": "opened", "sender": APP}


def sent_by_a_person(bench: Bench) -> None:
    """The same, and the sender is a person"""
    of_kim(bench)
    bench.pushes = ()
    bench.words["action"] = "opened"


def sent_from_a_fork(bench: Bench) -> None:
    """The same, from a fork whose branch has the name of one here"""
    sent_by_a_person(bench)
    bench.pushed(APP, after="main", before="")
    bench.words["same_repo"] = False


def sent_by_a_reviewer(bench: Bench) -> None:
    """GitHub shows no activity, and no push makes the event"""
    of_kim(bench)
    bench.pushes = ()
    bench.words["action"] = "labeled"


def co_authored_by_a_machine(bench: Bench) -> None:
    """A person's commit, co-authored by a machine"""
    of_kim(bench, message="docs: x\n\nCo-authored-by: Bot <4+copilot[bot]@users.noreply.github.com>")
    bench.pushed(KIM)


def by_a_machine(bench: Bench, line: str) -> None:
    bench.start("docs")
    bench.write(PROMOTED.replace(b"- First: show", line.encode()), "docs: analysis")
    bench.call(author=APP)


def tab_after_the_dash(bench: Bench) -> None:
    """A tab behind the dash"""
    by_a_machine(bench, "-\tFirst: show")


def filler_after_the_dash(bench: Bench) -> None:
    """A Hangul filler or a blank of Braille instead of spaces"""
    by_a_machine(bench, "-\u3164First:\u2800show")


def fillers_inside_words(bench: Bench) -> None:
    """Fillers and spaces that only look different, inside words"""
    by_a_machine(bench, "- Fi\u115frst: s\u00a0how")


def ignorable_inside_words(bench: Bench) -> None:
    """Control characters and what a display leaves out, inside words"""
    by_a_machine(bench, "- Fi\u034frs\ufe0ft:\u00a0sh\\x01o\\x0bw")


def wide_letters(bench: Bench) -> None:
    """Full-width letters"""
    by_a_machine(bench, "- Ｆｉｒｓｔ： show")


def of_a_new_tool(bench: Bench, source: bytes) -> None:
    """A machine's new file."""
    bench.start("docs")
    bench.write(source, "feat: new", "tools/new.py")
    bench.call(author=APP)


def dash_of_another_width(bench: Bench) -> None:
    """A dash of another width, in a file without any other"""
    of_a_new_tool(bench, 'def new(a):\n    """New.\n\n    － First: show\n    """\n'.encode())


def another_encoding(bench: Bench) -> None:
    """A file in UTF-7, in which a dash is `+AC0`"""
    of_a_new_tool(bench, b'# coding: utf7\ndef new(a):\n    """New.\n\n    +AC0 First: show\n    """\n')


def description_among_other_targets(bench: Bench) -> None:
    """`tool.__doc__ = other = "…"`, in a tuple, or with an annotation"""
    targets = ("a.__doc__ = b", "a.__doc__, b", "a.__doc__: str")
    tools = ("show", "search", "analysis")
    texts = (f'{target} = "- First: {tool}", 1\n' for target, tool in zip(targets, tools, strict=True))
    of_a_new_tool(bench, "".join(texts).encode())


def literals_around_a_comment(bench: Bench) -> None:
    """Two literals around a comment, in a file whose syntax is newer than the guard's Python"""
    newer = b"try:\n    pass\nexcept A, B:\n    pass\n"
    of_a_new_tool(bench, b'def new(a):\n    ("New.\\n\\n- Fir"  # x\n     "st: show")\n' + newer)


def link_to_a_text(bench: Bench) -> None:
    """A `.py` that becomes a link to a text with the line"""
    bench.start("docs")
    path = bench.project.root / FILE
    path.unlink()
    path.symlink_to("../notes.txt")
    bench.write(PROMOTED, "docs: notes", "notes.txt")
    bench.git("add", "--all", "tools")
    bench.git("commit", "--quiet", "--message", "docs: link")
    bench.call(author=APP)


def text_behind_a_link(bench: Bench) -> None:
    """A text gains the line, and a `.py` of the base is a link to it"""
    path = bench.project.root / "tools/alias.py"
    path.symlink_to("../notes.txt")
    bench.git("add", "tools/alias.py")
    bench.write(SOURCE, "docs: notes", "notes.txt")
    bench.push()
    bench.start("docs")
    bench.write(PROMOTED, "docs: notes", "notes.txt")
    bench.call(author=APP)


def linked(bench: Bench, target: str, *, base: bool) -> None:
    """A `.py` that is a link to ``store/text`` by way of the linked folder ``way``."""
    root = bench.project.root
    if not base:
        bench.start("docs")
    (root / "way").symlink_to("deep/store")
    (root / "tools/alias.py").symlink_to(target)
    bench.git("add", "--all", "way", "tools")
    if base:
        bench.write(SOURCE, "docs: notes", "deep/store/text")
        bench.push()
        bench.start("docs")
    bench.write(PROMOTED, "docs: notes", "deep/store/text")
    bench.call(author=APP)


def link_through_a_linked_folder(bench: Bench) -> None:
    """A new `.py` is a link, whose way leads through a folder that is a link, to a text with the line"""
    linked(bench, "../way/text", base=False)


def text_behind_a_linked_folder(bench: Bench) -> None:
    """Such a text gains the line, and the base has the links"""
    linked(bench, "../way/text", base=True)


def link_back_from_a_linked_folder(bench: Bench) -> None:
    """The same, and the way leads back from the linked folder by `..`"""
    linked(bench, "../way/../store/text", base=True)


def dash_alone(bench: Bench) -> None:
    """The dash alone on its line, the text below it"""
    by_a_machine(bench, "-\n      First: show")


def dash_alone_before_blanks(bench: Bench) -> None:
    """The same, with blanks behind the dash and an escaped line end"""
    by_a_machine(bench, "-  \\n    First: show")


def suggested_by(bench: Bench, trailer: str) -> None:
    """A promotion with a suggestion that Kim committed, approved by the reviewer."""
    bench.promote(author=APP, **{key: value.replace("kim", APP.login) for key, value in AS_KIM.items()})
    bench.write(REWORDED, f"Apply suggestions\n\n{trailer}", **{**AS_KIM, **GITHUB})
    bench.review(reviewer=REVIEWER)


def co_author_without_an_account(bench: Bench) -> None:
    """Approved, with a suggestion's author that GitHub names no account for"""
    suggested_by(bench, PRIVATE)


def co_author_before_a_blank(bench: Bench) -> None:
    """The same, with a blank before the colon"""
    suggested_by(bench, PRIVATE.replace(":", " :", 1))


def co_author_with_an_account(bench: Bench) -> None:
    """The same, with a co-author of another account"""
    suggested_by(bench, "Co-authored-by: Lee <5+lee@users.noreply.github.com>")


def co_author_of_a_renamed_account(bench: Bench) -> None:
    """The same, with a co-author's noreply address that has the approver's number and former login"""
    suggested_by(bench, "Co-authored-by: Old <5+old@users.noreply.github.com>")
    bench.review(reviewer=replace(REVIEWER, number=5))


def co_author_in_a_list(bench: Bench) -> None:
    """The same, in a list, with a zero before the number"""
    suggested_by(bench, "* Apply\n\n  * Co-authored-by: Old <05+old@users.noreply.github.com>")
    bench.review(reviewer=replace(REVIEWER, number=5))


def quoted_in_a_description(bench: Bench) -> None:
    """A description that quotes a promotion's message in `<details>`"""
    bench.start("update")
    bench.write(b"x = 1\n", "chore: update", "other.py")
    bench.call(author=APP, body=f"Updates it.\n\n<details>\n\n{BODY}\n\n</details>\n\nSigned.")


def followed_in_a_description(bench: Bench) -> None:
    """A description with a promotion's message above its own last words"""
    quoted_in_a_description(bench)
    bench.words["body"] = f"{BODY}\n\nThis updates it."


def in_encoding(bench: Bench, name: str, message: bytes) -> None:
    """A commit whose header names an encoding."""
    path = f"{name.lower()}.py"
    bench.write(b"x = 1\n", "fix: x", path)
    head = bench.git("cat-file", "commit", "HEAD").partition("\n\n")[0].replace("+0000", "-0000")
    raw = f"{head}\nencoding {name}\n\n".encode() + message
    bench.git("update-ref", "HEAD", bench.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw))


def read_in_utf_7(bench: Bench) -> None:
    """A machine's commit that says `encoding UTF-7`, in which its message is a promotion's"""
    bench.start("work")
    in_encoding(bench, "UTF-7", MESSAGE.replace(":", "+ADo-").encode())
    bench.call(author=APP)


def read_as_it_is(bench: Bench) -> None:
    """The same, but its message is one only as it is"""
    bench.start("work")
    trailers = TRAILERS.replace("Candidate-Key:", "Note: +AAoACg-\nCandidate-Key:")
    in_encoding(bench, "UTF-7", f"fix: x\n\n{trailers}".encode())
    bench.call(author=APP)


def read_by_nobody(bench: Bench) -> None:
    """Commits that say `encoding UCS-2`, `IBM037`, `hex` or a name that nobody knows"""
    bench.start("work")
    for name in ("UCS-2", "IBM037", "hex", "nobody"):
        in_encoding(bench, name, b"fix: x\n\nPhase: none\n")
    bench.call(author=APP)


def on_a_promotion_s_branch(bench: Bench, source: bytes = b"x = 1\n", path: str = "other.py") -> None:
    """A person's work on a branch with a name that promote gives"""
    bench.start(BRANCH)
    bench.write(source, "fix: x", path, **AS_KIM)
    bench.call(author=KIM, branch=BRANCH)


def on_its_branch_by_a_machine(bench: Bench) -> None:
    """The same, with a machine's commit on top"""
    on_a_promotion_s_branch(bench)
    bench.write(
        b"y = 1\n", "fix: y", **{key: value.replace("kim", APP.login) for key, value in AS_KIM.items()}
    )


def on_its_branch_with_a_line(bench: Bench) -> None:
    """The same by a person alone, with a line of coreloop's"""
    on_a_promotion_s_branch(bench, PROMOTED, FILE)


WAYS = (
    *(two_commits_in_one_push, two_commits_in_a_person_s_push, pushed_on_top_of_a_machine_s),
    *(pusher_of_the_line_unknown, new_branch_of_a_machine, sent_by_a_machine, sent_by_a_person),
    *(
        sent_from_a_fork,
        sent_by_a_reviewer,
        co_authored_by_a_machine,
        tab_after_the_dash,
        filler_after_the_dash,
    ),
    *(fillers_inside_words, ignorable_inside_words, wide_letters, link_to_a_text, text_behind_a_link),
    *(link_through_a_linked_folder, text_behind_a_linked_folder, link_back_from_a_linked_folder),
    *(dash_alone, dash_alone_before_blanks, dash_of_another_width, another_encoding),
    *(description_among_other_targets, literals_around_a_comment),
    *(co_author_without_an_account, co_author_before_a_blank, co_author_with_an_account),
    *(co_author_of_a_renamed_account, co_author_in_a_list),
    *(quoted_in_a_description, followed_in_a_description),
    *(read_in_utf_7, read_as_it_is, read_by_nobody),
    *(on_a_promotion_s_branch, on_its_branch_by_a_machine, on_its_branch_with_a_line),
)
HEADING = "Borrowed names and hidden spellings"


@pytest.mark.slow
@pytest.mark.parametrize("build", WAYS, ids=[build.__name__ for build in WAYS])
def test_way(build, bench: Bench):
    build(bench)
    assert_row(rows(HEADING)[named(build)], bench.decide(bench.event()))


def test_the_page_has_these_rows():
    assert list(rows(HEADING)) == list(map(named, WAYS))
