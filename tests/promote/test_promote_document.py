"""The pages on promotion against the code: what can be said, and what a commit has."""

import re
from pathlib import Path

from coreloop.base.git.trailers import LABEL, NAMES
from coreloop.learn.line import parse_advice
from coreloop.learn.statements.kinds import DIRECT, LAST
from coreloop.promote.replay import ReplayVerdict

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join(
    (DOCS / name).read_text(encoding="utf-8") for name in ("how-to/promote.md", "reference/lines.md")
)


def test_every_form_of_a_line_is_on_the_page() -> None:
    rows = [row for row in PAGE.splitlines() if row.startswith("| `- ")]
    lines = [parse_advice(line) for row in rows for line in re.findall(r"`(- [^`]+)`", row)]
    forms = {line.form for line in lines if line is not None}
    assert forms == {form for kind in (*DIRECT, *LAST) for form in kind.forms}


def test_every_verdict_trailer_and_label_is_on_the_page() -> None:
    assert [
        name
        for name in (*(verdict.value for verdict in ReplayVerdict), *NAMES, LABEL)
        if f"`{name}`" not in PAGE
    ] == []
