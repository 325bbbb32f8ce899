"""Asking until a reply can be used: the same model again with its error, the next model, then failure."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import orjson

from coreloop.answer.models.contracts import Contract, ErrorDetail, ErrorResponse, json_schema
from coreloop.answer.models.model import CallLimits, Message, Model, Reply, Usage
from coreloop.answer.models.pace import Paces
from coreloop.base.errors import ModelError

T = TypeVar("T", bound=Contract)
_UNUSABLE: Final = Message("assistant", "(a reply that was not usable)")
"""Between two messages of the user, since many models require turns."""
_MAX_REFUSED_SETTINGS: Final = 2
"""Temperature and seed: each is left out once."""
_ONLY_JSON: Final = "Return only JSON. No prose. It must be valid for this JSON Schema:\n"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call to one model that is not made yet."""

    model: Model
    messages: Sequence[Message]
    schema: type[Contract]
    limits: CallLimits
    paces: Paces = field(default_factory=Paces)

    def most(self) -> Usage:
        """The most that the call can use."""
        return self.model.most(self.messages, self.limits)

    def make(self) -> Reply[Any]:
        """Ask the model once, and remember how long its answer took."""
        began_at = time.monotonic()
        reply = self.model.complete(self.messages, self.schema, self.limits)
        if _needs_time(self.model):
            self.paces.note(self.model.name, time.monotonic() - began_at, reply.usage.output_tokens)
        return reply


Make = Callable[[ModelCall], Reply[Any]]
"""Makes a call, for example as a step of a run that reserves and settles what it uses."""


class Ladder:
    """Models that are asked one after another. It is a `coreloop.answer.models.model.Model` itself.

    Parameters
    ----------
    models : sequence of Model
        The first is preferred; at least one.
    make : callable
        Makes each call, see `coreloop.answer.models.steps.ask_in_run`.
    paces : Paces or None
        What is known of how fast they answer; None for nothing yet.
    """

    def __init__(
        self, models: Sequence[Model], *, make: Make = ModelCall.make, paces: Paces | None = None
    ) -> None:
        self._models = tuple(models)
        self._make = make
        self._paces = paces or Paces()

    @property
    def name(self) -> str:
        """The names of the models, in order."""
        return ",".join(model.name for model in self._models)

    @property
    def first(self) -> Model:
        """The preferred model."""
        return self._models[0]

    @property
    def is_priced(self) -> bool:
        """Whether every model has a price, for `coreloop.runs.create.create_run`."""
        return all(model.most((), CallLimits()).microusd is not None for model in self._models)

    @property
    def rest(self) -> "Ladder | None":
        """The models after the first; None if there are none."""
        rest = self._models[1:]
        return Ladder(rest, make=self._make, paces=self._paces) if rest else None

    def making(self, make: Make) -> "Ladder":
        """Return a ladder of the same models that makes its calls in another way."""
        return Ladder(self._models, make=make, paces=self._paces)

    def share_s(self, left_s: float, attempts: int, limits: CallLimits) -> float:
        """Return how much of the time that is left the first of some attempts may take.

        An equal part of it, or what a reply of the largest size takes at the measured pace if that is more;
        all of it while nothing is measured, since an attempt that is given up early cannot succeed.
        """
        longest = [self._paces.longest_s(model.name, limits.max_output_tokens) for model in self._models]
        known = [seconds for seconds in longest if seconds is not None]
        return min(left_s, max(left_s / attempts, *known)) if known else left_s

    def most(self, messages: Sequence[Message], limits: CallLimits) -> Usage:
        """The most that one call to any of the models can use; a request may need several calls."""
        return max(
            (model.most(messages, limits) for model in self._models),
            key=lambda usage: (usage.microusd or 0, usage.tokens),
        )

    def complete(self, messages: Sequence[Message], schema: type[T], limits: CallLimits) -> Reply[T]:
        """Ask until a reply can be used; ``timeout_s`` is for all models together.

        Raises
        ------
        ModelError
            No model gave a usable reply; the last one's error, which names the others.
        """
        instructed = _instructed(messages, schema)
        failures: list[ModelError] = []
        ends_at = time.monotonic() + limits.timeout_s
        for place, model in enumerate(self._models):
            sharing = 1 + sum(map(_needs_time, self._models[place + 1 :]))
            try:
                return self._ask(_Turn(model, ends_at, sharing), instructed, schema, limits)
            except ModelError as error:
                failures.append(error)
        raise _all_failed(failures)

    def _ask(
        self, turn: "_Turn", messages: Sequence[Message], schema: type[T], limits: CallLimits
    ) -> Reply[T]:
        try:
            return self._call_plainly(turn, messages, schema, limits)
        except ModelError as error:
            if error.kind != "malformed" or not self._can_end(turn):
                raise
            # not a system message: the error quotes the reply, which may quote a hostile source
            mended = [*messages, _UNUSABLE, Message("user", f"Your last reply was not usable: {error}")]
        return self._call(turn, mended, schema, limits)

    def _call_plainly(
        self, turn: "_Turn", messages: Sequence[Message], schema: type[T], limits: CallLimits
    ) -> Reply[T]:
        """Call; again where an endpoint refuses a setting, which its model leaves out from now on."""
        for _ in range(_MAX_REFUSED_SETTINGS):
            try:
                return self._call(turn, messages, schema, limits)
            except ModelError as error:
                if error.kind != "setting":
                    raise
        return self._call(turn, messages, schema, limits)

    def _call(
        self, turn: "_Turn", messages: Sequence[Message], schema: type[T], limits: CallLimits
    ) -> Reply[T]:
        if not self._can_end(turn):
            raise ModelError(
                f"{turn.model.name}: no call was made, {max(0.0, turn.left_s):.2g} s were left for it",
                kind="unavailable",
            )
        in_time = replace(limits, timeout_s=turn.left_s / turn.sharing) if _needs_time(turn.model) else limits
        return self._make(ModelCall(turn.model, messages, schema, in_time, self._paces))

    def _can_end(self, turn: "_Turn") -> bool:
        """Whether a call has the time that the model's fastest answer took."""
        return not _needs_time(turn.model) or turn.left_s > self._paces.shortest_s(turn.model.name)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A model that is asked, and how many models, this one included, share the time until an end."""

    model: Model
    ends_at: float
    sharing: int

    @property
    def left_s(self) -> float:
        return self.ends_at - time.monotonic()


def _needs_time(model: Model) -> bool:
    """Whether a model has to be waited for: one that uses no tokens computes here."""
    return model.most((), CallLimits()).tokens > 0


def _instructed(messages: Sequence[Message], schema: type[Contract]) -> list[Message]:
    """Add the schema to the first message: many models accept one system message, at the beginning."""
    instruction = _ONLY_JSON + orjson.dumps(json_schema(schema)).decode()
    if not messages or messages[0].role != "system":
        return [Message("system", instruction), *messages]
    return [Message("system", f"{messages[0].content}\n\n{instruction}"), *messages[1:]]


def error_response(error: ModelError) -> ErrorResponse:
    """Describe a failure as the contract that callers of the service know."""
    detail = ErrorDetail(type=error.kind, message=str(error), retryable=error.is_retryable)
    return ErrorResponse(error=detail)


def _all_failed(failures: Sequence[ModelError]) -> ModelError:
    if len(failures) == 1:
        return failures[0]
    return ModelError(
        "; ".join(map(str, failures)),
        kind=failures[-1].kind,
        is_retryable=any(error.is_retryable for error in failures),
        retry_after_s=min((error.retry_after_s for error in failures if error.retry_after_s), default=None),
    )
