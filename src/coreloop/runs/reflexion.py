"""What earlier iterations learnt: failures with their solutions, and strategies with their success rates.

Values are in one normal form: sorted, cleaned, bounded. Run ids are ULIDs, which sort by time.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeVar

import msgspec
import orjson

from coreloop.base.language.similarity import word_similarity
from coreloop.base.language.words import read_query, shorten_query

MAX_FAILURES: Final = 200  # chosen: what a run reads before a step stays small
MAX_PATTERNS: Final = 100  # chosen: as `MAX_FAILURES`
MAX_SITUATIONS: Final = 10
"""Of a pattern."""
MAX_RUNS: Final = 32
"""The success rate of a pattern is that of its newest runs."""
_SIMILAR_FROM: Final = 0.2  # chosen low: only what shares few words is left out, and the best come first

Result = Literal["", "no_progress", "progress"]
"""Of the iteration that followed; empty until it is known."""
_RESULTS: Final[tuple[Result, ...]] = ("", "no_progress", "progress")
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
class Situation:
    """A situation in which a strategy led to progress."""

    text: str
    run_id: str
    iteration: int


@dataclass(frozen=True, slots=True)
class RunUses:
    """How often a run used a strategy, and how often progress followed, up to an iteration."""

    run_id: str
    last_iteration: int
    uses: int
    successes: int


@dataclass(frozen=True, slots=True)
class SuccessPattern:
    """A strategy, the situations in which it led to progress, newest first, and its uses by run."""

    strategy: str
    situations: tuple[Situation, ...] = ()
    runs: tuple[RunUses, ...] = ()

    @property
    def success_rate(self) -> float:
        """Expected success of the next use, (successes + 1) / (uses + 2).

        References
        ----------
        Laplace (1774), rule of succession.
        """
        uses = sum(run.uses for run in self.runs)
        return (sum(run.successes for run in self.runs) + 1) / (uses + 2)


@dataclass(frozen=True, slots=True)
class ReflexionAdvice:
    """The closest past failures and success patterns, best first."""

    failures: tuple[PastFailure, ...]
    success_patterns: tuple[SuccessPattern, ...]


@dataclass(frozen=True, slots=True)
class Reflexion:
    """Failures, oldest first, and success patterns, best first. Make new values with the methods."""

    failures: tuple[PastFailure, ...] = ()
    success_patterns: tuple[SuccessPattern, ...] = ()

    def with_failure(self, failure: PastFailure) -> "Reflexion":
        """Add a failure; beyond the maximum, the oldest that no progress followed is dropped."""
        return self.merge(Reflexion((_cleaned(failure),)))

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
            The iteration that followed. Iterations of a run come in rising order; a credited one changes
            nothing.
        progress : bool
            Whether that iteration made progress.
        """
        strategy = shorten_query(strategy)
        known = {pattern.strategy: pattern for pattern in self.success_patterns}
        pattern = known.get(strategy, SuccessPattern(strategy))
        before = next((run for run in pattern.runs if run.run_id == run_id), RunUses(run_id, -1, 0, 0))
        if iteration <= before.last_iteration:
            return self
        after = RunUses(run_id, iteration, before.uses + 1, before.successes + progress)
        where = (Situation(shorten_query(situation), run_id, iteration),) if progress else ()
        result: Result = "progress" if progress else "no_progress"
        solved = tuple(
            replace(failure, result=result)
            for failure in self.failures
            if failure.solution == strategy and not failure.result
            if failure.run_id == run_id or _is_close(failure.situation, situation)
        )
        return self.merge(Reflexion(solved, (SuccessPattern(strategy, where, (after,)),)))

    def without(self, run_id: str) -> "Reflexion":
        """Return what is known without a run; a strategy that no other run used is unknown then."""
        patterns = (
            SuccessPattern(
                pattern.strategy,
                tuple(known for known in pattern.situations if known.run_id != run_id),
                tuple(uses for uses in pattern.runs if uses.run_id != run_id),
            )
            for pattern in self.success_patterns
        )
        return Reflexion(
            tuple(failure for failure in self.failures if failure.run_id != run_id),
            tuple(pattern for pattern in patterns if pattern.runs),
        )

    def similar(self, situation: str, *, limit: int = 3) -> ReflexionAdvice:
        """Return what is known of the closest situations; patterns also rank by their success rate."""
        words = read_query(situation)

        def close(text: str) -> float:
            alike = word_similarity(words, read_query(text))
            return alike if alike >= _SIMILAR_FROM else 0.0

        def fitness(pattern: SuccessPattern) -> float:
            return (
                max((close(known.text) for known in pattern.situations), default=0.0) * pattern.success_rate
            )

        return ReflexionAdvice(
            _best(reversed(self.failures), lambda failure: close(failure.situation), limit),
            _best(self.success_patterns, fitness, limit),
        )

    def merge(self, other: "Reflexion") -> "Reflexion":
        """Combine what two runs, or two states of a run, learnt; the order and repetition do not matter."""
        patterns = _merged(self.success_patterns + other.success_patterns, _strategy_of, _merged_pattern)
        failures = _merged(self.failures + other.failures, _identity, _merged_failure)
        failures = _kept(failures, MAX_FAILURES, newest=_identity, best=_usefulness)
        patterns = _kept(patterns, MAX_PATTERNS, newest=_last_use, best=_rate)
        return Reflexion(
            tuple(sorted(failures, key=_identity)), tuple(sorted(patterns, key=_rate, reverse=True))
        )

    def view(self) -> dict[str, Any]:
        """Return the content of ``reflexion.json``: for people and skills, without the counts."""
        return {
            "failures": [
                {
                    "iteration": failure.iteration,
                    "situation": failure.situation,
                    "root_cause": failure.root_cause,
                    "solution": failure.solution,
                    "result": failure.result,
                }
                for failure in self.failures
            ],
            "success_patterns": [
                {
                    "strategy": pattern.strategy,
                    "situations": [situation.text for situation in pattern.situations],
                    "success_rate": round(pattern.success_rate, 4),
                }
                for pattern in self.success_patterns
            ],
        }

    def to_json(self) -> bytes:
        """Return everything, counts included; `from_json` reads it."""
        return orjson.dumps(self)

    @classmethod
    def from_json(cls, data: bytes) -> "Reflexion":
        """Read what `to_json` wrote."""
        return msgspec.json.decode(data, type=cls)


