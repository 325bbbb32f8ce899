"""The effect of each change of a ledger: windows, controls, estimate, verdict and what surrounds it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import sqrt
from typing import Final

from coreloop.base.messages import number_of
from coreloop.base.text import printable
from coreloop.base.untrusted import with_untrusted
from coreloop.learn.effect.description_changes import LEAST_BEFORE, Change, Ledger, Windows, find_windows
from coreloop.learn.effect.estimate import DailyEstimates, tally
from coreloop.learn.effect.tool_days import Log, NamedFailure, ToolLog, named_failure
from coreloop.learn.effect.verdict import Decision, EffectVerdict, Look, calls_needed, decide
from coreloop.learn.facts.read_lines import EPOCH_DAY
from coreloop.learn.statistics import wilson_interval

RECENT_DAYS: Final = 28
"""The newest days, in which a line may have become stale."""
_MAX_CONTROLS: Final = 12
"""More tools make the mean no better than what they have in common, and every look slower."""
_STALE_CALLS: Final = 10
"""Fewest calls against a line that say it is stale; surely most of them must succeed (Wilson)."""
SHARED_CASES: Final = 0.05
"""Share of a tool's cases that also call the changed tool, above which it shares its questions."""
LOST: Final = "requests lost"
_Z: Final = 1.96  # of a two-sided 95 % interval
_LEAST_DAYS: Final = 7  # days of a period below which the spread between days says nothing
_LEAST_TOOL_DAYS: Final = 3  # as many as `hurts` needs, which other tools may contradict
_MAX_NEIGHBOURS: Final = 5


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A share before and after, and the 95 % interval of its change, by the spread between days.

    Attributes
    ----------
    name : str
        The tool whose calls fail, or ``requests lost``.
    """

    name: str
    before: float
    after: float
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        """Whether it surely rose."""
        return self.low > 0

    @property
    def is_tool(self) -> bool:
        """Whether it is the failing share of a tool."""
        return self.name != LOST

    @property
    def sentence(self) -> str:
        """Its name with the figures."""
        name = f"failed calls of {printable(self.name)}" if self.is_tool else self.name
        return f"{name} {self.before:.1%} before, {self.after:.1%} after"


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
    more_calls : int or None
        While it is too early, about how many calls are missing; None if they would take too long.
    lines : tuple of str
        Lines whose named failure is counted; empty if all failures of the tool are.
    since, until : date or None
        First and last day of afterwards.
    is_stale : bool
        Whether calls against its line succeed now.
    notes : tuple of str
        What else to know: days left out, another model, no controls.
    guardrails : tuple of Guardrail
    """

    change: Change
    verdict: EffectVerdict
    look: Look | None = None
    decided_on: date | None = None
    reason: str = ""
    more_calls: int | None = None
    lines: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    is_stale: bool = False
    notes: tuple[str, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()

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
        if self.verdict is EffectVerdict.HURTS:  # compared with other tools, and not with its own past only
            return "it hurts" if self.look is not None and self.look.estimate.n_controls else ""
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
        if self.why_retire:
            return f"retire the line, {self.why_retire}: dartlab-coreloop promote --revert {id}"
        return ""

    @property
    def title(self) -> str:
        """The verdict in words: ``too early (about 320 more calls)``."""
        if self.verdict is EffectVerdict.UNKNOWN:
            return f"{self.verdict}: {self.reason}"
        if self.verdict is not EffectVerdict.TOO_EARLY:
            return self.verdict
        more = "no call yet"
        if self.look is not None:
            n = self.more_calls
            more = f"about {n:,} more calls" if n else "not within 90 days at this traffic"
        return f"{self.verdict} ({more})"

    @property
    def facts(self) -> dict[str, object]:
        """The fields as JSON has them: names of tools, models and categories are ``untrusted_…``."""
        return with_untrusted(self, "guardrails", "notes") | {"todo": self.todo}


def what_is_counted(changes: Iterable[Change]) -> dict[str, dict[str, NamedFailure]]:
    """What is counted for each change: a promotion's named failure, all failures for a human's."""
    failures: defaultdict[str, dict[str, NamedFailure]] = defaultdict(dict)
    for change in changes:
        if change.is_ours and (named := named_failure(change.added)):
            failures[change.tool][change.sha] = named
    return failures


@dataclass(frozen=True, slots=True)
class EffectFinder:
    """Changes of a ledger -> their effects.

    Parameters
    ----------
    ledger : Ledger
        From `coreloop.learn.effect.description_changes.read_ledger`.
    log : Log
        Counted with `what_is_counted`.
    deploy_lag : timedelta
        From a merge until all models get the description.
    """

    ledger: Ledger
    log: Log
    deploy_lag: timedelta

    def find(self, change: Change) -> Effect:
        """Find the effect of a change."""
        tool, effect = self.log.get(change.tool), Effect(change=change, verdict=EffectVerdict.UNKNOWN)
        if tool is None:
            return replace(effect, reason="no call of the tool was recorded")
        windows = find_windows(change, tool, self.ledger, deploy_lag=self.deploy_lag)
        if not windows.after:
            if not windows.is_ended:
                return replace(effect, verdict=EffectVerdict.TOO_EARLY)
            return replace(effect, reason="another change came before any call")
        is_named = change.sha in tool.against
        since, until = _date(windows.first), _date(max(windows.after))
        effect = replace(effect, lines=change.added if is_named else (), since=since, until=until)
        if len(windows.before) < LEAST_BEFORE:
            days = number_of(len(windows.before), "day")
            return replace(effect, reason=f"{days} with calls before it, at least {LEAST_BEFORE} are needed")
        return self._decided(effect, tool, windows, change.sha if is_named else "")

    def _decided(self, effect: Effect, tool: ToolLog, windows: Windows, commit: str) -> Effect:
        """The effect with its verdict; ``commit`` is empty if all failures count."""
        near = neighbours(self.log, effect.change.tool, windows.before | windows.after)
        controls = self._controls(effect.change, windows, near)
        before, after = tally(tool.count(windows.before, commit)), tool.count(windows.after, commit)
        old = {model for (model, _), (n, _) in before.strata.items() if n}
        new = {model for day in after for model, _ in day.strata}
        models = sorted(model or "unnamed" for model in new - old)
        notes = [f"another model since then: {', '.join(models)}"] if models else []
        if not controls and old.isdisjoint(new):
            reason = "the model changed with it, and no other tool shows what that does alone"
            return replace(effect, reason=reason, notes=tuple(notes))
        logs = [self.log[name] for name in controls]
        others = [(tally(one.count(windows.before)), one.count(windows.after)) for one in logs]
        estimates = DailyEstimates(windows.first, [(before, after), *others])
        decision = decide(max(windows.after) - windows.first + 1, estimates.at)
        if windows.n_mixed:
            days = number_of(windows.n_mixed, "day")
            notes.append(f"left out, since both descriptions may have been in force: {days}")
        if decision.look is not None:
            n = decision.look.estimate.n_controls
            compared = f"{number_of(n, 'tool')} that did not change" if n else "its own past only"
            notes.append(f"compared with {compared}")
        guardrails = find_guardrails(self.log, effect.change.tool, near, windows.before, windows.after)
        effect = replace(effect, notes=tuple(notes), guardrails=guardrails)
        effect = _unless_contradicted(_with_decision(effect, windows, decision))
        return replace(effect, is_stale=_is_stale(effect, tool, windows, commit))

    def _controls(self, change: Change, windows: Windows, near: Collection[str]) -> list[str]:
        """The tools that did not change on these days, and share no questions with the changed tool.

        Those with the most failures before are chosen, which says nothing of what came after.
        """
        days = windows.before | windows.after
        start, end = _date(min(days)), _date(max(days))
        changed = {
            other.tool
            for other in self.ledger.changes
            if other.merged_at.date() <= end and (other.merged_at + self.deploy_lag).date() >= start
        }
        names = self.log.keys() - {change.tool, *near, *changed}
        failed = {
            name: sum(n for day, (_, n) in self.log[name].by_day().items() if day in windows.before)
            for name in names
        }
        return sorted(names, key=lambda name: (-failed[name], name))[:_MAX_CONTROLS]


def _with_decision(effect: Effect, windows: Windows, decision: Decision) -> Effect:
    look = decision.look
    if look is None:
        return replace(effect, verdict=EffectVerdict.TOO_EARLY)
    effect = replace(effect, look=look)
    if decision.day is not None:
        return replace(effect, verdict=decision.verdict, decided_on=_date(windows.first + decision.day - 1))
    if windows.is_ended:
        days = number_of(look.day, "day")
        return replace(effect, reason=f"another change came after {days}, before a verdict")
    return replace(effect, verdict=EffectVerdict.TOO_EARLY, more_calls=calls_needed(look))


def _unless_contradicted(effect: Effect) -> Effect:
    """The effect without a verdict that what else became worse contradicts."""
    worse = {rail.name for rail in effect.guardrails if rail.is_worse}
    if effect.verdict is EffectVerdict.HURTS and worse - {LOST, effect.change.tool}:
        reason = "the failures of other tools rose in the same days too"
    elif effect.verdict is EffectVerdict.HELPS and effect.change.tool in worse:
        reason = "the failures that the line names fell, but those of the tool as a whole rose"
    elif effect.verdict is EffectVerdict.HELPS and LOST in worse:
        reason = "the failures that the line names fell, but more requests were lost"
    else:
        return effect
    return replace(effect, verdict=EffectVerdict.UNKNOWN, reason=reason, decided_on=None)


def _is_stale(effect: Effect, tool: ToolLog, windows: Windows, commit: str) -> bool:
    """Whether in the newest days calls against a line that is in force succeed."""
    if effect.change.reverted or not commit or windows.is_ended:
        return False
    first = max(windows.first, max(tool.versions) - RECENT_DAYS + 1)
    against = [counts for day, counts in tool.by_day(commit).items() if day >= first]
    n, failed = (sum(part) for part in zip(*against, strict=True)) if against else (0, 0)
    return n >= _STALE_CALLS and wilson_interval(n - failed, n)[0] > 1 / 2


def _date(day: int) -> date:
    return EPOCH_DAY + timedelta(days=day)


# --- What else a change may have done: to requests, to the tool's failures, and to tools beside it.


def find_guardrails(
    log: Log, tool: str, near: Collection[str], before: Collection[int], after: Collection[int]
) -> tuple[Guardrail, ...]:
    """Compare before and after: requests, and the failures of the tool and of its `neighbours` ``near``.

    Of these, those that rose most come first.
    """
    periods = (before, after)
    lost = _compare(LOST, log[tool].requests, periods, _LEAST_DAYS)
    of_tool, *others = (
        _compare(name, log[name].by_day(), periods, _LEAST_TOOL_DAYS) for name in (tool, *near)
    )
    beside = sorted((rail for rail in others if rail is not None), key=lambda rail: (-rail.low, rail.name))
    return tuple(rail for rail in (lost, of_tool, *beside[:_MAX_NEIGHBOURS]) if rail is not None)


def neighbours(log: Log, tool: str, days: Collection[int]) -> frozenset[str]:
    """The tools so many of whose cases call this tool that a change could carry over."""
    own = log[tool].cases(days)
    others = ((name, log[name].cases(days)) for name in log if name != tool)
    return frozenset(name for name, cases in others if len(cases & own) > SHARED_CASES * len(cases))


def _compare(
    name: str, days: Mapping[int, tuple[int, int]], periods: Sequence[Collection[int]], least_days: int
) -> Guardrail | None:
    """Compare a share of sums; None with too few days."""
    counted = [[days[day] for day in period if day in days and days[day][0]] for period in periods]
    if min(map(len, counted)) < least_days:
        return None
    (old, old_variance), (new, new_variance) = map(_share, counted)
    half = _Z * sqrt(old_variance + new_variance)
    return Guardrail(name, old, new, new - old - half, new - old + half)


def _share(days: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """A share of sums, and its variance with days as clusters (Taylor)."""
    total, failed = (sum(part) for part in zip(*days, strict=True))
    share = failed / total
    spread = sum((part - share * n) ** 2 for n, part in days)
    return share, spread / total**2 * len(days) / (len(days) - 1)
