"""Asking until a reply can be used: the same model again with its error, the next model, then failure."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import orjson

from coreloop.answer.models.contracts import Contract, ErrorDetail, ErrorResponse, json_schema
from coreloop.answer.models.model import CallLimits, Message, Model, Reply, Usage
from coreloop.base.errors import ModelError

T = TypeVar("T", bound=Contract)
Make = Callable[[Model, Sequence[Message], type[Any], CallLimits], Reply[Any]]  # makes a call to a model
OFFLINE: Final = "offline"  # name of what answers without a model
# Between two messages of the user, since many models require turns.
_UNUSABLE: Final = Message("assistant", "(a reply that was not usable)")
_MAX_REFUSED_SETTINGS: Final = 2  # temperature and seed: each is left out once
_ONLY_JSON: Final = "Return only JSON. No prose. It must be valid for this JSON Schema:\n"


class Ladder:
    """Models that are asked one after another.

    Parameters
    ----------
    models : sequence of Model
        The first is preferred; none to work offline.
    is_optional : bool
        Whether ``offline`` is the last of the list: no failure of the models is an error then.
    """

    def __init__(self, models: Sequence[Model], *, is_optional: bool = False) -> None:
        self.models = tuple(models)
        self.is_optional = is_optional or not models

    @property
    def name(self) -> str:
        """The names of the models, in order."""
        names = [model.name for model in self.models]
        return ",".join([*names, OFFLINE] if self.is_optional else names)

    @property
    def rest(self) -> "Ladder | None":
        """What is left without the first model; None if nothing is."""
        others = self.models[1:]
        is_left = others or (self.models and self.is_optional)
        return Ladder(others, is_optional=self.is_optional) if is_left else None

    def complete(
        self, messages: Sequence[Message], schema: type[T], limits: CallLimits, make: Make | None = None
    ) -> Reply[T]:
        """Ask until a reply can be used. Models get equal parts of the time.

        Parameters
        ----------
        messages, schema, limits
            See `coreloop.answer.models.model.Model.complete`; ``timeout_s`` is for all models together, as is
            the usage.
        make : callable or None
            Makes each call; None to ask the model.

        Raises
        ------
        ModelError
            No model gave a usable reply; the last one's error, which names the others.
        """
        instructed, used = _instructed(messages, schema), Usage()
        ends_at, failures = time.monotonic() + limits.timeout_s, list[ModelError]()
        for place, model in enumerate(self.models):
            sent, refused = instructed, 0
            error = ModelError(f"{model.name}: no time was left for a call", kind="unavailable")
            while (left_s := ends_at - time.monotonic()) > 0:
                part = replace(limits, timeout_s=left_s / (len(self.models) - place))
                try:
                    reply = make(model, sent, schema, part) if make else model.complete(sent, schema, part)
                    return replace(reply, usage=reply.usage.after(used))
                except ModelError as failed:
                    error, used = failed, used.after(failed.usage)
                if error.kind == "setting" and refused < _MAX_REFUSED_SETTINGS:
                    refused += 1  # its model leaves the setting out from now on
                elif error.kind == "malformed" and sent is instructed:
                    # no system message: the error quotes the reply, which may quote a hostile source
                    complaint = Message("user", f"Your last reply was not usable: {error}")
                    sent = [*instructed, _UNUSABLE, complaint]
                else:
                    break
            failures.append(error)
        raise _all_failed(failures, used)


def _instructed(messages: Sequence[Message], schema: type[Contract]) -> list[Message]:
    """Add the schema to the first message: many models accept one system message, at the beginning."""
    instruction = _ONLY_JSON + orjson.dumps(json_schema(schema)).decode()
    if not messages or messages[0].role != "system":
        return [Message("system", instruction), *messages]
    return [Message("system", f"{messages[0].content}\n\n{instruction}"), *messages[1:]]


def _all_failed(errors: Sequence[ModelError], used: Usage) -> ModelError:
    return ModelError(
        "; ".join(map(str, errors)),
        kind=errors[-1].kind,
        is_retryable=any(error.is_retryable for error in errors),
        retry_after_s=min((error.retry_after_s for error in errors if error.retry_after_s), default=None),
        usage=used,
    )


def error_response(error: ModelError) -> ErrorResponse:
    """Describe a failure as the contract that callers of the service know."""
    detail = ErrorDetail(type=error.kind, message=str(error), retryable=error.is_retryable)
    return ErrorResponse(error=detail)
