"""``dartlab-coreloop effect`` and ``measure``: what a line did, and what it would do."""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.base.text import printable
from coreloop.base.untrusted import untrusted
from coreloop.cli.options import candidate_option, id_option, tool_option, verbose_option
from coreloop.cli.output import Command, Output, for_people, say, wrap

if TYPE_CHECKING:
    from coreloop.learn.effect.effect import Effect
    from coreloop.learn.effect.estimate import Look
    from coreloop.learn.effect.run import Effects
    from coreloop.promote.measure.measurement import Measurement
    from coreloop.promote.measure.run import Prepared


@click.command(cls=Command)
@tool_option("Measure all statements about this tool together.")
@candidate_option
@id_option()
@click.option("--contexts", type=click.IntRange(10, 10_000), help="Requests to ask.  [default: 80, or 2x60]")
@click.option("--budget-usd", type=click.FloatRange(0, min_open=True), help="The most that it may cost.")
@click.option("--confirm", is_flag=True, help="Allow asking a model on another machine.")
def measure(
    tool: str | None,
    candidate: Path | None,
    wanted: str | None,
    contexts: int | None,
    budget_usd: float | None,
    confirm: bool,
) -> Output:
    """Measure whether a line makes a model call a tool right.

    Asks CORELOOP_MODEL for the next call on recorded requests, with the description as it is and with the
    line. No call is executed. The verdict stands in the pull request. Replies are kept, so that a measurement
    that was interrupted goes on. Exits 1 if a line hurts.

    Example: measure --tool list_orders --budget-usd 1
    """
    from coreloop.observe import jsonl
    from coreloop.promote.measure.run import MeasureOptions, Prepared, prepare
    from coreloop.promote.measure.run import measure as ask
    from coreloop.promote.run import PromoteRequest, select_proposals

    workspace, now = open_workspace(Path.cwd()), datetime.now(UTC)
    if (tool is None) is (wanted is None) or (wanted and candidate is None):
        return list_waiting(workspace, "measure")
    request = PromoteRequest(path=candidate, wanted=wanted, tool=tool)
    options = MeasureOptions(n_about=contexts, budget_usd=budget_usd, confirmed=confirm)
    proposals, _ = select_proposals(workspace, request)
    measured = prepare(workspace, proposals, options, environ=os.environ, now=now)
    if isinstance(measured, Prepared):
        show_estimate(measured)
        if not measured.may_ask:
            return Output(None, ())
        with click.progressbar(length=measured.n_contexts, file=sys.stderr) as bar:
            measured = ask(measured, now=now, on_progress=lambda done: bar.update(done - bar.pos))
    jsonl.append(workspace.measured_file, measured)
    return Output(measured, _measured_lines(measured), code=int(measured.verdict == "hurts"))


def list_waiting(workspace: Workspace, verb: str) -> Output:
    """Return what a command could take that was given nothing: the commands, each above its lines.

    Raises
    ------
    UsageError
        Nothing waits.
    """
    from coreloop.admin.status.status import command_for, waiting
    from coreloop.learn.verdicts.proposal_state import kept_states
    from coreloop.observe.judgments import read_verdicts

    texts = defaultdict[str, list[str]](list)
    for proposed in waiting(kept_states(workspace, read_verdicts(workspace.judgments_dir))):
        if proposed.entry is not None:
            texts[command_for(verb, proposed)].append(proposed.entry.text)
    if not texts:
        raise UsageError("no line waits; dartlab-coreloop says what is next")
    lines = ("\n".join([command, *(wrap(f"    {text}") for text in own)]) for command, own in texts.items())
    return Output(untrusted({"waiting": texts}), lines, code=2)


_STYLES = {"helps": "green", "hurts": "red", "moved": "red", "worse, all kinds": "red", "no effect": "yellow"}


def show_estimate(prepared: "Prepared") -> None:
    """Print how much is asked, on standard error, and whether it needs a confirmation."""
    estimate = prepared.estimate()
    left = estimate.n_questions - estimate.n_known
    cost = "at an unknown price" if estimate.microusd is None else f"at most ${estimate.microusd / 1e6:.2f}"
    known = f", {estimate.n_known:,} answered before" if estimate.n_known else ""
    asked = f"asks {printable(prepared.subject.model)} {number_of(left, 'question')} at most"
    say(f"{asked}, {cost}{known}", err=True)
    if not prepared.may_ask:
        say("nothing asked: the questions could go to another machine; add --confirm", err=True)


def _measured_lines(measured: "Measurement") -> Iterator[str]:
    yield from map(printable, measured.lines)
    verdict = click.style(measured.verdict, fg=_STYLES.get(measured.verdict), bold=True)
    yield f"{verdict}{f': {printable(measured.reason)}' if measured.reason else ''}"
    yield from measured.sentences()


