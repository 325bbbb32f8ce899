"""Output of ``judge --id``: one item with its evidence, and what can be said next."""

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import click
import orjson

from coreloop.base.messages import Phrase, say
from coreloop.base.text import fitted, padded, printable, wrapped
from coreloop.cli.show_effect import effect_text
from coreloop.learn.effect.effect import Effect
from coreloop.learn.proposals.change import DocstringChange
from coreloop.learn.verdicts.item import JudgedItem

_LABEL: Final = 10
_CONTEXT: Final = 2
"""Lines of the docstring around a change, so that one screen holds the item."""
_QUESTIONS: Final = 2
_CALLS: Final = 8
_VERDICTS: Final = 3


def show_item(
    item: JudgedItem, measured: Mapping[str, str], effects: Iterable[Effect] = (), *, as_json: bool
) -> None:
    """Print an item; ``measured`` are what a model did with each proposal's line, by its id.

    ``effects`` are those of the last run of ``effect`` or ``status``, of all changes.
    """
    if as_json:
        facts = {name: getattr(item, name) for name in item.__dataclass_fields__}
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2, default=str))
        return
    columns = shutil.get_terminal_size().columns
    click.echo(wrapped(f"{item.id} {printable(item.text)}", columns))
    body = _proposal(item, measured, effects) if item.key is not None else _request(item)
    for label, text in [*body, *_verdicts(item)]:
        click.echo(fitted(padded(say(label) if label else "", _LABEL) + printable(text), columns).rstrip())
    _show_next(item)


def _proposal(
    item: JudgedItem, measured: Mapping[str, str], effects: Iterable[Effect]
) -> Iterator[tuple[str, str]]:
    if item.state is not None:
        yield "state", say("{state}, since {since}", state=Phrase(item.state), since=item.since)
    yield from _labelled("evidence", _folded(map(say, item.evidence)))
    if item.id in measured:
        yield from _labelled("measured", _folded([say(measured[item.id])]))
    texts = (effect_text(effect) for effect in effects if item.id in effect.change.ids)
    yield from _labelled("effect", _folded(texts))
    yield from _labelled("asked", item.questions[:_QUESTIONS])
    if item.change is not None:
        yield from _labelled("change", _change(item.change))


def _request(item: JudgedItem) -> Iterator[tuple[str, str]]:
    words = {True: say("ok"), False: say("failed"), None: "?"}
    calls = [
        f"{call.tool}: {words[call.ok]}" + (f": {call.error}" if call.error else "") for call in item.calls
    ]
    yield from _labelled("calls", calls[:_CALLS])
    if len(calls) > _CALLS:
        yield "", say("… and {n} more", n=len(calls) - _CALLS)
    if item.error:
        yield "error", item.error


def _verdicts(item: JudgedItem) -> Iterator[tuple[str, str]]:
    given = [
        say(
            "{day} {verdict}, by {name}",
            day=verdict.judged_at.date(),
            verdict=verdict.verdict.named,
            name=verdict.judged_by,
        )
        + (f": {verdict.cause}" if verdict.cause else "")
        for verdict in item.verdicts[-_VERDICTS:]
    ]
    yield from _labelled("verdicts", _folded(given or [say("none yet")]))


def _folded(texts: Iterable[str]) -> Iterator[str]:
    """Wrap what is read whole; questions, calls and lines of a docstring are cut instead."""
    columns = shutil.get_terminal_size().columns - _LABEL
    for text in texts:
        yield from wrapped(printable(text), columns).splitlines()


def _labelled(label: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts):
        yield ("" if number else label), text


def _change(change: DocstringChange) -> Iterator[str]:
    if change.target:
        yield change.target
    if change.problem:
        yield from _folded([say("no text: {problem}", problem=Phrase(change.problem))])
    marks = {"same": " ", "added": "+", "taken": "-"}
    changed = [number for number, line in enumerate(change.lines) if line.kind != "same"]
    for number, line in enumerate(change.lines):
        if any(abs(number - other) <= _CONTEXT for other in changed):
            yield f"{marks[line.kind]} {line.text}"
    if change.lines and not changed:
        yield say("the docstring says it already")


def _show_next(item: JudgedItem) -> None:
    """Print on stderr the verdicts and what each does, and the promotion if it is possible."""
    click.echo(f"dartlab-coreloop judge --id {item.id} --verdict P|T|C|V --cause TEXT", err=True)
    effect = (
        "P pass, T tolerable: the request counts as succeeded; C caution, V violation: as failed"
        if item.key is None
        else "P pass, T tolerable: it can be promoted; C caution, V violation: it is not proposed again"
    )
    click.echo(f"  {say(effect)}", err=True)
    if item.can_be_promoted and item.path is not None:
        path = shlex.quote(os.path.relpath(item.path))
        click.echo(f"dartlab-coreloop promote --candidate {path} --id {item.id}", err=True)
        click.echo(say("  shows the plan; with --confirm, opens the draft pull request"), err=True)