def _is_close(first: str, other: str) -> bool:
    return word_similarity(read_query(first), read_query(other)) >= _SIMILAR_FROM


def _cleaned(failure: PastFailure) -> PastFailure:
    return replace(
        failure,
        situation=shorten_query(failure.situation),
        root_cause=shorten_query(failure.root_cause),
        solution=shorten_query(failure.solution),
    )


def _identity(failure: PastFailure) -> tuple[str, int, str, str, str]:
    return failure.run_id, failure.iteration, failure.situation, failure.root_cause, failure.solution


def _usefulness(failure: PastFailure) -> tuple[Any, ...]:
    return failure.result == "progress", _identity(failure)


def _rate(pattern: SuccessPattern) -> tuple[float, str]:
    return pattern.success_rate, pattern.strategy


def _last_use(pattern: SuccessPattern) -> tuple[Any, ...]:
    return max(((run.run_id, run.last_iteration) for run in pattern.runs), default=("", -1)), pattern.strategy


def _strategy_of(pattern: SuccessPattern) -> str:
    return pattern.strategy


def _merged_failure(first: PastFailure, other: PastFailure) -> PastFailure:
    return max(first, other, key=lambda failure: _RESULTS.index(failure.result))


def _merged_pattern(first: SuccessPattern, other: SuccessPattern) -> SuccessPattern:
    situations = _merged(first.situations + other.situations, lambda known: known.text, _newer)
    runs = _merged(first.runs + other.runs, lambda run: run.run_id, _later)
    return SuccessPattern(
        first.strategy,
        tuple(sorted(situations, key=_timestamp, reverse=True)[:MAX_SITUATIONS]),
        tuple(sorted(runs, key=lambda run: run.run_id)[-MAX_RUNS:]),
    )


def _timestamp(known: Situation) -> tuple[str, int, str]:
    return known.run_id, known.iteration, known.text


def _newer(first: Situation, other: Situation) -> Situation:
    return max(first, other, key=_timestamp)


def _later(first: RunUses, other: RunUses) -> RunUses:
    """Of two states of a run, the later one contains the earlier one."""
    return max(first, other, key=lambda run: (run.last_iteration, run.uses, run.successes))


def _merged(
    values: Iterable[_Value], identity: Callable[[_Value], Any], combine: Callable[[_Value, _Value], _Value]
) -> list[_Value]:
    """Combine the values of equal identity; a single value with itself, which brings it to normal form."""
    merged: dict[Any, _Value] = {}
    for value in values:
        key = identity(value)
        merged[key] = combine(merged.get(key, value), value)
    return list(merged.values())


def _kept(
    values: list[_Value], maximum: int, *, newest: Callable[[_Value], Any], best: Callable[[_Value], Any]
) -> list[_Value]:
    """Half of the maximum for the newest values, so that a full list still learns; the rest for the best."""
    by_age = sorted(values, key=newest)
    half = maximum // 2
    return by_age[-half:] + sorted(by_age[:-half], key=best)[-half:]


def _best(values: Iterable[_Value], score: Callable[[_Value], float], limit: int) -> tuple[_Value, ...]:
    """The values of the highest scores above zero; of equal ones, the first."""
    scored = [(score(value), value) for value in values]
    ranked = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
    return tuple(value for _, value in ranked[:limit])