@click.command(cls=Command)
@tool_option("Only the changes of this tool.")
@id_option("Only this change: a proposal's id, or a commit.")
@verbose_option
def effect(tool: str | None, wanted: str | None, verbose: bool) -> Output:
    """Show whether changes of descriptions helped.

    Every change of a tool's description in the base branch, a promotion or a human's, is compared with the
    days before it and with tools that did not change. Writes only what can be remade: facts and effects.json.

    Example: effect --tool list_orders
    """
    from coreloop.learn.effect.run import run_effect

    now = datetime.now(UTC)
    effects = chosen(run_effect(open_workspace(Path.cwd()), now=now), tool=tool, id=wanted)
    changes = [effect.facts for effect in effects.effects]
    facts = {"changes": changes, **untrusted({"unknown": effects.unknown})}
    is_verbose = verbose or tool is not None or wanted is not None
    shown = effects_lines(effects, is_verbose=is_verbose)
    return Output(facts, shown, for_people(unknown_lines(effects, is_verbose=is_verbose)))


def chosen(effects: "Effects", *, tool: str | None = None, id: str | None = None) -> "Effects":
    """Only the changes of a tool, or those with a proposal's id or the beginning of a commit's hash.

    Raises
    ------
    UsageError
        There are none.
    """
    of_tool = [its for its in effects.effects if tool in {None, its.change.tool}]
    fitting = [its for its in of_tool if id is None or its.change.is_named(id)]
    if not fitting and (tool or id):
        reason = effects.unknown.get(tool or "", effects.problem or "no change of it in the base branch")
        raise UsageError(f"{printable(tool or id or '')}: {reason}; run effect without options for all")
    return replace(effects, effects=tuple(fitting))


_MAX_SHOWN = 3
"""Newest changes, of at most eight lines each; besides, every one that is an alarm."""
_MAX_NAMED = 3


def effects_lines(effects: "Effects", *, is_verbose: bool = False) -> Iterator[str]:
    """Yield the changes with their verdicts, ``hurts`` first, then other alarms and the newest."""
    older, newest = effects.effects[:-_MAX_SHOWN], effects.effects[-_MAX_SHOWN:]
    listed = [*(effect for effect in older if is_verbose or effect.is_alarm), *newest]
    for effect in sorted(listed, key=lambda effect: (effect.rank, -effect.change.place)):
        yield from _effect_lines(effect, with_notes=is_verbose)
    if not listed:
        yield "no description of a tool has changed in the base branch yet"
        yield "  merge a promotion, and the days after it are compared; status lists what is open"
    left_out = ["what else is known"] if any(one.notes for one in listed) and not is_verbose else []
    if n_older := len(effects.effects) - len(listed):
        left_out.append(number_of(n_older, "older change"))
    if left_out:
        yield f"-v shows {', '.join(left_out)}"


def unknown_lines(effects: "Effects", *, is_verbose: bool) -> Iterator[str]:
    """Yield which tools are left out and why; by default a line for each reason."""
    yield from filter(None, [effects.problem])
    by_reason: dict[str, list[str]] = {}
    for name, reason in sorted(effects.unknown.items()):
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        n_more = 0 if is_verbose else max(0, len(names) - _MAX_NAMED)
        more = f" and {n_more} more (-v lists them)" if n_more else ""
        yield wrap(f"left out: {', '.join(names[: len(names) - n_more])}{more}: {reason}")


def effect_chart(look: "Look", *, columns: int = 30) -> str:
    """Draw a change on one line, from 0 % to the largest share.

    ``○`` is the share of failures expected without the change, ``●`` the share after it, in its interval.
    """
    found = look.named
    low, high = max(0.0, found.expected + found.low), min(1.0, found.expected + found.high)
    most = max(high, found.expected, found.before) or 1.0

    def at(share: float) -> int:
        return min(columns - 1, round(share / most * (columns - 1)))

    row = [" "] * columns
    row[at(low) : at(high) + 1] = "─" * (at(high) - at(low) + 1)
    row[at(low)], row[at(high)] = "├", "┤"
    row[at(found.expected)] = "○"
    row[at(found.after)] = "●"
    return f"0 {''.join(row)} {most:.0%}"


def _effect_lines(effect: "Effect", *, with_notes: bool) -> Iterator[str]:
    change = effect.change
    verdict = click.style(printable(effect.title), fg=_STYLES.get(effect.verdict), bold=True)
    since = f", known since {effect.decided_on}" if effect.decided_on else ""
    yield f"{click.style(printable(change.tool), bold=True)}: {verdict}{since}"
    whose = " ".join(change.ids) or ("a revert" if change.is_revert else "by hand")
    number = f" (#{change.pull_request})" if change.pull_request else ""
    yield f"  merged {change.merged_at:%Y-%m-%d} {change.sha[:10]}{number}: {printable(whose)}"
    for bullet in change.added:
        yield f"  + {printable(bullet.removeprefix('- '))}"
    for bullet in change.removed:
        yield f"  - {printable(bullet.removeprefix('- '))}"
    if effect.look is not None:
        yield f"  {effect_chart(effect.look)}"
    yield from (wrap(f"  {sentence}") for sentence in effect.sentences)
    if effect.todo:
        yield wrap(f"  to do: {effect.todo}")
    legend = ("○ expected without the change, ● now, in its interval",) if effect.look is not None else ()
    yield from (wrap(f"  {note}") for note in ((*legend, *effect.notes) if with_notes else ()))


def effect_text(effect: "Effect") -> str:
    """The verdict and the figures on which it rests, in one line."""
    return "; ".join([effect.title, *effect.sentences])
