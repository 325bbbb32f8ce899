"""``dartlab-coreloop judge``."""

import shutil
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import Phrase, say
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.emit import emit
from coreloop.cli.mining import watched
from coreloop.cli.options import json_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coreloop.base.project.workspace import Workspace
    from coreloop.learn.verdicts.queue import Queue, Waiting
    from coreloop.observe.verdicts import HumanVerdict

_VERDICTS: Final = {"P": "pass", "T": "tolerable", "C": "caution", "V": "violation"}
_MAX_SHOWN: Final = 11
_FEWEST: Final = 3
"""Items in all, and of each kind: each has two lines of one screen."""


@click.command()
@click.option("--id", "wanted", metavar="ID", help="A proposal or a request.")
@click.option(
    "--verdict",
    type=click.Choice(list(_VERDICTS)),
    help="P pass, T tolerable, C caution, V violation.",
)
@click.option("--cause", metavar="TEXT", help="The reason.")
@click.option("--by", metavar="NAME", help="Your name.  [default: git's user.name, or the login name]")
@json_option
def command(
    wanted: str | None, verdict: str | None, cause: str | None, by: str | None, as_json: bool
) -> None:
    """Record a verdict or, without options, list what most needs one.

    With --id alone, shows that proposal or request, and what can be said next.

    A request with V or C counts as failed, with P or T as succeeded. A proposal with V or C is
    not proposed again until it gets a P or T. The newest verdict counts. The list has requests of the last
    30 days, and proposals.
    """
    from coreloop.cli.show_item import show_item
    from coreloop.learn.effect.settled import read_kept
    from coreloop.learn.verdicts.item import read_item
    from coreloop.learn.verdicts.judge import judge, judge_name
    from coreloop.learn.verdicts.queue import read_queue
    from coreloop.observe.verdicts import VerdictLetter

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    if wanted is None and verdict is None:
        if cause is not None or by is not None:
            raise UsageError("--cause and --by belong to a verdict; add --id and --verdict")
        _show_queue(read_queue(workspace, now=now, watch=watched()), as_json=as_json)
        return
    if wanted is None:
        raise UsageError("a verdict needs --id too; without options, the queue is shown")
    if verdict is None:
        if cause is not None or by is not None:
            raise UsageError("--cause and --by belong to a verdict; add --id and --verdict")
        effects = read_kept(workspace).newest
        show_item(read_item(workspace, wanted), _measured(workspace), effects, as_json=as_json)
        return
    name = judge_name(by or "", workspace.root)
    judgment, path = judge(workspace, wanted, VerdictLetter(verdict), cause=cause, by=name, now=now)
    _show_judgment(judgment, path, as_json=as_json)


def _show_judgment(judgment: "HumanVerdict", path: Path, *, as_json: bool) -> None:
    from coreloop.base.text import printable

    shown = say(
        "{id}: {letter} ({word}), by {name}; {effect}",
        id=printable(judgment.id),
        letter=judgment.verdict,
        word=Phrase(_VERDICTS[judgment.verdict]),
        name=printable(judgment.judged_by),
        effect=_effect(judgment),
    )
    emit(judgment, as_json=as_json, text=lambda _: click.echo(shown))
    click.echo(say("appended to {path}", path=path), err=True)


def _effect(judgment: "HumanVerdict") -> str:
    passes = judgment.verdict.passes
    if judgment.key is None:
        return say("the request counts as {more}", more=say("succeeded") if passes else say("failed"))
    return say("it can be proposed and promoted") if passes else say("it is not proposed again")


def _show_queue(queue: "Queue", *, as_json: bool) -> None:
    from coreloop.base.text import printable
    from coreloop.cli.show import warn_of_skipped

    waiting, judgments = queue.waiting, queue.mined.judgments
    if queue.missing is not None:
        click.echo(say("no requests to judge: {missing} is missing", missing=queue.missing), err=True)
    warn_of_skipped(judgments.skipped, "judgments")
    for damaged in queue.damaged:
        click.echo(printable(say(damaged)), err=True)
    facts = {"queue": waiting, "n_judged": len(judgments.newest()), "skipped": judgments.skipped}
    measured = _measured(queue.mined.workspace)
    emit(facts, as_json=as_json, text=lambda _: _show_waiting(waiting, measured))


def _measured(workspace: "Workspace") -> dict[str, str]:
    """What a model did with each proposal's line, by the proposal's id."""
    from coreloop.learn.verdicts.judge import read_proposed
    from coreloop.promote.measure.measurement import newest_by_key

    newest = newest_by_key(workspace.measured_file)
    return {one.id: newest[one.key].dated for one in read_proposed(workspace) if one.key in newest}


def _show_waiting(waiting: "Sequence[Waiting]", measured: "Mapping[str, str]") -> None:
    from coreloop.base.text import fitted, printable

    columns = shutil.get_terminal_size().columns
    groups = [(kind, list(group)) for kind, group in groupby(waiting, key=lambda item: item.kind)]
    n_left = _MAX_SHOWN
    for number, (kind, items) in enumerate(groups, 1):
        for_others = sum(min(_FEWEST, len(others)) for _, others in groups[number:])
        shown = items[: n_left - for_others]
        n_left -= len(shown)
        click.echo(f"{say(kind)}: {len(items)}")
        for item in shown:
            reasons = map(say, filter(None, [item.reason, measured.get(item.id)]))
            for line in (f"  {item.id}  {item.text}".rstrip(), *(f"      {text}" for text in reasons)):
                click.echo(fitted(printable(line), columns))
        if len(items) > len(shown):
            click.echo(say("  … and {n_items} more; --json lists all", n_items=len(items) - len(shown)))
    click.echo(
        say(
            "answer with: dartlab-coreloop judge --id ID --verdict P|T|C|V --cause TEXT\n"
            "P pass, T tolerable, C caution, V violation"
        )
        if waiting
        else say("nothing waits for a verdict"),
        err=bool(waiting),
    )
