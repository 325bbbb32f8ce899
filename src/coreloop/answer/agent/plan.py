"""What an agent means to search for: candidates in, what to execute out, repeated ones named."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from coreloop.answer.agent.agent_state import CANDIDATES, LEAST_PARTS, ChosenQuery, Intent
from coreloop.answer.research.next_queries import MAX_CONVERGED, MAX_PARTS, converge
from coreloop.answer.research.research_state import COUNTER_EVIDENCE, PlanQuery, knowledge_of
from coreloop.runs import events as happened
from coreloop.runs.agent.json_input import read_json, wrong_field
from coreloop.runs.clock import Clock, SystemClock
from coreloop.runs.drift import Turn, check_drift
from coreloop.runs.duplicates import QueryHistory
from coreloop.runs.events import Reported, Turned
from coreloop.runs.load import load_run, require_going
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

LEAST_CANDIDATES: Final = 10  # as the specification has it
FIXED_AFTER: Final = 2
"""Iterations that used the sub-questions, after which no plan adds one; a plan that grows never ends."""
_LEAST_EXECUTED: Final = 3  # chosen: the plan's three groups, one query each
_LEAST_OF_INTENT: Final = 3
"""Of the three groups, the specification's 3–4 web, 3–4 academic or technical, 3–4 for counter-evidence."""
_GROUPS: Final[dict[str, frozenset[Intent]]] = {
    "web": frozenset({"web"}),
    "academic or technical": frozenset({"academic", "technical"}),
    COUNTER_EVIDENCE: frozenset({"counter-evidence"}),
}
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=500, pattern=r"\S")]


class ProposedQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"part": "for"}):
    """A candidate: ``{"query", "intent", "strategy": [], "for": "q1", "against": "h1"}``."""

    query: _Text
    intent: Intent
    strategy: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=20)] = ()
    part: str = ""
    against: str = ""

    @property
    def labels(self) -> frozenset[str]:
        """The labels of its strategy, its intent included."""
        return frozenset({self.intent, *self.strategy})


class AgentPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent gives to ``runs plan``; sub-questions that the run has already may be left out."""

    candidates: Annotated[tuple[ProposedQuery, ...], msgspec.Meta(max_length=100)]
    sub_questions: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=MAX_PARTS)] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedIteration:
    """What comes of a plan.

    Attributes
    ----------
    state : State
        After it.
    execute : tuple of ChosenQuery
        Three to five, one of them for counter-evidence; none if all were duplicates.
    duplicates : dict of str to str
        Candidates that ask what an earlier search asked, and that search.
    left_out : tuple of str
        The others.
    """

    state: State
    execute: tuple[ChosenQuery, ...]
    duplicates: dict[str, str]
    left_out: tuple[str, ...]


def read_plan(data: bytes) -> AgentPlan:
    """Read a plan.

    Raises
    ------
    UsageError
        The message begins with the JSON path of the field.
    """
    return read_json(data, AgentPlan, what="plan")


def plan_iteration(
    store: Store, run_id: str, plan: AgentPlan, *, clock: Clock | None = None
) -> PlannedIteration:
    """Choose what the next iteration searches for, and keep it with the run.

    Raises
    ------
    UsageError
        A field does not fit the run, too few candidates, none for counter-evidence, or one of a strategy that
        the run must leave.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """
    now = (clock or SystemClock()).now()
    while True:
        folding, newest = load_run(store, run_id)
        state = folding.state
        require_going(state)
        _require_fit(state, plan)
        chosen, duplicates = _choose(state, plan)
        events = _events(state, plan, chosen, duplicates, now)
        for event in events:
            folding.add(event)
        if not chosen and (turn := check_drift(folding.state)):
            turned = happened.Turned(at=now, rule=turn.rule, before=turn.before, after=turn.after)
            folding.add(turned)
            events.append(turned)
        recorded = happened.Recorded(at=now, events=tuple(events))
        if not store.append(run_id, [recorded], after=newest):
            taken = {*duplicates, *(candidate.query for candidate in chosen)}
            left = tuple(one.query for one in plan.candidates if one.query not in taken)
            return PlannedIteration(state=folding.state, execute=chosen, duplicates=duplicates, left_out=left)


def order_of(state: State) -> Turn | Turned | None:
    """Return the change of strategy that drift demands now, if it does."""
    return check_drift(state) or state.order


def labels_to_leave(order: Turn | Turned) -> frozenset[str]:
    """Return the labels that an order replaces."""
    return frozenset(order.before) - frozenset(order.after)


def _require_fit(state: State, plan: AgentPlan) -> None:
    _require_parts(state, plan)
    parts = _parts(state, plan)
    hypotheses = {one.id for one in knowledge_of(state).all_hypotheses}
    for place, candidate in enumerate(plan.candidates):
        _require_known(
            f"$.candidates[{place}].for", candidate.part, parts, "no sub-question {name}; the run has {names}"
        )
        _require_known(
            f"$.candidates[{place}].against",
            candidate.against,
            hypotheses,
            "no hypothesis {name}; the run has {names}",
        )
    order = order_of(state)
    if order is not None:
        _require_order(order, plan)
    _require_many(plan, labels_to_leave(order) if order else frozenset())
    _require_contrary(state, plan)


def _require_parts(state: State, plan: AgentPlan) -> None:
    known = {part.text for part in state.sub_questions}
    new = [text for text in dict.fromkeys(plan.sub_questions) if text not in known]
    if new and known and state.iteration >= FIXED_AFTER:
        raise wrong_field(
            "$.sub_questions",
            f"the sub-questions are fixed since iteration {FIXED_AFTER} used them; leave out {new[0][:80]}",
        )
    if len(known) + len(new) < LEAST_PARTS:
        raise wrong_field(
            "$.sub_questions",
            f"a plan has at least {LEAST_PARTS} sub-questions, the run would have "
            f"{len(known) + len(new)}; split the question further",
        )


def _parts(state: State, plan: AgentPlan) -> set[str]:
    known = {part.text for part in state.sub_questions}
    new = sum(text not in known for text in dict.fromkeys(plan.sub_questions))
    return {f"q{number}" for number in range(1, len(known) + new + 1)}


def _require_known(path: str, name: str, known: Iterable[str], message: str) -> None:
    if name and name not in known:
        names = ", ".join(sorted(known)) or "none yet"
        raise wrong_field(path, message.format(name=name[:80], names=names))


def _require_order(order: Turn | Turned, plan: AgentPlan) -> None:
    """Refuse candidates of the strategy that drift ordered to leave, by name."""
    old, new = labels_to_leave(order), frozenset(order.after) - frozenset(order.before)
    for place, candidate in enumerate(plan.candidates):
        if left := sorted(candidate.labels & old):
            raise wrong_field(
                f"$.candidates[{place}]",
                f"'{candidate.query[:80]}' is of the strategy {left[0]}, which the run must leave; "
                f"use {', '.join(sorted(new))}",
            )
    if new and not any(candidate.labels & new for candidate in plan.candidates):
        wanted = ", ".join(sorted(new))
        raise wrong_field("$.candidates", f"none follows the ordered strategy; label some with {wanted}")


def _require_many(plan: AgentPlan, left: frozenset[str]) -> None:
    if len(plan.candidates) < LEAST_CANDIDATES:
        raise wrong_field(
            "$.candidates", f"{len(plan.candidates)} of at least {LEAST_CANDIDATES}; think of more"
        )
    for group, intents in _GROUPS.items():
        number = sum(candidate.intent in intents for candidate in plan.candidates)
        if number < _LEAST_OF_INTENT and not intents & left:
            raise wrong_field(
                "$.candidates", f"{number} of at least {_LEAST_OF_INTENT} with the intent {group}; add some"
            )


def _require_contrary(state: State, plan: AgentPlan) -> None:
    focus = knowledge_of(state).focus
    contrary = [candidate for candidate in plan.candidates if candidate.intent == COUNTER_EVIDENCE]
    if focus and not any(candidate.against == focus[0].id for candidate in contrary):
        raise wrong_field(
            "$.candidates",
            f'none could refute the leading hypothesis; add "against": "{focus[0].id}" to one '
            f"with the intent {COUNTER_EVIDENCE}",
        )


def _choose(state: State, plan: AgentPlan) -> tuple[tuple[ChosenQuery, ...], dict[str, str]]:
    """Three to five of the candidates that no earlier search asked; none that another one asks, too."""
    history = QueryHistory(state.search_history)
    duplicates: dict[str, str] = {}
    fresh: dict[str, ProposedQuery] = {}
    for candidate in plan.candidates:
        is_duplicate, similar = history.is_duplicate_query(candidate.query)
        if is_duplicate:
            duplicates[candidate.query] = similar or ""
        else:
            fresh.setdefault(candidate.query, candidate)
    searched = [search.query for search in state.search_history]
    queries = [PlanQuery(one.query, one.intent) for one in _in_order(state, fresh.values())]
    converged = [fresh[query.query] for query in _converged(queries, searched)]
    kept = _with_attack(state, _with_open_part(state, converged, fresh.values()), fresh.values())
    return tuple(_candidate(one, state.iteration + 1) for one in kept), duplicates


def _with_open_part(
    state: State, kept: list[ProposedQuery], fresh: Iterable[ProposedQuery]
) -> list[ProposedQuery]:
    """One for the sub-question that is to be answered next is among those that are executed."""
    asked = next((part.id for part in state.sub_questions if part.is_open), "")
    own = [one for one in fresh if asked and one.part == asked]
    if not own or any(one in own for one in kept):
        return kept
    least = next((one for one in reversed(kept) if one.intent != COUNTER_EVIDENCE), None)
    rest = [one for one in kept if one is not least] if len(kept) >= MAX_CONVERGED else kept
    return [*rest, own[0]]


def _with_attack(
    state: State, kept: list[ProposedQuery], fresh: Iterable[ProposedQuery]
) -> list[ProposedQuery]:
    """One that could refute the leading hypothesis is among those that are executed."""
    leading = {one.id for one in knowledge_of(state).focus[:1]}
    attacks = [one for one in fresh if one.against in leading and one.intent == COUNTER_EVIDENCE]
    if not attacks or any(one in attacks for one in kept):
        return kept
    others = [one for one in kept if one.intent != COUNTER_EVIDENCE]
    return [*others[: MAX_CONVERGED - 1], attacks[0]]


def _converged(queries: Sequence[PlanQuery], searched: Sequence[str]) -> list[PlanQuery]:
    """Three to five: those unlike earlier searches first, then those of another year or site alone."""
    kept = converge(queries, searched)
    if len(kept) >= _LEAST_EXECUTED:
        return kept
    more = sorted(converge(queries, ()), key=lambda query: query.intent != COUNTER_EVIDENCE)
    known = {query.query for query in kept}
    return [*kept, *(query for query in more if query.query not in known)][:MAX_CONVERGED]


def _in_order(state: State, fresh: Iterable[ProposedQuery]) -> Sequence[ProposedQuery]:
    """Those of the ordered strategy alone, if there are any; counter-evidence always."""
    order, candidates = order_of(state), list(fresh)
    new = frozenset(order.after) - frozenset(order.before) if order else frozenset()
    ordered = [one for one in candidates if one.labels & new or one.intent == COUNTER_EVIDENCE]
    return ordered if any(one.labels & new for one in ordered) else candidates


def _candidate(proposed: ProposedQuery, iteration: int) -> ChosenQuery:
    return ChosenQuery(
        query=proposed.query,
        intent=proposed.intent,
        strategy=proposed.strategy,
        part=proposed.part,
        against=proposed.against,
        iteration=iteration,
    )


def _events(
    state: State,
    plan: AgentPlan,
    chosen: Sequence[ChosenQuery],
    duplicates: dict[str, str],
    now: datetime,
) -> list[Reported]:
    """The plan's events; repeated queries are drift only if nothing else is left to search for."""
    data: dict[str, Any] = {
        "sub_questions": list(plan.sub_questions),
        "candidates": msgspec.to_builtins(chosen),
    }
    events: list[Reported] = []
    if plan.sub_questions:
        events.append(happened.Planned(at=now, sub_questions=plan.sub_questions))
    events.append(happened.Noted(at=now, name=CANDIDATES, data=data))
    return [*events, *(_dropped(duplicates, now) if not chosen else ())]


def _dropped(duplicates: dict[str, str], now: datetime) -> Iterator[Reported]:
    for query, similar in duplicates.items():
        yield happened.QueryDropped(at=now, query=query, similar=similar)
