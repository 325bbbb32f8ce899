"""The pages on promotion against the code: what is offered, what can be said, what a commit has."""

import re
from pathlib import Path

import click

from coreloop.base.git.trailers import LABEL, NAMES
from coreloop.cli.main import main
from coreloop.learn.proposals.statement_lines import CAVEAT_FORMS, GUIDE_FORMS, parse_advice
from coreloop.promote.replay import ReplayVerdict
from rows import each_row

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join(
    (DOCS / name).read_text(encoding="utf-8")
    for name in ("how-to/promote.md", "reference/lines.md", "reference/refusals.md")
)
# Shown by --help, or said of every command in docs/reference/commands.md.
_SHARED = {"--json", "--help"}


def options(*path: str) -> list[str]:
    command: click.Command | None = main
    for name in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    named = [name for option in command.params for name in option.opts if name.startswith("--")]
    return [name for name in named if name not in _SHARED]


@each_row("path", [("promote",), ("verify",), ("docstring", "check")], ids=" ".join)
def test_every_option_is_on_the_page(path: tuple[str, ...]) -> None:
    found = options(*path)
    assert found
    assert [name for name in found if name not in PAGE] == []


def test_every_form_of_a_line_is_on_the_page_in_its_sections() -> None:
    written: dict[str, str] = {}
    for row in PAGE.splitlines():
        for line in re.findall(r"`(- [^`]+)`", row) if row.startswith("| `- ") else ():
            said = parse_advice(line)
            if said is not None:
                written[said.form] = row.split(" | ")[1]
    (earlier,) = re.findall(r"^Earlier versions also wrote .*?\n\n", PAGE, re.MULTILINE | re.DOTALL)
    read = {said.form for line in re.findall(r"`(- [^`]+)`", earlier) if (said := parse_advice(line))}
    assert written.keys().isdisjoint(read)
    assert written.keys() | read == GUIDE_FORMS | CAVEAT_FORMS
    for form, sections in written.items():
        assert ("Guide" in sections, "Caveats" in sections) == (form in GUIDE_FORMS, form in CAVEAT_FORMS)


def test_every_verdict_trailer_and_label_is_on_the_page() -> None:
    assert [
        name
        for name in (*(verdict.value for verdict in ReplayVerdict), *NAMES, LABEL)
        if f"`{name}`" not in PAGE
    ] == []


@each_row(
    "said",
    [
        "has no target",
        "has no text",
        "the docstring has these lines already",
        "is already promoted",
        "was promoted and reverted",
        "no review is required",
        "it is unknown whether a review is required",
        "closed without a merge",
        "this clone is shallow",
        "is not a regular file in",
        "exists and is not coreloop's",
        "is pushed; run the same command to continue",
    ],
)
def test_refusal_in_the_table_is_one_that_the_code_makes(said: str) -> None:
    package = Path(__file__).parents[2] / "src" / "coreloop"
    assert said in PAGE
    sources = [path for name in ("base/git", "promote") for path in (package / name).glob("*.py")]
    assert any(said in path.read_text(encoding="utf-8") for path in sources)
