"""``dartlab-coreloop judge``."""

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.base.text import padded, printable, wrapped
from coreloop.base.untrusted import untrusted, with_untrusted
from coreloop.cli.effect import effect_text
from coreloop.cli.options import choice_option, id_option
from coreloop.cli.output import Command, Output, cut, for_people, wrap
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.run import read_kept
from coreloop.learn.proposals.proposal_files import damaged_files, read_proposed
from coreloop.learn.verdicts import judge as verdicts
from coreloop.learn.verdicts.judge import DocstringChange, JudgedItem, read_item
from coreloop.learn.verdicts.proposal_state import UNDECIDED, Standpoint, kept_states, pending
from coreloop.observe.judgments import HumanVerdict, VerdictLetter, read_verdicts
from coreloop.promote.measure.measurement import newest_by_key

_MAX_SHOWN: Final = 10
"""Items: each has two lines of one screen."""


@click.command(cls=Command)
@id_option("A proposal or a request.")
@choice_option("--verdict", words=VerdictLetter, about="P pass, T tolerable, C caution, V violation.")
@click.option("--cause", metavar="TEXT", help="The reason.")
@click.option("--by", metavar="NAME", help="Your name.  [default: git's user.name, or the login name]")
def judge(wanted: str | None, verdict: str | None, cause: str | None, by: str | None) -> Output:
    """List the proposals that wait for a verdict, or record one.

    With --id alone, shows that proposal or request, and what can be said next.

    A request with V or C counts as failed, with P or T as succeeded. A proposal with V or C is
    not proposed again until it gets a P or T. The newest verdict counts.

    Example: judge --id ce-2026-04-25-1 --verdict V --cause "the server takes both forms"
    """
    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    if verdict is None and (cause is not None or by is not None):
        raise UsageError("--cause and --by belong to a verdict; add --id and --verdict")
    if wanted is None:
        if verdict is not None:
            raise UsageError("a verdict needs --id too; without options, the queue is shown")
        return _queue(workspace)
    if verdict is None:
        item, effects = read_item(workspace, wanted), read_kept(workspace).effects
        of_record = ("text",) if item.key is not None else ("id", "text")
        facts = with_untrusted(item, *of_record, "questions", "failing", "working", "calls", "error")
        return Output(facts, _item_lines(item, _measured(workspace), effects), for_people(_next(item)))
    name = verdicts.judge_name(by or "", workspace.root)
    judgment, path = verdicts.judge(workspace, wanted, VerdictLetter(verdict), cause=cause, by=name, now=now)
    line = f"{judgment.id}: {judgment.verdict.named}, by {judgment.judged_by}; {_effect(judgment)}"
    return Output(judgment, printable(line), [f"appended to {path}"])


def _effect(judgment: HumanVerdict) -> str:
    passes = judgment.verdict.passes
    if judgment.key is None:
        return f"the request counts as {'succeeded' if passes else 'failed'}"
    return "it can be proposed and promoted" if passes else "it is not proposed again"


def _queue(workspace: Workspace) -> Output:
    judgments = read_verdicts(workspace.judgments_dir)
    waiting = pending(kept_states(workspace, judgments))
    facts = {
        "queue": [{"id": one.id, "since": one.since, **untrusted({"text": one.text})} for one in waiting],
        "n_judged": len(judgments.newest()),
        "skipped": judgments.skipped,
    }
    notes = [*judgments.skipped_lines(), *map(printable, damaged_files(workspace))]
    answer = "answer with: dartlab-coreloop judge --id ID --verdict P|T|C|V [--cause TEXT]"
    notes += for_people([answer, "P pass, T tolerable, C caution, V violation"] if waiting else [])
    return Output(facts, _waiting_lines(waiting, _measured(workspace)), notes)


def _measured(workspace: Workspace) -> dict[str, str]:
    """What a model did with each proposal's line, by the proposal's id."""
    newest = newest_by_key(workspace.measured_file)
    return {one.id: newest[one.key].dated for one in read_proposed(workspace) if one.key in newest}


def _waiting_lines(waiting: Sequence[Standpoint], measured: Mapping[str, str]) -> Iterator[str]:
    yield f"waiting: {len(waiting)}" if waiting else "nothing waits for a verdict"
    for item in waiting[:_MAX_SHOWN]:
        yield cut(f"  {item.id}  {item.text}".rstrip())
        facts = (f"proposed on {item.since}", measured.get(item.id))
        yield from (cut(f"      {text}") for text in facts if text)
    if len(waiting) > _MAX_SHOWN:
        yield f"  … and {len(waiting) - _MAX_SHOWN} more; --json lists all"


