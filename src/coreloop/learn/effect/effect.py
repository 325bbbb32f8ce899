"""The effect of each change of a ledger: windows, controls, estimate, verdict and what surrounds it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from coreloop.base.messages import number_of
from coreloop.base.project.promotion_settings import EffectSettings, GiveUpSettings
from coreloop.learn.effect.day_counts import DayCount, Stratum, Tally, tally
from coreloop.learn.effect.description_changes import Change, Ledger
from coreloop.learn.effect.descriptions_by_day import LEAST_BEFORE, Windows, find_windows
from coreloop.learn.effect.estimate import DailyEstimates
from coreloop.learn.effect.guardrails import LOST, Guardrail, find_guardrails, neighbours
from coreloop.learn.effect.named_failure import ALL_FAILURES, NamedFailure, named_failure
from coreloop.learn.effect.tool_days import Log, ToolLog
from coreloop.learn.effect.verdict import (
    HORIZON_DAYS,
    Decision,
    EffectVerdict,
    Look,
    calls_needed,
    decide,
)
from coreloop.learn.facts.file import EPOCH_DAY
from coreloop.learn.mine.statistics import wilson_interval

RECENT_DAYS: Final = 28
"""The newest days, in which a line may have become stale or a failure may have returned."""
_MAX_CONTROLS: Final = 12
"""More tools make the mean no better than what they have in common, and every look slower."""
_SHIFTED: Final = 0.1
"""Share of the calls: a category that moves by less shifts a rate by a tenth of the difference at most."""
_STALE_CALLS: Final = 10
"""Fewest calls against a line that say it is stale; surely most of them must succeed (Wilson)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A change and what is known of its effect.

    Attributes
    ----------
    change : Change
        A row of the ledger.
    verdict : EffectVerdict
        What is said.
    look : Look or None
        The estimate on which the verdict rests, or the newest; None if there is none.
    decided_on : date or None
        The day on which the verdict came.
    reason : str
        Why it cannot be told; else empty.
    is_given_up : bool
        Whether it has no verdict after as many calls or days as ``effect: give_up`` says.
    more_calls : int or None
        While it is too early, about how many calls are missing; None if they would take too long.
    lines : tuple of str
        Lines whose named failure is counted; empty if all failures of the tool are.
    since, until : date or None
        First and last day of afterwards.
    is_stale : bool
        Whether calls against its line succeed now.
    has_returned : bool
        Whether, after it helped, the failure came back in the last `RECENT_DAYS`.
    notes : tuple of str
        What else to know: days left out, another model, no controls.
    guardrails : tuple of Guardrail
    """

    change: Change
    verdict: EffectVerdict
    look: Look | None = None
    decided_on: date | None = None
    reason: str = ""
    is_given_up: bool = False
    more_calls: int | None = None
    lines: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    is_stale: bool = False
    has_returned: bool = False
    notes: tuple[str, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()

    @property
    def is_compared(self) -> bool:
        """Whether the look compares it with other tools, and not with its own past only."""
        return self.look is not None and self.look.estimate.n_controls > 0

    @property
    def also_worse(self) -> tuple[Guardrail, ...]:
        """What else certainly became worse; all failures of the tool only if the verdict is about some."""
        is_apart = self.lines and self.verdict is not EffectVerdict.HURTS
        worse = (rail for rail in self.guardrails if rail.is_worse)
        return tuple(rail for rail in worse if is_apart or rail.name != self.change.tool)

    @property
    def why_retire(self) -> str:
        """Why a promoted line should go; empty if it should stay."""
        if not self.change.is_in_force:
            return ""
        if self.verdict is EffectVerdict.HURTS:
            return "it hurts" if self.is_compared else ""
        if self.is_stale:
            return "calls against it succeed now"
        if self.verdict is EffectVerdict.NO_EFFECT:
            return "it removes less than half of its failures"
        return "it has no verdict after so many calls or days" if self.is_given_up else ""

    @property
    def todo(self) -> str:
        """What a maintainer should do; empty if nothing."""
        id = self.change.ids[0] if self.change.ids else self.change.sha[:10]
        if self.change.reverted or self.change.is_revert:
            return ""
        if self.verdict is EffectVerdict.HURTS:
            return f"take it back: dartlab-coreloop promote --revert {id}"
        if self.why_retire:
            why = self.why_retire
            return f"retire the line, {why}: dartlab-coreloop promote --revert {id}"
        if self.has_returned:
            return "the failure has returned; look at what refine proposes for the tool now"
        return ""

    @property
    def title(self) -> str:
        """The verdict in words: ``too early (about 320 more calls)``."""
        if self.verdict is EffectVerdict.UNKNOWN:
            return f"{self.verdict}: {self.reason}"
        if self.verdict is not EffectVerdict.TOO_EARLY:
            return self.verdict
        more = (
            f"about {self.more_calls:,} more calls"
            if self.more_calls
            else "not within 90 days at this traffic"
        )
        more = more if self.look is not None else "no call yet"
        return f"{self.verdict} ({more})"


@dataclass(frozen=True, slots=True)
class Counting:
    """What is counted for each change: the failures of each tool besides all, and the number of its own."""

    failures: Mapping[str, Sequence[NamedFailure]] = field(default_factory=dict)
    numbers: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def of(self, change: Change) -> int:
        """Index of a change's failure in a `ToolLog`; 0 for all failures."""
        return self.numbers.get((change.tool, change.sha), 0)


