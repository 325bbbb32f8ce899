"""Questions to models as steps of a run: reserved, settled, and never asked again once they are answered."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import msgspec

from coreloop.answer.models.contracts import Contract
from coreloop.answer.models.ladder import Ladder, ModelCall, all_failed
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.base.errors import ModelError, RunError, UsageError
from coreloop.runs.active_run import Run
from coreloop.runs.amounts import NOTHING, Amount

T = TypeVar("T", bound=Contract)
_VALUE: Final = "value"
_USAGE: Final = "usage"


def ask_in_run(
    run: Run,
    ladder: Ladder,
    messages: Sequence[Message],
    schema: type[T],
    limits: CallLimits,
    *,
    key: str,
    is_answer: bool = False,
) -> Reply[T]:
    """Ask until a reply can be used, each call as an attempt of one step of a run.

    A call that gives no usable reply is a failed attempt, which settles what it used. The first usable reply
    is the step's result: a run that is resumed gets it without a call, whichever model it is from.

    Parameters
    ----------
    run : Run
        That this process works on.
    messages, schema, limits
        See `coreloop.answer.models.model.Model.complete`.
    key : str
        Identifies the question in its run, for example ``reflect-3``.
    is_answer : bool
        Whether the calls may use the reserve for the answer.

    Raises
    ------
    ModelError
        No model gave a usable reply.
    BudgetError, RunEndedError
        As `coreloop.runs.active_run.Run.step`: the call was not made.
    UsageError
        A model has no price, and the run no limit of tokens.
    RunError
        The key belongs to another step.
    """
    failures: dict[int, ModelError] = {}
    for call in ladder.calls(messages, schema, limits, failures):
        try:
            return _make_in_run(run, key, call, is_answer=is_answer)
        except ModelError as error:
            failures[call.place] = error
    raise all_failed(failures)


def _make_in_run(run: Run, key: str, call: ModelCall, *, is_answer: bool) -> Reply[Any]:
    most = call.most()
    if most.microusd is None and run.state.limits.tokens is None:
        raise UsageError(
            f"{call.model.name} has no price and the run no limit of tokens; set the limit or the price"
        )
    stored = run.step(
        f"ask {call.model.name}",
        key,
        lambda _key: _make(call),
        at_most=_amount(most),
        is_answer=is_answer,
    )
    return _read(stored, key, call.schema)


def _make(call: ModelCall) -> tuple[dict[str, Any], Amount]:
    try:
        reply = call.make()
    except ModelError as error:
        error.cost = _amount(error.usage) if isinstance(error.usage, Usage) else NOTHING
        raise
    stored = {_VALUE: msgspec.to_builtins(reply.value), _USAGE: msgspec.to_builtins(reply.usage)}
    return stored, _amount(reply.usage)


def _read(stored: Any, key: str, schema: type[Contract]) -> Reply[Any]:
    try:
        return Reply(msgspec.convert(stored[_VALUE], schema), msgspec.convert(stored[_USAGE], Usage))
    except (msgspec.ValidationError, LookupError, TypeError) as error:
        raise RunError(f"step {key}: its result is not a reply of the type {schema.__name__}") from error


def _amount(usage: Usage) -> Amount:
    return Amount(usage.microusd or 0, usage.tokens)