_LABEL: Final = 10  # columns of the longest label
_CONTEXT: Final = 2
"""Lines of the docstring around a change, so that one screen holds the item."""
_QUESTIONS: Final = 2  # chosen, as the next: the item fits on one screen
_CALLS: Final = 8  # see above
_MAX_VERDICTS: Final = 3


def _item_lines(item: JudgedItem, measured: Mapping[str, str], effects: Iterable[Effect]) -> Iterator[str]:
    """Yield an item; ``measured`` are what a model did with each proposal's line, by its id.

    ``effects`` are those of the last run of ``effect`` or ``status``, of all changes.
    """
    yield wrap(f"{item.id} {item.text}")
    body = _proposal(item, measured, effects) if item.key is not None else _request(item)
    for label, texts in [*body, ("verdicts", _folded(_verdicts(item)))]:
        for number, text in enumerate(texts):
            yield cut(padded("" if number else label, _LABEL) + text).rstrip()


def _proposal(
    item: JudgedItem, measured: Mapping[str, str], effects: Iterable[Effect]
) -> Iterator[tuple[str, Iterable[str]]]:
    if item.state is not None:
        yield "state", [f"{item.state}, since {item.since}"]
    yield "evidence", _folded(item.evidence)
    if item.id in measured:
        yield "measured", _folded([measured[item.id]])
    yield "effect", _folded(effect_text(effect) for effect in effects if item.id in effect.change.ids)
    yield "failed", _folded(item.failing)
    yield "worked", _folded(item.working)
    yield "asked", item.questions[:_QUESTIONS]
    if item.change is not None:
        yield "change", _change(item.change)


def _request(item: JudgedItem) -> Iterator[tuple[str, Iterable[str]]]:
    words = {True: "ok", False: "failed", None: "?"}
    calls = [
        f"{call['tool']}: {words[call['ok']]}" + (f": {call['error']}" if call["error"] else "")
        for call in item.calls
    ]
    yield "calls", calls[:_CALLS]
    if len(calls) > _CALLS:
        yield "", [f"… and {len(calls) - _CALLS} more"]
    if item.error:
        yield "error", [item.error]


def _verdicts(item: JudgedItem) -> Iterator[str]:
    for verdict in item.verdicts[-_MAX_VERDICTS:]:
        cause = f": {verdict.cause}" if verdict.cause else ""
        yield f"{verdict.judged_at.date()} {verdict.verdict.named}, by {verdict.judged_by}{cause}"
    if not item.verdicts:
        yield "none yet"


def _folded(texts: Iterable[str]) -> Iterator[str]:
    """Wrap what is read whole; questions, calls and lines of a docstring are cut instead."""
    columns = shutil.get_terminal_size().columns - _LABEL
    for text in texts:
        yield from wrapped(printable(text), columns).splitlines()


def _change(change: DocstringChange) -> Iterator[str]:
    if change.target:
        yield change.target
    if change.problem:
        yield from _folded([f"no text: {change.problem}"])
    changed = [number for number, line in enumerate(change.lines) if not line.startswith(" ")]
    for number, line in enumerate(change.lines):
        if any(abs(number - other) <= _CONTEXT for other in changed):
            yield line
    if change.lines and not changed:
        yield "the docstring says it already"


def _next(item: JudgedItem) -> Iterator[str]:
    """Yield the verdicts and what each does, and the promotion if it is possible."""
    does = "it can be promoted; C caution, V violation: it is not proposed again"
    if item.key is None:
        does = "the request counts as succeeded; C caution, V violation: as failed"
    command = f"dartlab-coreloop judge --id {printable(shlex.quote(item.id))} --verdict P|T|C|V"
    yield "\n".join([f"{command} [--cause TEXT]", wrap(f"  P pass, T tolerable: {does}")])
    if item.path and item.change and not item.change.problem and item.state in UNDECIDED:
        path = shlex.quote(os.path.relpath(item.path))
        command = f"dartlab-coreloop promote --candidate {path} --id {item.id}"
        yield f"{command}\n  shows the plan; with --confirm, opens the draft pull request"