def what_is_counted(changes: Iterable[Change]) -> Counting:
    """What is counted for each change: a promotion's named failure, all failures for a human's."""
    failures: defaultdict[str, list[NamedFailure]] = defaultdict(list)
    numbers = {}
    for change in changes:
        named = named_failure(change.added) if change.is_ours else ALL_FAILURES
        if named is not ALL_FAILURES:
            failures[change.tool].append(named)
            numbers[change.tool, change.sha] = len(failures[change.tool])
    return Counting(failures, numbers)


def find_effects(
    ledger: Ledger,
    log: Log,
    counting: Counting,
    *,
    settings: EffectSettings,
    wanted: Callable[[Change], bool] = lambda _: True,
) -> list[Effect]:
    """The effect of every change, in the order of the ledger.

    Parameters
    ----------
    ledger : Ledger
        From `coreloop.learn.effect.description_changes.read_ledger`.
    log : Log
        Counted with `what_is_counted`.
    counting : Counting
        As for the log.
    settings : EffectSettings
        The lag of deployments, and when a change is given up.
    wanted : callable, optional
        Whether the effect of a change is asked for.
    """
    by_tool: defaultdict[str, list[Change]] = defaultdict(list)
    for change in ledger.changes:
        by_tool[change.tool].append(change)
    finder = _Finder(ledger, log, counting, by_tool, settings)
    return [finder.find(change) for change in ledger.changes if wanted(change)]


