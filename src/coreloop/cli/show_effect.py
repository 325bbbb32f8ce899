"""Output of ``effect``: a block of lines per change, newest first, or JSON."""

from collections.abc import Iterator
from itertools import groupby

import click
import orjson

from coreloop.base.text import counted, printable
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.facts import effect_facts
from coreloop.learn.effect.guardrails import Guardrail
from coreloop.learn.effect.run import Effects
from coreloop.learn.effect.verdict import EffectVerdict, Look

_STYLES = {EffectVerdict.HELPS: "green", EffectVerdict.HURTS: "red", EffectVerdict.NO_EFFECT: "yellow"}


def show_effects(effects: Effects, *, as_json: bool) -> None:
    """Print the changes with their verdicts."""
    if as_json:
        facts = {"changes": [effect_facts(effect) for effect in effects.effects], "unknown": effects.unknown}
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
        return
    ordered = sorted(effects.effects, key=lambda effect: (effect.change.tool, -effect.change.place))
    for tool, changes in groupby(ordered, key=lambda effect: effect.change.tool):
        click.secho(printable(tool), bold=True)
        for effect in changes:
            for line in _lines(effect):
                click.echo(line)
    if not effects.effects:
        click.echo("no description of a tool has changed in the base branch")
    for name, reason in sorted(effects.unknown.items()):
        click.echo(f"left out: {printable(name)}: {printable(reason)}", err=True)


def effect_chart(look: Look, *, columns: int = 30) -> str:
    """Draw a change on one line, from 0 % to the largest share.

    ``○`` is the share of failures expected without the change, ``●`` the share after it, in its interval.
    """
    found = look.estimate
    low, high = max(0.0, found.expected + look.low), min(1.0, found.expected + look.high)
    most = max(high, found.expected, found.before) or 1.0

    def at(share: float) -> int:
        return min(columns - 1, round(share / most * (columns - 1)))

    row = [" "] * columns
    row[at(low) : at(high) + 1] = "─" * (at(high) - at(low) + 1)
    row[at(low)], row[at(high)] = "├", "┤"
    row[at(found.expected)] = "○"
    row[at(found.after)] = "●"
    return f"0 {''.join(row)} {most:.0%}"


def _lines(effect: Effect) -> Iterator[str]:
    change = effect.change
    verdict = click.style(effect.title, fg=_STYLES.get(effect.verdict), bold=True)
    since = f", since {effect.decided_on}" if effect.decided_on else ""
    yield f"  {verdict}{since}"
    whose = " ".join(change.ids) or ("a revert" if change.is_revert else "by hand")
    number = f" (#{change.pull_request})" if change.pull_request else ""
    yield f"    merged {change.merged_at:%Y-%m-%d} {change.sha[:10]}{number}: {printable(whose)}"
    for bullet in change.added:
        yield f"    + {printable(bullet.removeprefix('- '))}"
    for bullet in change.removed:
        yield f"    - {printable(bullet.removeprefix('- '))}"
    if effect.look is not None:
        yield f"    {effect_chart(effect.look)}"
        yield f"    {_figures(effect, effect.look)}"
    for rail in effect.guardrails:
        if rail.is_worse:
            yield f"    also worse: {_rail(rail)}"
    if effect.todo:
        yield f"    to do: {printable(effect.todo)}"
    for note in effect.notes:
        yield f"    {printable(note)}"


def _figures(effect: Effect, look: Look) -> str:
    """Before and after with the interval of the difference, in words."""
    found = look.estimate
    what = "failed against the line" if effect.lines else "failed"
    days = f"{counted(found.n_after, 'call')} in {counted(look.day, 'day')}"
    return (
        f"{what}: {found.before:.1%} of calls before, {found.after:.1%} after ({days}), "
        f"{found.expected:.1%} expected without it: {_points(found.difference)} "
        f"({_points(look.low)} to {_points(look.high)})"
    )


def _points(share: float) -> str:
    return f"{100 * share:+.1f} points"


def _rail(rail: Guardrail) -> str:
    if rail.is_share:
        name = rail.name if rail.name == "requests lost" else f"failed calls of {printable(rail.name)}"
        return f"{name} {rail.before:.1%} before, {rail.after:.1%} after"
    return f"{rail.name} {rail.before:.2f} before, {rail.after:.2f} after"
