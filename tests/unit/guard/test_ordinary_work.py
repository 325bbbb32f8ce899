"""Forty ordinary pull requests, as people and their bots open them: the guard holds up at most one."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from coreloop.guard.event import Account

from guard_bench import PROMOTED, Bench
from guarding import MAKER
from promoting import FILE, OTHER_FILE, OTHER_SOURCE, SOURCE

RENOVATE = Account("renovate[bot]", human=False)
DEPENDABOT = Account("dependabot[bot]", human=False)
PRE_COMMIT = {"GIT_AUTHOR_NAME": "pre-commit-ci[bot]", "GIT_AUTHOR_EMAIL": "66853113+pre-commit-ci[bot]@x"}
SOURCED = PROMOTED.replace(b"- First: show", b"- company: from show().code")
TEXT = b"Ratios of a company."
OTHERS = OTHER_SOURCE
FIXTURE = b'def tool(company):\n    """Shows.\n\n    - company: from show().code\n    """\n'
STYLE = b"Ratios of a company.\n\n    Args:\n        company: never empty\n\n    - Fast, since cached.\n"


@dataclass(frozen=True)
class Work:
    """A pull request: the files of its commit, and what is on the base before it."""

    title: str
    files: dict[str, bytes]
    landed: bytes | None = None
    words: dict[str, Any] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    message: str = ""
    red: bool = False


def docs(text: bytes, source: bytes = SOURCE) -> dict[str, bytes]:
    """The file with another summary."""
    assert TEXT in source
    return {FILE: source.replace(TEXT, text)}


def by(author: Account, **words: Any) -> dict[str, Any]:
    return {"author": author, "sender": author, "draft": False, **words}


FORTY = (
    # a refactoring of what a promoted line is about
    Work("refactor: code becomes ticker", {FILE: SOURCED.replace(b"().code", b"().ticker")}, landed=SOURCED),
    Work(
        "docs: the promoted line, corrected",
        {FILE: PROMOTED.replace(b": show", b": search")},
        landed=PROMOTED,
    ),
    Work(
        "docs: the promoted line, in other words",
        {FILE: PROMOTED.replace(b"First: show", b"Call show")},
        landed=PROMOTED,
    ),
    Work("docs: without the promoted line", {FILE: SOURCE}, landed=PROMOTED),
    Work(
        "refactor: the tool is renamed",
        {FILE: PROMOTED.replace(b"def analysis", b"def ratios")},
        landed=PROMOTED,
    ),
    Work(
        "refactor: the code below a promoted line",
        {FILE: PROMOTED.replace(b"return {", b"return 1 and {")},
        landed=PROMOTED,
    ),
    Work(
        "style: wider lines", {FILE: PROMOTED.replace(b"- First: show", b"-   First: show")}, landed=PROMOTED
    ),
    Work(
        "feat: a second tool with the same hint",
        {OTHER_FILE: OTHERS.replace(b"Shows a company.", b"Shows.\n\n    - First: search\n    ")},
    ),
    # copies
    Work("chore: vendor the tools", {f"vendor/{FILE}": PROMOTED}, landed=PROMOTED),
    Work("build: generated clients", {"gen/client.py": SOURCED, "gen/__init__.py": b""}, landed=SOURCED),
    Work("test: a fixture with a line", {"tests/fixtures/tool.py": FIXTURE}),
    Work(
        "test: an expected docstring",
        {"tests/test_docs.py": b'def test():\n    assert doc == """- First: show"""\n'},
    ),
    Work("docs: an example in a page", {"docs/lines.md": b"- First: show\n- company: from show().code\n"}),
    Work("feat: a notebook", {"demo.ipynb": b'{"cells": [{"source": ["- First: show"]}]}\n'}),
    # a person's own lines
    Work("docs: never empty", docs(b"Ratios of a company.\n\n    - company: never empty\n")),
    Work("docs: always pass", docs(b"Ratios of a company.\n\n    - Always pass company and axis\n")),
    Work("docs: a list", docs(b"Ratios.\n\n    - One.\n    - Two: of three\n    - axis: one of the axes\n")),
    Work("docs: google style", docs(STYLE)),
    Work(
        "docs: call order",
        docs(b"Ratios of a company.\n\n    - Call before show (same company)\n"),
        words=by(MAKER),
    ),
    Work(
        "feat: a tool with its hint",
        {"tools/scan.py": b'def scan(x):\n    """Scans.\n\n    - First: show\n    """\n'},
    ),
    # branches, titles, labels, messages
    Work(
        "docs: one style for docstrings",
        docs(b"The ratios of a company."),
        words={"branch": "skill/docstring-style"},
    ),
    Work("docs: caveats", docs(b"Ratios of a firm."), words={"branch": "skill/caveat-emptor"}),
    Work("feat: coreloop reads more", {"x.py": b"x = 1\n"}, words={"labels": ("coreloop",)}),
    Work(
        "fix: auto-merge when green",
        {"x.py": b"x = 1\n"},
        words=by(MAKER, labels=("automerge",), auto_merge=True),
    ),
    Work(
        "docs: on trailers",
        {"x.md": b"y\n"},
        message="docs: on trailers\n\n> Candidate-Key: 0123456789abcdef\n",
    ),
    Work(
        "fix: signed off",
        {"x.py": b"x = 1\n"},
        message="fix: x\n\nSigned-off-by: A <a@example.org>\nTarget: main",
    ),
    Work("docs: from a fork", docs(b"Ratios of companies."), words={"same_repo": False}),
    Work("WIP: draft", {"x.py": b"x = 1\n"}, words={"draft": True}),
    # syntax that the checker's Python does not know, and other encodings
    Work("feat: newer syntax", {"new.py": b"def f[T](x: T) -> T:\n    match x:\n        case _: return x\n"}),
    Work("test: a broken file", {"tests/bad.py": b"def (:\n    - a: b\n"}),
    Work("chore: Python 2", {"old.py": b"print '- a bullet'\n"}),
    Work("docs: Korean", docs("회사의 비율.\n\n    - 빠르다.\n".encode())),
    Work("chore: CRLF", {FILE: SOURCE.replace(b"\n", b"\r\n")}),
    # bots
    Work(
        "build: bump polars",
        {"requirements.txt": b"polars==1.2\n"},
        words=by(DEPENDABOT, auto_merge=True, labels=("automerge",)),
    ),
    Work("chore: update ruff", {"pyproject.toml": b"[tool.ruff]\nline-length = 100\n"}, words=by(RENOVATE)),
    Work("chore: format", {FILE: SOURCE.replace(b"dict[str, str]", b"dict[ str, str ]")}, words=by(RENOVATE)),
    Work("style: hooks", {FILE: PROMOTED.replace(b"{", b"{ ")}, landed=PROMOTED, words=by(RENOVATE)),
    Work(
        "refactor: moved, and formatted by a bot",
        {"tools/new.py": PROMOTED, FILE: SOURCE},
        landed=PROMOTED,
        environ=PRE_COMMIT,
    ),
    Work(
        "chore: synchronised copies",
        {f"vendor/{FILE}": PROMOTED},
        landed=PROMOTED,
        words=by(RENOVATE),
        red=True,
    ),
    Work("docs: typo", {FILE: SOURCE.replace(b"Which.", b"Which one.")}, words=by(RENOVATE)),
)


@pytest.mark.slow
@pytest.mark.parametrize("work", FORTY, ids=[work.title.replace(" ", "-") for work in FORTY])
def test_ordinary_work_passes(work: Work, bench: Bench):
    if work.landed is not None:
        bench.land(work.landed)
    bench.start("work")
    bench.project.commit(work.files, work.message or work.title, **work.environ)
    bench.call(**{"title": work.title, **work.words})
    decision = bench.decide(bench.event())
    assert decision.passes is not work.red, decision
    assert bool(decision.claims) is work.red


def test_there_are_forty_and_at_most_one_is_red():
    """A bot's copy of a tool file cannot be told from a bot that promotes without a promotion."""
    assert len({work.title for work in FORTY}) == 40
    assert sum(work.red for work in FORTY) <= 1
