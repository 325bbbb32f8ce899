"""``dartlab-coreloop status``."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final, NamedTuple

import click

from coreloop.admin.checks.alarms import UNMERGED_DAYS, n_stale
from coreloop.admin.status.read_status import read_stability_gates, read_status
from coreloop.admin.status.stability import Stability, StabilityGate
from coreloop.admin.status.status import Standing, Status, next_step
from coreloop.base.database import ADDRESS, FILE
from coreloop.base.errors import GitError, RunStoreError
from coreloop.base.messages import number_of
from coreloop.base.project.settings_file import FILE_NAME
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.base.text import padded, printable, text_width
from coreloop.base.validation import fields_of
from coreloop.cli.effect import effect_chart
from coreloop.cli.mining_options import absent_lines, mining_options, written_notes
from coreloop.cli.output import Command, Output, hung
from coreloop.learn.effect.verdict import EffectVerdict
from coreloop.learn.mine.folder import Mined, MiningOptions
from coreloop.learn.propose import Night, NightRequest
from coreloop.learn.verdicts.proposal_state import count_states


@click.command(cls=Command)
@click.option(
    "--stability", "only_stability", is_flag=True, help="Check only the stability gates; exit 1 if one fails."
)
@mining_options
def status(only_stability: bool, mining: MiningOptions) -> Output:
    """Show where the loop stands; warn when a stage produces no output.

    Reads the log, the proposals, the verdicts and the history of this clone; with a token in GITHUB_TOKEN
    or GH_TOKEN, also the open pull requests. Exits 0 even if there are alarms.

    Example: status --stability
    """
    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    if only_stability:
        stability = read_stability_gates(workspace, now=now)
        facts = fields_of(stability, "holds", "gates", "flaws")
        return Output(facts, _stability_lines(stability), code=0 if stability.holds else 1)
    state = read_status(workspace, now=now, environ=os.environ, mining=mining)
    asked, gaps, notes = _read_asked(workspace, os.environ)
    facts = status_facts(state) | {"asked": asked, "gaps": gaps}
    return Output(facts, status_lines(state, asked, gaps), notes)


_FRONT: Final = frozenset(
    {"questions", "records", "from pattern", "from refine", "promotions", "effect", "ALARM"}
)
"""The labels of the lines that stand on the screen without a command."""
_NAMES_OF: Final = {"look": " PATH", "ask": " QUESTION"}
_MAX_CHARTS: Final = 3
_MAX_MEASURED: Final = 3


class _Line(NamedTuple):
    """A line of the screen: its label, its text and its colour on a terminal."""

    label: str
    text: str
    colour: str | None = None


def status_lines(status: Status, asked: int = 0, gaps: int = 0) -> Iterator[str]:
    """Yield a status as text, with how many questions were asked and have no answer."""
    return _printed([*_question_lines(asked, gaps), *_screen(status)])


def _screen(status: Status) -> Iterator[_Line]:
    for part in (_log_lines, _proposal_lines, _promotion_lines, _effect_lines, _alarm_lines):
        yield from part(status)


def front_door(ways_in: Mapping[str, str]) -> Output:
    """Return the screen without a command: where a project stands and what is next, or the ways in.

    Reads this clone only, so that it needs no network.
    """
    workspace = open_workspace(Path.cwd())
    asked, gaps, notes = _read_asked(workspace, {})
    if not (asked or (workspace.root / FILE_NAME).is_file() or workspace.records_dir.is_dir()):
        return Output(ways_in, _ways_in_lines(ways_in), notes)
    state = read_status(workspace, now=datetime.now(UTC), environ={})
    has_log, todo = state.log is not None and state.log.n_records > 0, next_step(state)
    lines = [*_question_lines(asked, gaps), *(_screen(state) if has_log or not asked else ())]
    if asked and not has_log:
        todo = "dartlab-coreloop repair show" if gaps else "dartlab-coreloop ask QUESTION"
    shown = [line for line in lines if line.label in _FRONT]
    return Output(status_facts(state), _printed([*shown, _Line("next", todo, "green")]), notes)


def _read_asked(workspace: Workspace, environ: Mapping[str, str]) -> tuple[int, int, tuple[str, ...]]:
    """How many questions were asked, how many gaps are open, and why that is unknown; makes no database."""
    if not (environ.get(ADDRESS) or (workspace.runs_dir / FILE).exists()):
        return 0, 0, ()
    from coreloop.answer.repair.store import open_repair_store

    try:
        with open_repair_store(workspace, environ=environ) as tables:
            return *tables.asked(), ()
    except RunStoreError as error:
        return 0, 0, (f"questions unknown: {printable(str(error))}",)


def _question_lines(asked: int, gaps: int) -> Iterator[_Line]:
    if asked:
        yield _Line("questions", f"{asked:,} asked, {number_of(gaps, 'gap')} open")
        yield from [_Line("", "dartlab-coreloop repair show")] if gaps else ()


def _ways_in_lines(ways_in: Mapping[str, str]) -> Iterator[str]:
    yield "Neither coreloop.yaml nor records are here. Four ways in:"
    for name, summary in ways_in.items():
        yield f"\n  dartlab-coreloop {name}{_NAMES_OF.get(name, '')}\n    {summary}"
    yield "\ndartlab-coreloop --help lists the commands."


def read_next_step(workspace: Workspace, *, now: datetime, mined: Mined | None = None) -> str:
    """Return what to do next in this clone; ``mined`` as of `read_status`."""
    try:
        return next_step(read_status(workspace, now=now, environ={}, mined=mined))
    except GitError:  # a shallow clone
        return "dartlab-coreloop doctor"


def night_notes(night: Night, request: NightRequest, *, now: datetime) -> Iterator[str]:
    """Say which files a run wrote and, of a project's own records and files, what to do next."""
    yield from written_notes(night)
    if (
        (night.paths or night.stays)
        and request.out is None
        and request.mining.in_dir is None
        and not request.sanitized
    ):
        yield hung("next: ", read_next_step(night.mined.workspace, now=now, mined=night.mined))


