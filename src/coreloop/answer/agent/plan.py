"""What an agent must know before its next iteration, and what it means to search for in it."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from coreloop.answer.agent.agent_state import LEAST_PARTS, agent_knowledge, disputed, to_complete, trust_in
from coreloop.answer.research.asking import SEMANTIC_FINDINGS
from coreloop.answer.research.findings import Hypothesis
from coreloop.answer.research.next_queries import MAX_CONVERGED, MAX_PARTS, converge
from coreloop.answer.research.reflect import tool_for
from coreloop.answer.research.research_state import COUNTER_EVIDENCE, PLANNED, PlanQuery, knowledge_of
from coreloop.base.messages import in_language_of
from coreloop.base.validation import fields_of
from coreloop.runs import events as happened
from coreloop.runs.agent.agent_report import added_parts
from coreloop.runs.agent.json_input import read_json, wrong_field
from coreloop.runs.agent.next_step import next_step
from coreloop.runs.clock import SystemClock
from coreloop.runs.drift import check_drift
from coreloop.runs.duplicates import QueryHistory
from coreloop.runs.events import Reported, Turned
from coreloop.runs.load import change_run, require_going
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

LEAST_CANDIDATES: Final = 10  # as the specification has it
_LEAST_EXECUTED: Final = 3  # chosen: the plan's three groups, one query each
# Of the three groups, the specification's 3–4 web, 3–4 academic or technical, 3–4 for counter-evidence.
_LEAST_OF_INTENT: Final = 3
_GROUPS: Final = (("web",), ("academic", "technical"), (COUNTER_EVIDENCE,))
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


class PlannedIteration(NamedTuple):
    """What comes of a plan.

    Attributes
    ----------
    state : State
        After it.
    execute : tuple of PlanQuery
        Three to five, one of them for counter-evidence; none if all were duplicates.
    duplicates : dict of str to str
        Candidates that ask what an earlier search asked, and that search.
    """

    state: State
    execute: tuple[PlanQuery, ...]
    duplicates: dict[str, str]


def read_plan(data: bytes) -> AgentPlan:
    """Read a plan.

    Raises
    ------
    UsageError
        The message begins with the JSON path of the field.
    """
    return read_json(data, AgentPlan, what="plan")


def plan_iteration(store: Store, run_id: str, plan: AgentPlan) -> PlannedIteration:
    """Choose what the next iteration searches for, and keep it with the run.

    Raises
    ------
    UsageError
        A field does not fit the run, too few candidates, none for counter-evidence, or one of a strategy that
        the run must leave.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """
    now, made = SystemClock().now(), list[PlannedIteration]()

    def planned(state: State) -> list[happened.Event]:
        require_going(state)
        queries = [
            PlanQuery(one.query, one.intent, state.iteration + 1, one.strategy, one.part, one.against)
            for one in plan.candidates
        ]
        _require_fit(state, plan, queries)
        duplicates = _duplicates(state, queries)
        chosen = _choose(state, [one for one in queries if one.query not in duplicates])
        made.append(PlannedIteration(state, tuple(chosen), duplicates))
        data = {"sub_questions": list(plan.sub_questions), "queries": msgspec.to_builtins(chosen)}
        dropped = {} if chosen else duplicates  # only then are repeated queries drift
        events: tuple[Reported, ...] = (
            *added_parts(state, plan.sub_questions, now),
            happened.Noted(at=now, name=PLANNED, data=data),
            *(happened.QueryDropped(at=now, query=one, similar=dropped[one]) for one in dropped),
        )
        return [happened.Recorded(at=now, events=events)]

    state = change_run(store, run_id, planned)
    return made[-1]._replace(state=state)


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
    if not labelled or (new and not any(labels & new for _, labels in labelled)):
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
    for intents in _GROUPS:
        number = sum(one.intent in intents for one in queries)
        if number < _LEAST_OF_INTENT and _labels(order)[0].isdisjoint(intents):
            intent = " or ".join(intents)
            message = f"{number} of at least {_LEAST_OF_INTENT} with the intent {intent}; add some"
            raise wrong_field("$.candidates", message)
    if known.focus and not _attacks(queries, leading := known.focus[0].id):
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

    One could refute the leading hypothesis.
    """
    new = _labels(order_of(state))[1]
    ordered = [one for one in fresh if one.labels & new or one.intent == COUNTER_EVIDENCE]
    queries = ordered if any(one.labels & new for one in ordered) else fresh
    kept = converge(queries, [search.query for search in state.search_history])
    if len(kept) < _LEAST_EXECUTED:  # also those of another year or site alone
        more = sorted(converge(queries, ()), key=lambda query: query.intent != COUNTER_EVIDENCE)
        kept = [*kept, *(query for query in more if query not in kept)][:MAX_CONVERGED]
    focus = knowledge_of(state).focus
    attacks = _attacks(fresh, focus[0].id) if focus else []
    if attacks and not any(query in attacks for query in kept):
        kept = [*kept[: MAX_CONVERGED - 1], attacks[0]]
    return kept


