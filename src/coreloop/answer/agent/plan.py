"""What an agent means to search for: candidates in, what to execute out, repeated ones named."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec

from coreloop.answer.agent.agent_state import LEAST_PARTS, agent_knowledge
from coreloop.answer.research.next_queries import MAX_CONVERGED, MAX_PARTS, converge
from coreloop.answer.research.research_state import COUNTER_EVIDENCE, PLANNED, PlanQuery, knowledge_of
from coreloop.runs import events as happened
from coreloop.runs.agent.agent_report import added_parts
from coreloop.runs.agent.json_input import read_json, wrong_field
from coreloop.runs.clock import Clock, SystemClock
from coreloop.runs.drift import check_drift
from coreloop.runs.duplicates import QueryHistory
from coreloop.runs.events import Reported, Turned
from coreloop.runs.load import load_run, require_going
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

LEAST_CANDIDATES: Final = 10  # as the specification has it
_LEAST_EXECUTED: Final = 3  # chosen: the plan's three groups, one query each
_LEAST_OF_INTENT: Final = 3
"""Of the three groups, the specification's 3–4 web, 3–4 academic or technical, 3–4 for counter-evidence."""
_GROUPS: Final[dict[str, frozenset[str]]] = {
    "web": frozenset({"web"}),
    "academic or technical": frozenset({"academic", "technical"}),
    COUNTER_EVIDENCE: frozenset({"counter-evidence"}),
}
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=500, pattern=r"\S")]


class ProposedQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"part": "for"}):
    """A candidate: ``{"query", "intent", "strategy": [], "for": "q1", "against": "h1"}``."""

    query: _Text
    intent: Literal["web", "academic", "technical", "counter-evidence"]
    strategy: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=20)] = ()
    part: str = ""
    against: str = ""


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
    execute : tuple of PlanQuery
        Three to five, one of them for counter-evidence; none if all were duplicates.
    duplicates : dict of str to str
        Candidates that ask what an earlier search asked, and that search.
    left_out : tuple of str
        The others.
    """

    state: State
    execute: tuple[PlanQuery, ...]
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
        queries = [
            PlanQuery(one.query, one.intent, state.iteration + 1, one.strategy, one.part, one.against)
            for one in plan.candidates
        ]
        _require_fit(state, plan, queries)
        duplicates = _duplicates(state, queries)
        fresh = [one for one in queries if one.query not in duplicates]
        chosen = tuple(_choose(state, fresh))
        data = {"sub_questions": list(plan.sub_questions), "queries": msgspec.to_builtins(chosen)}
        events: list[Reported] = [
            *added_parts(state, plan.sub_questions, now),
            happened.Noted(at=now, name=PLANNED, data=data),
        ]
        if not chosen:  # only then are repeated queries drift
            dropped = duplicates.items()
            events += [happened.QueryDropped(at=now, query=one, similar=other) for one, other in dropped]
        for event in events:
            folding.add(event)
        if not chosen and (turn := check_drift(folding.state)):
            events.append(turn)
            folding.add(events[-1])
        if not store.append(run_id, [happened.Recorded(at=now, events=tuple(events))], after=newest):
            left = tuple(one.query for one in fresh if one not in chosen)
            return PlannedIteration(state=folding.state, execute=chosen, duplicates=duplicates, left_out=left)


def order_of(state: State) -> Turned | None:
    """Return the change of strategy that drift demands now, if it does."""
    return check_drift(state) or state.order


def require_order(order: Turned | None, path: str, labelled: Sequence[tuple[str, frozenset[str]]]) -> None:
    """Refuse what does not follow the change of strategy that drift ordered.

    Parameters
    ----------
    order : Turned or None
        None if none was ordered.
    path : str
        Of the field, for messages.
    labelled : sequence of (str, frozenset of str)
        Its entries by name, with the labels of their strategies.

    Raises
    ------
    UsageError
        The message names the label that is left, or the one that is missing.
    """
    if order is None:
        return
    old, new = _labels(order)
    use = f"use {', '.join(sorted(new) or order.after)}, and say so in the strategy"
    for place, (name, labels) in enumerate(labelled):
        if left := sorted(labels & old):
            raise wrong_field(
                f"{path}[{place}]", f"'{name[:80]}': the strategy {left[0]} must be left; {use}"
            )
    if not labelled:
        raise wrong_field(path, f"the strategy had to change; {use}")
    if new and not any(labels & new for _, labels in labelled):
        raise wrong_field(path, f"none follows the ordered strategy; {use}")


def _labels(order: Turned | None) -> tuple[frozenset[str], frozenset[str]]:
    """Return the labels that an order replaces, and those that it demands."""
    before, after = (frozenset(order.before), frozenset(order.after)) if order else (frozenset[str](),) * 2
    return before - after, after - before


def _require_fit(state: State, plan: AgentPlan, queries: Sequence[PlanQuery]) -> None:
    known, order = agent_knowledge(state), order_of(state)
    n_parts = len({*(part.text for part in state.sub_questions), *plan.sub_questions})
    if n_parts < LEAST_PARTS:
        raise wrong_field(
            "$.sub_questions",
            f"a plan has at least {LEAST_PARTS} sub-questions, the run would have {n_parts}; "
            "split the question further",
        )
    parts = [f"q{number}" for number in range(1, n_parts + 1)]
    hypotheses = sorted(one.id for one in known.all_hypotheses)
    for place, one in enumerate(queries):
        _require_known(f"$.candidates[{place}].for", "sub-question", one.part, parts)
        _require_known(f"$.candidates[{place}].against", "hypothesis", one.against, hypotheses)
    require_order(order, "$.candidates", [(one.query, one.labels) for one in queries])
    if len(queries) < LEAST_CANDIDATES:
        raise wrong_field("$.candidates", f"{len(queries)} of at least {LEAST_CANDIDATES}; think of more")
    for group, intents in _GROUPS.items():
        number = sum(one.intent in intents for one in queries)
        if number < _LEAST_OF_INTENT and not intents & _labels(order)[0]:
            message = f"{number} of at least {_LEAST_OF_INTENT} with the intent {group}; add some"
            raise wrong_field("$.candidates", message)
    leading = known.focus[0].id if known.focus else ""
    if leading and not _attacks(queries, leading):
        raise wrong_field(
            "$.candidates",
            f'none could refute the leading hypothesis; add "against": "{leading}" to one '
            f"with the intent {COUNTER_EVIDENCE}",
        )


def _require_known(path: str, what: str, name: str, known: Sequence[str]) -> None:
    if name and name not in known:
        names = ", ".join(known) or "none yet"
        raise wrong_field(path, f"no {what} {name[:80]}; the run has {names}")


def _attacks(queries: Sequence[PlanQuery], hypothesis: str) -> list[PlanQuery]:
    return [one for one in queries if one.against == hypothesis and one.intent == COUNTER_EVIDENCE]


def _duplicates(state: State, queries: Sequence[PlanQuery]) -> dict[str, str]:
    history = QueryHistory(state.search_history)
    asked = {one.query: history.is_duplicate_query(one.query) for one in queries}
    return {query: similar or "" for query, (is_duplicate, similar) in asked.items() if is_duplicate}


def _choose(state: State, fresh: Sequence[PlanQuery]) -> list[PlanQuery]:
    """Three to five, unlike earlier searches and each other: those of an ordered strategy, if there are any.

    One is for the sub-question that is to be answered next, and one could refute the leading hypothesis.
    """
    new = _labels(order_of(state))[1]
    ordered = [one for one in fresh if one.labels & new or one.intent == COUNTER_EVIDENCE]
    queries = ordered if any(one.labels & new for one in ordered) else fresh
    kept = converge(queries, [search.query for search in state.search_history])
    if len(kept) < _LEAST_EXECUTED:  # also those of another year or site alone
        more = sorted(converge(queries, ()), key=lambda query: query.intent != COUNTER_EVIDENCE)
        kept = [*kept, *(query for query in more if query not in kept)][:MAX_CONVERGED]
    asked = next((part.id for part in state.sub_questions if part.is_open), None)
    leading = next((one.id for one in knowledge_of(state).focus), "")
    kept = _with_one(kept, [one for one in fresh if one.part == asked])
    return _with_one(kept, _attacks(fresh, leading) if leading else [])


def _with_one(kept: list[PlanQuery], wanted: Sequence[PlanQuery]) -> list[PlanQuery]:
    """Add the first of the wanted queries unless there is one; it takes the place of one like it."""
    if not wanted or any(query in wanted for query in kept):
        return kept
    if len(kept) >= MAX_CONVERGED:
        alike = [one for one in kept if one.intent == wanted[0].intent]
        least = (alike or [one for one in kept if one.intent != COUNTER_EVIDENCE] or kept)[-1]
        kept = [one for one in kept if one is not least]
    return [*kept, wanted[0]]