@dataclass(frozen=True, slots=True)
class _Finder:
    ledger: Ledger
    log: Log
    counting: Counting
    by_tool: Mapping[str, Sequence[Change]]
    settings: EffectSettings

    @property
    def _lag(self) -> timedelta:
        return timedelta(days=self.settings.deploy_lag_days)

    def find(self, change: Change) -> Effect:
        tool = self.log.get(change.tool)
        if tool is None:
            return Effect(
                change=change, verdict=EffectVerdict.UNKNOWN, reason="no call of the tool was recorded"
            )
        windows = self._windows(change.tool, tool, change)
        if not windows.after and windows.ended_by is None:
            return Effect(change=change, verdict=EffectVerdict.TOO_EARLY)
        if not windows.after:
            return Effect(
                change=change, verdict=EffectVerdict.UNKNOWN, reason="another change came before any call"
            )
        number = self.counting.of(change)
        lines = self.counting.failures[change.tool][number - 1].lines if number else ()
        effect = Effect(
            change=change,
            verdict=EffectVerdict.UNKNOWN,
            lines=lines,
            since=_date(windows.first),
            until=_date(max(windows.after)),
        )
        if len(windows.before) < LEAST_BEFORE:
            n = len(windows.before)
            reason = f"{number_of(n, 'day')} with calls before it, at least {LEAST_BEFORE} are needed"
            return replace(effect, reason=reason)
        return self._decided(effect, tool, windows, number)

    def _windows(self, name: str, tool: ToolLog, change: Change) -> Windows:
        changes = self.by_tool[name]
        return find_windows(
            changes,
            changes.index(change),
            tool,
            self.ledger,
            deploy_lag=self._lag,
            horizon=HORIZON_DAYS,
        )

    def _decided(self, effect: Effect, tool: ToolLog, windows: Windows, number: int) -> Effect:
        days = windows.before | windows.after
        near = neighbours(self.log, effect.change.tool, days)
        controls = self._controls(effect.change, windows, near)
        before = tally(tool.count(windows.before, failure=number))
        after = tool.count(windows.after, failure=number)
        old = {model for (model, _), (n, _) in before.strata.items() if n}
        new = {model for day in after for model, _ in day.strata}
        if not controls and old.isdisjoint(new):
            reason = "the model changed with it, and no other tool shows what that does alone"
            return replace(effect, reason=reason, notes=tuple(_of_models(old, new)))
        compared = [(before, after), *(self._control(name, windows) for name in controls)]
        read = DailyEstimates(windows.first, compared)
        decision = decide(max(windows.after) - windows.first + 1, read.at)
        merged = [name for name in self.log if name != effect.change.tool and self._has_changed(name, days)]
        notes = [
            *_of_windows(windows),
            *_of_models(old, new),
            *_of_traffic(before, after),
            *([f"also changed meanwhile: {_names(merged)}"] if merged else []),
            *_of_controls(controls, decision),
        ]
        guardrails = find_guardrails(self.log, effect.change.tool, near, windows.before, windows.after)
        effect = replace(effect, notes=tuple(notes), guardrails=guardrails)
        effect = _with_decision(effect, windows, decision, self.settings.give_up)
        return self._aged(_unless_contradicted(effect), tool, windows, number)

    def _aged(self, effect: Effect, tool: ToolLog, windows: Windows, number: int) -> Effect:
        """What became of a line after its verdict, by the newest days.

        It is stale only while it is in force; its failure may also come back because somebody took it out.
        """
        if effect.change.reverted:
            return effect
        is_over = windows.ended_by is not None
        first = max(windows.after) + 1 if is_over else windows.first
        newest = max(tool.versions)
        recent = frozenset(day for day in tool.versions if newest - RECENT_DAYS < day and day >= first)
        n, failed = (sum(tool.against[day, number][at] for day in recent) for at in (0, 1))
        is_watched = bool(number) and not is_over and n >= _STALE_CALLS
        is_stale = is_watched and wilson_interval(n - failed, n)[0] > 1 / 2
        has_returned = False
        if effect.verdict is EffectVerdict.HELPS and effect.look is not None:
            counts = tally(tool.count(recent, failure=number))
            low = wilson_interval(counts.failed, counts.n)[0] if counts.n else 0.0
            has_returned = low > effect.look.estimate.before / 2
        return replace(effect, is_stale=is_stale, has_returned=has_returned)

    def _control(self, name: str, windows: Windows) -> tuple[Tally, list[DayCount]]:
        return tally(self.log[name].count(windows.before)), self.log[name].count(windows.after)

    def _controls(self, change: Change, windows: Windows, near: Collection[str]) -> list[str]:
        """The tools that did not change on these days, and share no questions with the changed tool.

        Those with the most failures before are chosen, which says nothing of what came after.
        """
        days = windows.before | windows.after
        names = [
            name
            for name in self.log
            if name != change.tool and name not in near and not self._has_changed(name, days)
        ]
        failed = {name: self.log[name].n_failed(windows.before) for name in names}
        return sorted(names, key=lambda name: (-failed[name], name))[:_MAX_CONTROLS]

    def _has_changed(self, name: str, days: Collection[int]) -> bool:
        start, end = _date(min(days)), _date(max(days))
        return any(
            change.merged_at.date() <= end and (change.merged_at + self._lag).date() >= start
            for change in self.by_tool.get(name, ())
        )