def status_facts(status: Status) -> dict[str, object]:
    """Return the status as JSON has it; proposals are only counted, since their files list their keys."""
    standings = {name: asdict(getattr(status, name)) for name in ("candidates", "counterexamples")}
    names = (field.name for field in fields(status) if field.name not in {"promoted_keys", "states"})
    facts = fields_of(status, *names) | standings
    facts["effects"] = [effect.facts for effect in status.effects]
    facts["states"] = count_states(status.states)
    return facts


def _stability_lines(stability: Stability) -> Iterator[str]:
    """Yield the stability gates, and the merges that are not clean."""
    gates = [_Line(gate.name, _figure(gate), None if gate.passed else "red") for gate in stability.gates]
    for flaw in stability.flaws:
        merged = f"{flaw.sha[:12]} {flaw.candidate_id}, {flaw.merged_at:%Y-%m-%d}"
        gates.append(_Line("not clean", f"{merged}: {flaw.reason}"))
    return _printed(gates)


def _figure(gate: StabilityGate) -> str:
    if gate.needed:
        return f"{gate.figure} of {gate.needed}"
    return f"{gate.figure}" if gate.passed else f"{gate.figure}, must be {gate.needed}"


def _log_lines(status: Status) -> Iterator[_Line]:
    log = status.log
    if log is None or not log.n_records:
        yield _Line("records", "none yet")
        yield _Line("", status.how_to_record)
        yield _Line("", "or see first what it looks like: dartlab-coreloop demo --out scratch")
        return
    today = status.generated_at.date()
    newest = f"the newest {_ago(log.newest, today)}" if log.newest else "all of them dated in the future"
    yield _Line("records", f"{log.n_records:,} on {number_of(log.n_days, 'day')}, {newest}")
    mined = ", ".join([number_of(log.n_in_window, "record"), number_of(log.n_patterns, "sequence")])
    yield _Line("window", f"{log.days.since} to {log.days.until}: {mined}")
    for text in (*log.unseen.lines(), *absent_lines(log.read_as_absent)):
        yield _Line("note", text, "yellow")


