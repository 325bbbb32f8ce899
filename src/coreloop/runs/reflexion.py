"""What earlier iterations learnt: failures with their solutions, and strategies with their success rates."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeVar

import msgspec
import orjson

from coreloop.base.language.similarity import word_similarity
from coreloop.base.language.words import read_query, shorten_query
from coreloop.base.validation import fields_of
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

MAX_FAILURES: Final = 200  # chosen: what a run reads before a step stays small
MAX_PATTERNS: Final = 100  # chosen: as `MAX_FAILURES`
MAX_USES: Final = 100
"""The success rate of a pattern is that of its newest uses."""
MAX_SITUATIONS: Final = 10
"""Of a pattern."""
_SIMILAR_FROM: Final = 0.2  # chosen low: only what shares few words is left out, and the best come first

Result = Literal["", "no_progress", "progress"]
"""Of the iteration that followed; empty until it is known."""
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class PastFailure:
    """A failure and what was done about it; texts have at most 500 characters.

    Attributes
    ----------
    run_id : str
        ULID of the run.
    iteration : int
        In which it failed.
    situation, root_cause, solution : str
        What failed, why, and what to do.
    result : {"", "no_progress", "progress"}
        Of the solution.
    """

    run_id: str
    iteration: int
    situation: str
    root_cause: str
    solution: str
    result: Result = ""


@dataclass(frozen=True, slots=True)
class Use:
    """An iteration that followed a strategy, in which situation, and whether it got further."""

    run_id: str
    iteration: int
    situation: str
    progress: bool


@dataclass(frozen=True, slots=True)
class SuccessPattern:
    """A strategy and its uses, oldest first."""

    strategy: str
    uses: tuple[Use, ...] = ()

    @property
    def situations(self) -> tuple[str, ...]:
        """The situations in which it led to progress, newest first."""
        newest = dict.fromkeys(use.situation for use in reversed(self.uses) if use.progress)
        return tuple(newest)[:MAX_SITUATIONS]

    @property
    def success_rate(self) -> float:
        """Expected success of the next use, (successes + 1) / (uses + 2).

        References
        ----------
        Laplace (1774), rule of succession.
        """
        return (sum(use.progress for use in self.uses) + 1) / (len(self.uses) + 2)


@dataclass(frozen=True, slots=True)
class Reflexion:
    """Failures, oldest first, and success patterns, best first. Make new values with the methods."""

    failures: tuple[PastFailure, ...] = ()
    success_patterns: tuple[SuccessPattern, ...] = ()

    def with_failure(self, failure: PastFailure) -> "Reflexion":
        """Add a failure; beyond the maximum, the oldest is dropped."""
        texts = (failure.situation, failure.root_cause, failure.solution)
        situation, cause, solution = map(shorten_query, texts)
        failure = replace(failure, situation=situation, root_cause=cause, solution=solution)
        if any(replace(known, result=failure.result) == failure for known in self.failures):
            return self
        return replace(self, failures=(*self.failures, failure)[-MAX_FAILURES:])

    def credit(
        self, strategy: str, *, situation: str, run_id: str, iteration: int, progress: bool
    ) -> "Reflexion":
        """Credit a strategy with the iteration that followed its use.

        Parameters
        ----------
        strategy : str
            A success pattern's strategy, a failure's solution, or a new strategy. It settles the result of
            the failures that it was to solve: those of the run, and those of similar situations.
        situation : str
            In which it was used.
        run_id, iteration : str, int
            The iteration that followed; a credited one changes nothing.
        progress : bool
            Whether that iteration made progress.
        """
        strategy, situation = shorten_query(strategy), shorten_query(situation)
        known = {pattern.strategy: pattern for pattern in self.success_patterns}
        uses = known.pop(strategy, SuccessPattern(strategy)).uses
        if any((use.run_id, use.iteration) == (run_id, iteration) for use in uses):
            return self
        used = SuccessPattern(strategy, (*uses, Use(run_id, iteration, situation, progress))[-MAX_USES:])
        best = sorted([used, *known.values()], key=lambda pattern: pattern.success_rate, reverse=True)
        failures = tuple(self._settled(failure, used) for failure in self.failures)
        return Reflexion(failures, tuple(best[:MAX_PATTERNS]))

    def _settled(self, failure: PastFailure, used: SuccessPattern) -> PastFailure:
        use = used.uses[-1]
        if failure.result or failure.solution != used.strategy:
            return failure
        if failure.run_id != use.run_id and not _closeness(failure.situation, use.situation):
            return failure
        return replace(failure, result="progress" if use.progress else "no_progress")

    def without(self, run_id: str) -> "Reflexion":
        """Return what is known without a run; a strategy that no other run used is unknown then."""
        patterns = (
            replace(pattern, uses=tuple(use for use in pattern.uses if use.run_id != run_id))
            for pattern in self.success_patterns
        )
        return Reflexion(
            tuple(failure for failure in self.failures if failure.run_id != run_id),
            tuple(pattern for pattern in patterns if pattern.uses),
        )

    def similar(self, situation: str, *, limit: int = 3) -> "Reflexion":
        """Return what is known of the closest situations, best first; patterns also rank by their rate."""

        def fitness(pattern: SuccessPattern) -> float:
            close = (_closeness(situation, known) for known in pattern.situations)
            return max(close, default=0.0) * pattern.success_rate

        return Reflexion(
            _best(reversed(self.failures), lambda failure: _closeness(situation, failure.situation), limit),
            _best(self.success_patterns, fitness, limit),
        )

    def view(self) -> dict[str, Any]:
        """Return the content of ``reflexion.json``: for people and skills, without the counts."""
        of_failure = ("iteration", "situation", "root_cause", "solution", "result")
        return {
            "failures": [fields_of(failure, *of_failure) for failure in self.failures],
            "success_patterns": [
                fields_of(pattern, "strategy", "situations")
                | {"success_rate": round(pattern.success_rate, 4)}
                for pattern in self.success_patterns
            ],
        }

    def to_json(self) -> bytes:
        """Return everything, uses included; `from_json` reads it."""
        return orjson.dumps(self)

    @classmethod
    def from_json(cls, data: bytes | None) -> "Reflexion":
        """Read what `to_json` wrote; nothing is known without it."""
        return msgspec.json.decode(data, type=cls) if data else cls()


def _closeness(first: str, other: str) -> float:
    alike = word_similarity(read_query(first), read_query(other))
    return alike if alike >= _SIMILAR_FROM else 0.0


def _best(values: Iterable[_Value], score: Callable[[_Value], float], limit: int) -> tuple[_Value, ...]:
    """The values of the highest scores above zero; of equal ones, the first."""
    scored = [(score(value), value) for value in values]
    ranked = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
    return tuple(value for _, value in ranked[:limit])


SEARCH: Final = "search: "
"""Begins a solution that is a query; the others are strategies."""
CAUSES: Final = {
    "duplicates": "only queries that were asked before",
    "same_action": "the same action again and again",
    "no_new_information": "nothing new for several iterations",
}


def learn_lessons(store: Store, state: State, *, situation: str) -> None:
    """Add to what the runs of a kind learnt what the newest iteration teaches; a second time changes nothing.

    Parameters
    ----------
    store : Store
        Of the run.
    state : State
        After a committed iteration.
    situation : str
        In which it was made.
    """
    if state.iteration:
        store.change_reflexion(
            state.kind,
            lambda learnt: with_lessons(Reflexion.from_json(learnt), state, situation=situation).to_json(),
        )


def with_lessons(known: Reflexion, state: State, *, situation: str) -> Reflexion:
    """Return what is known with the failures and the strategy of the newest iteration."""
    has_progress = state.no_new_info_count == 0
    for failure in (*_orders(state, situation), *_searches(state, situation, has_progress=has_progress)):
        known = known.with_failure(failure)
    if not state.last_progress.strategy:
        return known
    return known.credit(
        written(state.last_progress.strategy),
        situation=situation,
        run_id=state.run_id,
        iteration=state.iteration,
        progress=has_progress,
    )


def written(strategy: tuple[str, ...]) -> str:
    """Return a strategy as reflexion keeps it."""
    return " > ".join(strategy)


def _orders(state: State, situation: str) -> Iterator[PastFailure]:
    """Each order that drift gave; what became of it is credited when an iteration follows it."""
    for order in state.last_progress.orders:
        before = f": {written(order.before)}" if order.before else ""
        cause = f"{CAUSES[order.rule]}{before}"
        yield PastFailure(state.run_id, state.iteration, situation, cause, written(order.after))


def _searches(state: State, situation: str, *, has_progress: bool) -> Iterator[PastFailure]:
    """The searches of this iteration or the one before that brought nothing, and the next one that did."""
    history = state.search_history
    for place, search in enumerate(history):
        if search.worked or search.iteration < state.iteration - 1:
            continue
        after = next((later for later in history[place + 1 :] if later.worked), None)
        if after is not None and after.iteration == state.iteration:
            result: Result = "progress" if has_progress else "no_progress"
            cause, solution = f"no result: {search.query}", f"{SEARCH}{after.query}"
            yield PastFailure(state.run_id, state.iteration, situation, cause, solution, result)