def _with_decision(effect: Effect, windows: Windows, decision: Decision, give_up: GiveUpSettings) -> Effect:
    if decision.day is not None:
        on = _date(windows.first + decision.day - 1)
        return replace(effect, verdict=decision.verdict, look=decision.look, decided_on=on)
    if decision.look is None:
        return replace(effect, verdict=EffectVerdict.TOO_EARLY)
    if windows.ended_by is not None:
        days = number_of(decision.look.day, "day")
        reason = f"another change came after {days}, before a verdict"
        return replace(effect, reason=reason, look=decision.look)
    look, more = decision.look, calls_needed(decision.look)
    is_given_up = look.estimate.n_after >= give_up.calls or look.day >= give_up.days
    return replace(
        effect, verdict=EffectVerdict.TOO_EARLY, look=look, more_calls=more, is_given_up=is_given_up
    )


def _unless_contradicted(effect: Effect) -> Effect:
    """The effect without a verdict that what else became worse contradicts."""
    worse = {rail.name: rail for rail in effect.guardrails if rail.is_worse}
    tool, reason = effect.change.tool, ""
    others = any(rail.is_tool for name, rail in worse.items() if name != tool)
    if effect.verdict is EffectVerdict.HURTS and others:
        reason = "the failures of other tools rose in the same days too"
    elif effect.verdict is EffectVerdict.HELPS and tool in worse:
        reason = "the failures that the line names fell, but those of the tool as a whole rose"
    elif effect.verdict is EffectVerdict.HELPS and LOST in worse:
        reason = "the failures that the line names fell, but more requests were lost"
    if not reason:
        return effect
    return replace(effect, verdict=EffectVerdict.UNKNOWN, reason=reason, decided_on=None)


def _of_windows(windows: Windows) -> list[str]:
    days = {
        "left out, since both descriptions may have been in force": windows.n_mixed,
        "with a tools_version that this clone does not know": windows.n_unknown,
        "dated by the merge, without a known tools_version": windows.n_by_time,
    }
    counts = {what: number_of(n, "day") for what, n in days.items() if n}
    if windows.n_unseen:
        counts["sent to models, but no change of the base branch"] = number_of(
            windows.n_unseen, "description"
        )
    return [f"{what}: {n}" for what, n in counts.items()]


def _of_models(old: Collection[str], new: Collection[str]) -> list[str]:
    added = sorted(set(new) - set(old))
    return [f"another model since then: {_names(added)}"] if added else []


def _of_traffic(before: Tally, after: Sequence[DayCount]) -> list[str]:
    """The categories whose share of the calls has shifted."""
    was, now = _by_category([before.strata]), _by_category(day.strata for day in after)
    shifted = [
        f"{category or 'unnamed'} {old:.0%} to {new:.0%}"
        for category in sorted(was.keys() | now.keys())
        if abs((new := now.get(category, 0.0)) - (old := was.get(category, 0.0))) >= _SHIFTED
    ]
    return [f"other traffic since then: {', '.join(shifted)} of the calls"] if shifted else []


def _by_category(parts: Iterable[Mapping[Stratum, tuple[int, int]]]) -> dict[str, float]:
    """The share of the calls of each category."""
    counts = Counter[str]()
    for part in parts:
        for (_, category), (n, _) in part.items():
            counts[category] += n
    return {category: n / (counts.total() or 1) for category, n in counts.items()}


def _of_controls(controls: Sequence[str], decision: Decision) -> list[str]:
    if decision.look is None:
        return []
    n = decision.look.estimate.n_controls
    if n:
        return [f"compared with {number_of(n, 'tool')} that did not change"]
    why = (
        "no other tool has enough failures" if controls else "all other tools changed or share its questions"
    )
    return [f"compared with its own past only: {why}"]


def _names(models: Collection[str]) -> str:
    return ", ".join(model or "unnamed" for model in sorted(models))


def _date(day: int) -> date:
    return EPOCH_DAY + timedelta(days=day)
