"""Asking until a reply can be used: the same model again with its error, the next model, then failure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson

from coreloop.errors import ModelError
from coreloop.models.contracts import Contract, ErrorDetail, ErrorResponse, json_schema
from coreloop.models.model import CallLimits, Message, Model, Reply, Usage

T = TypeVar("T", bound=Contract)
_UNUSABLE: Final = Message("assistant", "(a reply that was not usable)")
"""Between two messages of the user, since many models require turns."""
_ONLY_JSON: Final = "Return only JSON. No prose. It must be valid for this JSON Schema:\n"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call to one model that is not made yet."""

    model: Model
    messages: Sequence[Message]
    schema: type[Contract]
    limits: CallLimits

    def most(self) -> Usage:
        """The most that the call can use."""
        return self.model.most(self.messages, self.limits)

    def make(self) -> Reply[Any]:
        """Ask the model once."""
        return self.model.complete(self.messages, self.schema, self.limits)


Make = Callable[[ModelCall], Reply[Any]]
"""Makes a call, for example as a step of a run that reserves and settles what it uses."""


class Ladder:
    """Models that are asked one after another. It is a `coreloop.models.model.Model` itself.

    Parameters
    ----------
    models : sequence of Model
        The first is preferred; at least one.
    make : callable
        Makes each call, see `coreloop.models.steps.ask_in_run`.
    """

    def __init__(self, models: Sequence[Model], *, make: Make = ModelCall.make) -> None:
        self._models = tuple(models)
        self._make = make

    @property
    def name(self) -> str:
        """The names of the models, in order."""
        return ",".join(model.name for model in self._models)

    @property
    def is_priced(self) -> bool:
        """Whether every model has a price, for `coreloop.runs.create.create_run`."""
        return all(model.most((), CallLimits()).microusd is not None for model in self._models)

    @property
    def rest(self) -> "Ladder | None":
        """The models after the first; None if there are none."""
        return Ladder(self._models[1:], make=self._make) if len(self._models) > 1 else None

    def making(self, make: Make) -> "Ladder":
        """Return a ladder of the same models that makes its calls in another way."""
        return Ladder(self._models, make=make)

    def most(self, messages: Sequence[Message], limits: CallLimits) -> Usage:
        """The most that one call to any of the models can use; a request may need several calls."""
        return max(
            (model.most(messages, limits) for model in self._models),
            key=lambda usage: (usage.microusd or 0, usage.tokens),
        )

    def complete(self, messages: Sequence[Message], schema: type[T], limits: CallLimits) -> Reply[T]:
        """Ask until a reply can be used.

        Raises
        ------
        ModelError
            No model gave a usable reply; the last one's error, which names the others.
        """
        instructed = _instructed(messages, schema)
        failures: list[ModelError] = []
        for model in self._models:
            try:
                return self._ask(model, instructed, schema, limits)
            except ModelError as error:
                failures.append(error)
        raise _all_failed(failures)

    def _ask(
        self, model: Model, messages: Sequence[Message], schema: type[T], limits: CallLimits
    ) -> Reply[T]:
        try:
            return self._call(model, messages, schema, limits)
        except ModelError as error:
            if error.kind != "malformed":
                raise
            # not a system message: the error quotes the reply, which may quote a hostile source
            mended = [*messages, _UNUSABLE, Message("user", f"Your last reply was not usable: {error}")]
        return self._call(model, mended, schema, limits)

    def _call(
        self, model: Model, messages: Sequence[Message], schema: type[T], limits: CallLimits
    ) -> Reply[T]:
        return self._make(ModelCall(model, messages, schema, limits))


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
