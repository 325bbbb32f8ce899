"""Asking until a reply can be used: the same model again with its error, the next model, then failure."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import orjson

from coreloop.answer.models.contracts import Contract, ErrorDetail, ErrorResponse, json_schema
from coreloop.answer.models.model import CallLimits, Message, Model, Reply, Usage
from coreloop.base.errors import ModelError

T = TypeVar("T", bound=Contract)
_UNUSABLE: Final = Message("assistant", "(a reply that was not usable)")
"""Between two messages of the user, since many models require turns."""
_MAX_REFUSED_SETTINGS: Final = 2
"""Temperature and seed: each is left out once."""
_ONLY_JSON: Final = "Return only JSON. No prose. It must be valid for this JSON Schema:\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A call to one model that is not made yet; ``place`` is the model's in its ladder."""

    place: int
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


class Ladder:
    """Models that are asked one after another. It is a `coreloop.answer.models.model.Model` itself.

    Parameters
    ----------
    models : sequence of Model
        The first is preferred; at least one.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = tuple(models)

    @property
    def name(self) -> str:
        """The names of the models, in order."""
        return ",".join(model.name for model in self._models)

    @property
    def first(self) -> Model:
        """The preferred model."""
        return self._models[0]

    @property
    def rest(self) -> "Ladder | None":
        """The models after the first; None if there are none."""
        return Ladder(self._models[1:]) if self._models[1:] else None

    def most(self, messages: Sequence[Message], limits: CallLimits) -> Usage:
        """The most that one call to any of the models can use; a request may need several calls."""
        return max(
            (model.most(messages, limits) for model in self._models),
            key=lambda usage: (usage.microusd or 0, usage.tokens),
        )

    def complete(self, messages: Sequence[Message], schema: type[T], limits: CallLimits) -> Reply[T]:
        """Ask until a reply can be used; ``timeout_s`` is for all models together, as is the usage.

        Raises
        ------
        ModelError
            No model gave a usable reply; the last one's error, which names the others.
        """
        failures: dict[int, ModelError] = {}
        used: object = None
        for call in self.calls(messages, schema, limits, failures):
            try:
                reply = call.make()
            except ModelError as error:
                failures[call.place] = error
                used = error.usage.after(used) if isinstance(error.usage, Usage) else used
            else:
                return replace(reply, usage=reply.usage.after(used))
        failed = all_failed(failures)
        failed.usage = used
        raise failed

    def calls(
        self,
        messages: Sequence[Message],
        schema: type[Contract],
        limits: CallLimits,
        failures: dict[int, ModelError],
    ) -> Iterator[ModelCall]:
        """Yield the calls to make one after another, until one gives a usable reply.

        Models that have to be waited for get equal parts of the time.

        Parameters
        ----------
        messages, schema, limits
            See `complete`.
        failures : dict of int to ModelError
            The newest error of each model by its place. Whoever makes a call adds why it failed before the
            next one is asked for.
        """
        instructed = _instructed(messages, schema)
        ends_at = time.monotonic() + limits.timeout_s
        for place, model in enumerate(self._models):
            sharing = 1 + sum(map(_needs_time, self._models[place + 1 :]))
            sent, refused = instructed, 0
            while (left_s := ends_at - time.monotonic()) > 0 or not _needs_time(model):
                in_time = replace(limits, timeout_s=left_s / sharing) if _needs_time(model) else limits
                yield ModelCall(place=place, model=model, messages=sent, schema=schema, limits=in_time)
                error = failures[place]
                if error.kind == "setting" and refused < _MAX_REFUSED_SETTINGS:
                    refused += 1  # its model leaves the setting out from now on
                elif error.kind == "malformed" and sent is instructed:
                    sent = [*instructed, _UNUSABLE, _complaint(error)]
                else:
                    break
            no_time = f"{model.name}: no call was made, no time was left for it"
            failures.setdefault(place, ModelError(no_time, kind="unavailable"))


def _complaint(error: ModelError) -> Message:
    """Not a system message: the error quotes the reply, which may quote a hostile source."""
    return Message("user", f"Your last reply was not usable: {error}")


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


def all_failed(failures: Mapping[int, ModelError]) -> ModelError:
    """Return what no model gave a usable reply raises: the last one's error, which names the others."""
    *_, last = errors = [failures[place] for place in sorted(failures)]
    if len(errors) == 1:
        return last
    return ModelError(
        "; ".join(map(str, errors)),
        kind=last.kind,
        is_retryable=any(error.is_retryable for error in errors),
        retry_after_s=min((error.retry_after_s for error in errors if error.retry_after_s), default=None),
    )
