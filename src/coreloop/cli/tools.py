"""``dartlab-coreloop tools``."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import click

from coreloop import __version__
from coreloop.base.messages import number_of
from coreloop.base.project.definitions import read_source
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.cli.options import EXISTING
from coreloop.cli.output import Command, Output, wrap
from coreloop.descriptions.check import RULES, Finding, check_texts
from coreloop.descriptions.find_tools import project_texts
from coreloop.descriptions.texts import ToolText, named
from coreloop.learn.proposals.proposal_files import read_proposed
from coreloop.learn.verdicts.proposal_state import kept_states, pending
from coreloop.observe.judgments import read_verdicts

_NOTHING: Final = "no text of a tool is found; name the tools under tools: in coreloop.yaml"


@click.command(cls=Command)
@click.argument("paths", metavar="[PATH]…", nargs=-1, type=EXISTING)
@click.option(
    "--check", is_flag=True, help="Say what is wrong with them; exits 1 with an error, 2 without a text."
)
@click.option("--sarif", is_flag=True, help="Print the findings as SARIF 2.1.0.")
def tools(paths: tuple[Path, ...], check: bool, sarif: bool) -> Output:
    """List the texts that models read of each tool, and check them.

    `docstring check` lists the sections that docstrings lack.

    Example: tools --check
    """
    workspace = open_workspace(Path.cwd())
    texts, unread = project_texts(workspace, paths)
    first = {why: file for file, why in reversed(unread.items())}
    counts = Counter(unread.values()).items()
    notes = [wrap(f"{number_of(n, 'file')} not read, first {first[why]}: {why}") for why, n in counts]
    if not (check or sarif):
        facts = list(_facts(texts, _waiting(workspace)))
        return Output(facts, _listed(facts) if facts else _NOTHING, notes)
    sources = {file: read_source(workspace.root / file) for file in texts}
    found = check_texts(texts, workspace.settings.reach.caps, sources)
    n_errors = sum(RULES[one.rule].severity == "error" for one in found)
    value = _sarif(found) if sarif else [one._asdict() | RULES[one.rule]._asdict() for one in found]
    is_unchecked = not texts and (bool(unread) or not paths)  # a changed file that has no tool is well
    lines = None if sarif else _lines(found, n_errors, texts) if texts else _NOTHING
    return Output(value, lines, notes, code=2 if is_unchecked else int(n_errors > 0))


def _waiting(workspace: Workspace) -> Mapping[str, int]:
    """The proposals that wait, by tool."""
    if not read_proposed(workspace):  # a shallow clone has no history to read
        return {}
    waiting = pending(kept_states(workspace, read_verdicts(workspace.judgments_dir)))
    entries = (one.last.entry for one in waiting if one.last is not None)
    return Counter(entry.tool for entry in entries if entry is not None)


def _facts(texts: Mapping[str, Sequence[ToolText]], waiting: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Each tool of a file: where its own text is or, without one, the first of its arguments'."""
    for file, of_file in texts.items():
        of_tools = defaultdict[str, list[ToolText]](list)
        for text in of_file:
            of_tools[text.tool].append(text)
        for tool, own in of_tools.items():
            text = min(own, key=lambda its: its.argument != "")
            size = None if text.argument else len(text.value)
            n_texts = sum(its.value.strip() != "" for its in own)
            facts = {"tool": tool, "texts": n_texts, "characters": size, "waiting": waiting.get(tool, 0)}
            yield facts | {"file": file, "line": text.line, "what": text.what, "refused": text.refused}


def _listed(facts: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for one in facts:
        size = "" if one["characters"] is None else f", its own {number_of(one['characters'], 'character')}"
        waiting = f", {number_of(one['waiting'], 'proposal')} waiting" if one["waiting"] else ""
        yield wrap(f"{one['tool']}: {number_of(one['texts'], 'text')}{size}{waiting}")
        yield wrap(f"    {one['file']}:{one['line']} {one['refused'] or one['what']}")


def _lines(found: Sequence[Finding], n_errors: int, texts: Mapping[str, Sequence[ToolText]]) -> Iterator[str]:
    for one in found:
        place, name = f"{one.file}:{one.line}", named(one.tool, one.argument)
        yield wrap(f"{place}: {RULES[one.rule].severity}: {name}: {one.message} ({one.rule})")
    for rule in dict.fromkeys(one.rule for one in found):
        yield wrap(f"  {rule}: {RULES[rule].reason}; {RULES[rule].source}")
    counts = f"{number_of(n_errors, 'error')}, {number_of(len(found) - n_errors, 'warning')}"
    yield f"{counts} in {number_of(sum(map(len, texts.values())), 'text')}"


def _sarif(found: Sequence[Finding]) -> dict[str, Any]:
    """The findings as a log of SARIF 2.1.0."""
    rules = [
        {"id": name, "shortDescription": {"text": rule.reason}, "help": {"text": rule.source}}
        | {"defaultConfiguration": {"level": rule.severity}}
        | ({"helpUri": rule.source} if rule.source.startswith("https:") else {})
        for name, rule in RULES.items()
    ]
    tool = {"driver": {"name": "dartlab-coreloop", "version": __version__, "rules": rules}}
    run = {"tool": tool, "results": [*map(_result, found)]}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _result(one: Finding) -> dict[str, Any]:
    uri = quote(one.file, errors="surrogateescape")
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": one.line, "startColumn": one.column}}
    return {
        "ruleId": one.rule,
        "level": RULES[one.rule].severity,
        "message": {"text": f"{named(one.tool, one.argument)}: {one.message}"},
        "locations": [{"physicalLocation": place}],
    }