def _proposal_lines(status: Status) -> Iterator[_Line]:
    today = status.generated_at.date()
    yield _Line("from pattern", _standing(status.candidates, today))
    yield _Line("from refine", _standing(status.counterexamples, today))
    for measured in status.measured[-_MAX_MEASURED:]:
        lines = "; ".join(line.removeprefix("- ") for line in measured.lines)
        yield _Line("measured", f"{measured.tool}: {lines}: {measured.dated}")


def _standing(standing: Standing, today: date) -> str:
    oldest = f" (the oldest {_ago(standing.oldest, today)})" if standing.oldest is not None else ""
    accepted = f"{standing.accepted:,} accepted, " if standing.accepted else ""
    without = f", {standing.without_text:,} without text" if standing.without_text else ""
    return (
        f"{standing.pending:,} pending{oldest}, {accepted}{standing.promoted:,} promoted, "
        f"{standing.rejected:,} rejected{without}"
    )


def _promotion_lines(status: Status) -> Iterator[_Line]:
    for note in status.notes:
        yield _Line("note", note, "yellow")
    if status.promotions is None:
        return
    promotions, today, n_late = status.promotions, status.generated_at.date(), n_stale(status)
    newest = f", the newest {_ago(promotions.newest.date(), today)}" if promotions.newest is not None else ""
    late = f" ({n_late:,} for more than {UNMERGED_DAYS} days)" if n_late else ""
    merged = f"{promotions.merged:,} merged in {promotions.base}{newest}, {promotions.reverted:,} reverted"
    yield _Line("promotions", f"{len(promotions.open):,} open{late}, {merged}")
    for promotion in promotions.open:
        place = promotion.url or f"branch {promotion.branch}, no pull request known"
        yield _Line("", f"open {_ago(promotion.since.date(), today)}: {place}")
    gates = promotions.stability.gates
    yield _Line("stability", ", ".join(f"{gate.name}: {_figure(gate)}" for gate in gates))
    yield _Line("", "to pass before the loop runs unattended; see status --stability")


def _effect_lines(status: Status) -> Iterator[_Line]:
    if not status.effects:
        return
    verdicts = Counter(effect.verdict for effect in status.effects)
    counts = ", ".join(f"{verdict} {verdicts[verdict]}" for verdict in EffectVerdict if verdicts[verdict])
    yield _Line("effect", f"of {number_of(len(status.effects), 'change')}: {counts}")
    measured = [effect for effect in reversed(status.effects) if effect.look is not None]
    for effect in measured[:_MAX_CHARTS]:
        yield _Line("", f"{effect.change.tool}: {effect.title}")
        if effect.look is not None:
            found = effect.look.named
            shares = f"{found.expected:.1%} expected, {found.after:.1%} now"
            yield _Line("", f"{effect_chart(effect.look)}  {shares}")


def _alarm_lines(status: Status) -> Iterator[_Line]:
    if not status.alarms:
        yield _Line("alarms", "none", "green")
    for alarm in status.alarms:
        yield _Line("ALARM", alarm.text, "red")
        yield _Line("", alarm.todo)


def _ago(day: date, today: date) -> str:
    days = (today - day).days
    return f"{day}, {number_of(days, 'day')} ago" if days > 0 else f"{day}, today"


def _printed(lines: Iterable[_Line]) -> Iterator[str]:
    """Yield the lines, coloured and wrapped beside their labels."""
    listed = list(lines)
    width = max(text_width(line.label) for line in listed) + 2
    for line in listed:
        yield click.style(hung(padded(line.label, width), line.text), fg=line.colour)
