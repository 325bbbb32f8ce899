"""The effect of each change of a ledger: windows, controls, looks, a verdict and what is said of it."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from coreloop.base.messages import number_of
from coreloop.base.untrusted import with_untrusted
from coreloop.learn.effect.description_changes import LEAST_BEFORE, Change, Ledger, Windows, find_windows
from coreloop.learn.effect.estimate import Comparison, Figure, Look
from coreloop.learn.effect.named_failure import NamedFailure, named_failure
from coreloop.learn.effect.verdict import NO_PAST, Decision, EffectVerdict, calls_needed, decide
from coreloop.learn.facts.read_lines import EPOCH_DAY
from coreloop.learn.line import MEANINGS, parse_advice
from coreloop.learn.statistics import wilson_interval

if TYPE_CHECKING:
    from coreloop.learn.effect.units import Log

RECENT_DAYS: Final = 28
"""The newest days, in which a line may have become stale."""
_MAX_CONTROLS: Final = 12
"""More tools make the mean no better than what they have in common, and every look slower."""
_STALE_CALLS: Final = 10
"""Fewest calls against a line that say it is stale; surely most of them must succeed (Wilson)."""
_UNDECIDED: Final = {EffectVerdict.TOO_EARLY, EffectVerdict.UNKNOWN}
_ALARMS: Final = {EffectVerdict.HURTS, EffectVerdict.MOVED, EffectVerdict.WORSE}


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
        The newest one that says it; None if there is none.
    whole : Look or None
        Of the last of several lines that name different failures: all failures of the tool, before the first
        against after the last.
    decided_on : date or None
        The day on which the verdict came.
    reason : str
        Why it cannot be told; else empty.
    more_calls : int or None
        While it is too early, about how many calls are missing; None if they would take too long.
    lines : tuple of str
        Lines whose named failure is counted; empty if all failures of the tool are.
    since, until : date or None
        First and last day of afterwards.
    is_stale : bool
        Whether calls against its line succeed now.
    notes : tuple of str
        What else to know: days left out, repairs, what cannot be seen.
    """

    change: Change
    verdict: EffectVerdict = EffectVerdict.UNKNOWN
    look: Look | None = None
    whole: Look | None = None
    decided_on: date | None = None
    reason: str = ""
    more_calls: int | None = None
    lines: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    is_stale: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_alarm(self) -> bool:
        """Whether the tool fails more, or otherwise."""
        return self.verdict in _ALARMS

    @property
    def rank(self) -> int:
        """Where it stands on a screen: ``hurts`` first, then the other alarms."""
        return 0 if self.verdict is EffectVerdict.HURTS else 2 - self.is_alarm

    @property
    def why_retire(self) -> str:
        """Why a promoted line should go; empty if it should stay."""
        if not self.change.is_in_force:
            return ""
        if self.verdict is EffectVerdict.HURTS:
            return "it hurts" if self.look is not None and self.look.is_sure else ""
        if self.is_stale:
            return "calls against it succeed now"
        return "it removes less than half of its failures" if self.verdict is EffectVerdict.NO_EFFECT else ""

    @property
    def todo(self) -> str:
        """What a maintainer should do; empty if nothing."""
        id = self.change.ids[0] if self.change.ids else self.change.sha[:10]
        if self.change.reverted or self.change.is_revert:
            return ""
        if self.verdict is EffectVerdict.HURTS:
            return f"take it back: dartlab-coreloop promote --revert {id}"
        if self.is_alarm:
            return "look at the tool: dartlab-coreloop refine names what fails now"
        if self.why_retire:
            return f"retire the line, {self.why_retire}: dartlab-coreloop promote --revert {id}"
        return ""

    @property
    def title(self) -> str:
        """The verdict in words: ``too early (about 320 more calls)``."""
        if self.reason:
            return f"{self.verdict}: {self.reason}"
        if self.verdict is not EffectVerdict.TOO_EARLY:
            return self.verdict
        days = "no call yet on a whole day (UTC) after the merge; the first is the day after it"
        late = days if self.look is None else "maybe not within 60 days"
        return f"{self.verdict} ({f'about {self.more_calls:,} more calls' if self.more_calls else late})"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The figures, each with its interval, and what they are compared with."""
        look = self.look
        if look is None:
            return ()
        rows = {"against the line" if self.lines else "all its failures": look.named}
        if look.failed != look.named:
            rows["all its failures"] = look.failed
        if look.lost.low > 0:
            rows["requests lost"] = look.lost
        if self.whole is not None:
            rows["all its failures, before the first and after the last line"] = self.whole.failed
        figures = (f"{name}: {_figures(its)}" for name, its in rows.items())
        left_out = f" (left out: {look.left_out:.0%}, without a past)" if look.left_out >= 0.005 else ""
        counted = f"{number_of(look.n, 'call')} in {number_of(look.day, 'day')}"
        return *figures, f"{counted}{left_out}, {_compared(look)}"

    @property
    def facts(self) -> dict[str, object]:
        """The fields as JSON has them: names of tools, models and categories are ``untrusted_…``."""
        return with_untrusted(self, "notes") | {"todo": self.todo, "title": self.title}


def _figures(its: Figure) -> str:
    low, high = max(its.low, -its.expected), min(its.high, 1 - its.expected)  # a share is 0 to 1
    interval = f"{100 * low:+.1f} to {100 * high:+.1f} points"
    return f"{its.before:.1%} before, {its.expected:.1%} expected, {its.after:.1%} now ({interval})"


def _compared(look: Look) -> str:
    if not look.n_controls:
        why = "no other tool that did not change failed enough before"
        return f"compared with the tool's own past and its other failures only: {why}"
    points = f"{100 * (look.failed.expected - look.failed.before):+.1f} points"
    tools = number_of(look.n_controls, "tool")
    return f"compared with {tools} that did not change, which would have moved it by {points}"


def failures_of(changes: Iterable[Change]) -> dict[str, dict[str, NamedFailure]]:
    """The failures that changes name, by tool and commit; a line that a person wrote names its own, too."""
    failures: defaultdict[str, dict[str, NamedFailure]] = defaultdict(dict)
    for change in changes:
        if not change.is_revert and (named := _named(change)):
            failures[change.tool][change.sha] = named
    return failures


def _named(change: Change) -> NamedFailure:
    lines = [MEANINGS.sub("", line) for line in change.added or change.removed]
    return named_failure(line for line in lines if change.is_ours or parse_advice(line) is not None)


@dataclass(frozen=True, slots=True)
class EffectFinder:
    """Changes of a ledger -> their effects.

    Parameters
    ----------
    ledger : Ledger
        From `coreloop.learn.effect.description_changes.read_ledger`.
    log : Log
        Read with `failures_of` its changes.
    deploy_lag : timedelta
        From a merge until all models get the description.
    """

    ledger: Ledger
    log: "Log"
    deploy_lag: timedelta

    def find(self, change: Change) -> Effect:
        """Find the effect of a change."""
        effect = Effect(change=change)
        if change.tool not in set(self.log.sent["tool"]):
            return replace(effect, reason="no call of the tool was recorded")
        windows = self._windows(change)
        if not windows.after:
            if not windows.is_ended:
                return replace(effect, verdict=EffectVerdict.TOO_EARLY)
            return replace(effect, reason="another change came before any call")
        named = self.log.against.get((change.sha, change.tool))
        lines = tuple(filter(parse_advice, change.added)) if named is not None else ()
        effect = replace(effect, lines=lines, since=_date(windows.first), until=_date(max(windows.after)))
        beside = self._beside(change, windows)
        hidden = set[int]().union(*(self.log.against.get((its.sha, its.tool), ()) for its in beside))
        decision = self._decide(change, windows, named, hidden)
        if beside and beside[-1].place < change.place:
            past = self._windows(beside[0])
            whole = self._decide(change, replace(windows, before=past.before), None, ())
            effect = replace(effect, whole=whole.look)
        effect = _with_decision(effect, windows, decision)
        return self._with_notes(effect, windows, named)

    def _apart(self, change: Change) -> list[Change]:
        """Changes of the tool that are about other failures, so that they do not end its days."""
        own, others = set(_named(change)), (its for its in self.ledger.changes if its.tool == change.tool)
        return [its for its in others if own and _named(its) and own.isdisjoint(_named(its))]

    def _windows(self, change: Change) -> Windows:
        apart, columns = self._apart(change), ("day", "version", "us")
        sent = self.log.sent.filter(tool=change.tool).select(columns).rows()
        rivals = [its for its in self.ledger.changes if its.tool == change.tool and its not in apart]
        return find_windows(change, sent, self.ledger, rivals, deploy_lag=self.deploy_lag)

    def _beside(self, change: Change, windows: Windows) -> list[Change]:
        """The lines about other failures that were merged on its days."""
        days = range(min(windows.before, default=windows.first), max(windows.after) + 1)
        merged = (its for its in self._apart(change) if not its.is_revert)
        return [its for its in merged if (its.merged_at.date() - EPOCH_DAY).days in days]

    def _decide(
        self, change: Change, windows: Windows, named: Collection[int] | None, hidden: Collection[int]
    ) -> Decision:
        from coreloop.learn.effect.units import count_units, new_model  # imports polars

        tools = [change.tool, *self._controls(change, windows)]
        periods = [self.log.of(tools, days) for days in (windows.before, windows.after)]
        if windows.old:
            periods = self.log.arms(tools, change.tool, windows)
        counted = count_units(periods, change.tool, named, hidden)
        compared = Comparison(change.tool, *counted, first=windows.first)
        if compared.days_before < LEAST_BEFORE:
            days = number_of(compared.days_before, "day")
            reason = f"{days} with calls before it, at least {LEAST_BEFORE} are needed"
            return Decision(EffectVerdict.UNKNOWN, reason=reason)
        decision = decide(max(windows.after) - windows.first + 1, compared.at)
        if decision.verdict is EffectVerdict.TOO_EARLY and compared.is_alone:
            reason = "the tools that it was compared with have no calls any more"
            return Decision(EffectVerdict.UNKNOWN, reason=reason)
        if decision.reason != NO_PAST and (decision.look is not None or not counted[1]):
            return decision
        new = new_model(*(units.filter(tool=change.tool) for units in periods))
        reason = NO_PAST if new is None else f"another model since {_date(new)}"
        return replace(decision, verdict=EffectVerdict.UNKNOWN, reason=reason)

    def _controls(self, change: Change, windows: Windows) -> list[str]:
        """The tools that did not change on these days, those with the most failures before first."""
        start, end = _date(min(windows.before | windows.after)), _date(max(windows.after))
        begun = (its for its in self.ledger.changes if its.merged_at.date() <= end)
        changed = {its.tool for its in begun if (its.merged_at + self.deploy_lag).date() >= start}
        names = set(self.log.sent["tool"]) - {change.tool, *changed}
        failed = self.log.of(names, windows.before).filter("failed")["tool"].value_counts(sort=True)
        return sorted(failed["tool"].head(_MAX_CONTROLS))

    def _with_notes(self, effect: Effect, windows: Windows, named: Collection[int] | None) -> Effect:
        """The effect with what else is known of the days."""
        tool, notes = effect.change.tool, list[str]()
        if windows.old:
            notes.append("compared with sessions of the same days that kept the old description")
        if windows.n_mixed:
            days = number_of(windows.n_mixed, "day")
            notes.append(f"left out, since both descriptions may have been in force: {days}")
        failed = [self.log.of([tool], days).filter("failed") for days in (windows.before, windows.after)]
        shares = [its.filter("repaired").height / max(1, its.height) for its in failed]
        if any(shares):
            repaired = "{:.0%} before, {:.0%} after".format(*shares)
            notes.append(f"failures that a later call of the request repaired: {repaired}")
        if any(advice.arguments for advice in map(parse_advice, effect.lines) if advice is not None):
            notes.append("calls that work may be wrong: no record says which value was meant")
        notes.append("a change of this tool's traffic alone would look the same")
        return replace(effect, notes=tuple(notes), is_stale=self._is_stale(effect, windows, named))

    def _is_stale(self, effect: Effect, windows: Windows, named: Collection[int] | None) -> bool:
        """Whether in the newest days calls against a line that is in force succeed."""
        if effect.change.reverted or named is None or windows.is_ended:
            return False
        newest = max(self.log.sent.filter(tool=effect.change.tool)["day"])
        first = max(windows.first, newest - RECENT_DAYS + 1)
        recent = self.log.of([effect.change.tool], range(first, newest + 1))
        recent = recent.filter(recent["row"].is_in(list(named)))
        worked, n = recent.filter(failed=False).height, recent.height
        return n >= _STALE_CALLS and wilson_interval(worked, n)[0] > 1 / 2


def _with_decision(effect: Effect, windows: Windows, decision: Decision) -> Effect:
    look = decision.look
    effect = replace(effect, verdict=decision.verdict, look=look, reason=decision.reason)
    if decision.verdict not in _UNDECIDED and decision.day is not None:
        return replace(effect, decided_on=_date(windows.first + decision.day - 1))
    if windows.is_ended and not decision.reason:
        days = number_of(look.day if look is not None else 0, "day")
        reason = f"another change came after {days}, before a verdict"
        return replace(effect, verdict=EffectVerdict.UNKNOWN, reason=reason)
    return replace(effect, more_calls=calls_needed(look) if look is not None else None)


def _date(day: int) -> date:
    return EPOCH_DAY + timedelta(days=day)