_SITUATION: Final = "Layer 1, situation: what is known, what is not, how sure each hypothesis is"
# Beside the situation, one layer an iteration: its fields, and what to do; six in each would repeat.
_LAYERS: Final = (
    (
        ("direct", "roles", "outsider"),
        "Layer 2, three perspectives: directly; as three to five experts who would disagree (roles); "
        "as an outsider",
    ),
    (("thesis", "antithesis", "synthesis"), "Layer 3, dialectic: thesis, antithesis, synthesis"),
    (
        ("self_check", "missing"),
        "Layer 4, self-check: logic, quality of evidence, bias, alternatives, blind spots; zoom out, zoom in",
    ),
    (("tool",), "Layer 5, the tool that fits the situation"),
    (
        ("paths",),
        "Layer 6, three paths: the usual one (a), another (b), the opposite (c), and their cross-check",
    ),
)
# Of the fields of a reflection that are no text.
_SHAPES: Final = {"roles": {"…": "…"}, "paths": {"a": "…", "b": "…", "c": "…", "cross_check": "…"}}
_MAX_SOURCES: Final = 50


def next_for_agent(store: Store, state: State) -> dict[str, Any]:
    """Build what an agent must know before its next iteration, as JSON."""
    facts, think = next_step(store, state), layer_due(state)
    reflection = {name: _SHAPES.get(name, "…") for name in think["fields"]}
    for part in facts["sub_questions"]:
        if part["id"] in disputed(state):
            part["state"] = "open: its findings contradict others"
    return {
        **facts,
        "think": think,
        "knowledge": _known(state),
        "chosen": _chosen(state),
        "report": facts["report"] | {"reflection": reflection},
        "to_complete": to_complete(state),
    }


def layer_due(state: State) -> dict[str, Any]:
    """Return the layer of reflection of the next iteration, its fields, and the tool that fits."""
    tell, knowledge = in_language_of(state.question), knowledge_of(state)
    fields, what = _LAYERS[state.iteration % len(_LAYERS)]
    tool = tool_for(state, knowledge)
    return {"do": f"{tell(_SITUATION)}. {tell(what)}.", "fields": ["situation", *fields], "tool": tell(tool)}


def _known(state: State) -> dict[str, Any]:
    known = knowledge_of(state)
    return {
        "findings": known.findings[-SEMANTIC_FINDINGS:],
        "hypotheses": [_hypothesis(one) for one in known.focus],
        "inactive_hypotheses": len(known.all_hypotheses) - len(known.focus),
        "contradictions": known.contradictions_found,
        "sources": [
            {"number": read.number, **fields_of(read.source, "location", "title"), "trust": trust_in(read)}
            for read in known.sources[-_MAX_SOURCES:]
        ],
        "uncertainties": known.uncertainties,
    }


def _hypothesis(one: Hypothesis) -> dict[str, Any]:
    return {
        **fields_of(one, "id", "statement", "confidence"),
        "priority": one.priority_score,
        "for": len(one.supporting_evidence),
        "against": len(one.contradicting_evidence),
    }


def _chosen(state: State) -> list[PlanQuery]:
    """The queries that `plan` chose for the next iteration and that were not executed yet."""
    done, number = {search.query for search in state.search_history}, state.iteration + 1
    queries = [query for query in knowledge_of(state).plan_queries if query.iteration == number]
    return [query for query in queries if query.query not in done]
