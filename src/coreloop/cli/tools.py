"""``dartlab-coreloop tools``."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from coreloop import __version__
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.base.text import printable
from coreloop.cli.options import FILE_OR_FOLDER
from coreloop.cli.output import Command, Output, table, wrap

if TYPE_CHECKING:
    from coreloop.descriptions.check import Finding
    from coreloop.descriptions.texts import ToolText


_COLUMNS: Final = ("tool", ">texts", ">characters", ">waiting", "where")


@click.command(cls=Command)
@click.argument("paths", metavar="[PATH]…", nargs=-1, type=FILE_OR_FOLDER)
@click.option("--check", is_flag=True, help="Say what is wrong with them; exit 1 if there is an error.")
@click.option("--sarif", is_flag=True, help="With --check: print the findings as SARIF 2.1.0.")
def tools(paths: tuple[Path, ...], check: bool, sarif: bool) -> Output:
    """List the texts that models read of each tool, and check them.

    Each tool's own text and those of its arguments, where they stand, and the proposals that wait. With
    --check, contradictions of text and schema, missing words and texts that clients cut; no log is needed.

    Example: tools --check
    """
    from coreloop.descriptions.find_tools import project_texts

    workspace = open_workspace(Path.cwd())
    texts, unread = project_texts(workspace, paths)
    notes = [f"{number_of(n, 'file')} not read: {why}" for why, n in Counter(unread.values()).most_common()]
    if not (check or sarif):
        rows = list(_rows(texts, _waiting(workspace)))
        facts = [dict(zip((name.strip(">") for name in _COLUMNS), row, strict=True)) for row in rows]
        return Output(facts, table("no text of a tool is found", _COLUMNS, rows), notes)
    from coreloop.descriptions.check import RULES, check_texts

    found = check_texts(texts, workspace.settings.reach.caps)
    n_errors = sum(RULES[one.rule].severity == "error" for one in found)
    value = _sarif(found) if sarif else [asdict(one) | asdict(RULES[one.rule]) for one in found]
    return Output(value, None if sarif else _lines(found, n_errors), notes, code=int(n_errors > 0))


def _waiting(workspace: Workspace) -> Mapping[str, int]:
    """The proposals that wait, by tool."""
    from coreloop.learn.verdicts.proposal_state import kept_states, pending
    from coreloop.observe.judgments import read_verdicts

    waiting = pending(kept_states(workspace, read_verdicts(workspace.judgments_dir)))
    entries = (one.last.entry for one in waiting if one.last is not None)
    return Counter(entry.tool for entry in entries if entry is not None)


def _rows(texts: "Mapping[str, Sequence[ToolText]]", waiting: Mapping[str, int]) -> Iterator[list[str]]:
    """A row for each tool of a file: its own text or, without one, the first of its arguments'."""
    for file, of_file in texts.items():
        of_tools = {text.tool: [its for its in of_file if its.tool == text.tool] for text in of_file}
        for tool, own in of_tools.items():
            text = min(own, key=lambda its: its.argument != "")
            size = "–" if text.argument else f"{len(text.value):,}"
            where = f"{file}:{text.line} {text.refused or text.what}"
            yield [printable(tool), f"{len(own)}", size, f"{waiting.get(tool, '–')}", printable(where)]


def _lines(found: "Sequence[Finding]", n_errors: int) -> Iterator[str]:
    from coreloop.descriptions.check import RULES

    for one in found:
        name = f"{one.tool}[{one.argument}]" if one.argument else one.tool
        yield wrap(f"{one.file}:{one.line}  {RULES[one.rule].severity}  {name}: {one.message} ({one.rule})")
    for rule in dict.fromkeys(one.rule for one in found):
        yield wrap(f"  {rule}: {RULES[rule].reason}; {RULES[rule].source}")
    yield f"{number_of(n_errors, 'error')}, {number_of(len(found) - n_errors, 'warning')}"


def _sarif(found: "Sequence[Finding]") -> dict[str, Any]:
    """The findings as a log of SARIF 2.1.0."""
    from coreloop.descriptions.check import RULES

    rules = [
        {"id": name, "shortDescription": {"text": rule.reason}, "help": {"text": rule.source}}
        for name, rule in RULES.items()
    ]
    driver = {"name": "dartlab-coreloop", "version": __version__, "rules": rules}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": [*map(_result, found)]}]}


def _result(found: "Finding") -> dict[str, Any]:
    from coreloop.descriptions.check import RULES

    place = {"artifactLocation": {"uri": found.file}, "region": {"startLine": found.line}}
    return {
        "ruleId": found.rule,
        "level": RULES[found.rule].severity,
        "message": {"text": f"{found.tool} {found.argument}".strip() + f": {found.message}"},
        "locations": [{"physicalLocation": place}],
    }
