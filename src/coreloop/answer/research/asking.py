"""Questions of a research to its models: a prompt and what is in view -> a typed reply, as a step."""

import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from math import inf
from typing import Any, Final, TypeVar

import msgspec

from coreloop.answer.models.contracts import Contract
from coreloop.answer.models.ladder import Ladder, ModelCall, all_failed
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.answer.models.offline import OfflineModel
from coreloop.answer.models.prompt import Material, user_message
from coreloop.answer.research.research_state import UNUSED
from coreloop.base.errors import ModelError, RunError, UsageError
from coreloop.runs.active_run import Run
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.decide import seconds_left
from coreloop.runs.events import Noted

T = TypeVar("T", bound=Contract)
UNUSABLE: Final = frozenset({"malformed", "cut", "refused"})
"""Kinds of model errors after which another prompt or model, or none, can help."""
_WAITS_S: Final = (1.0, 4.0, inf)
"""Before the next attempt, unless the endpoint says how long."""


def read_prompt(name: str) -> str:
    """Return the text of a file in ``prompts/``."""
    return (files("coreloop.answer.research") / "prompts" / f"{name}_prompt.txt").read_text(encoding="utf-8")


def ask(
    run: Run,
    ladder: Ladder,
    prompt: str,
    material: Material,
    schema: type[T],
    *,
    key: str,
    is_answer: bool = False,
) -> T:
    """Ask the models within the time that is left; after a rate limit or an outage, again.

    All attempts together take no longer than one call may. None starts that cannot end in time.

    Raises
    ------
    ModelError
        No model gave a usable reply; the error of the first attempt, which later ones follow from.
    BudgetError
        The call could pass a limit.
    """
    messages = [Message("system", read_prompt(prompt)), user_message(material)]
    limits, failures = CallLimits(), list[ModelError]()
    ends_at = time.monotonic() + time_left(run, is_answer=is_answer, at_most=limits.timeout_s)
    for wait_s in _WAITS_S:
        limits = replace(limits, timeout_s=ends_at - time.monotonic())
        try:
            return ask_in_run(run, ladder, messages, schema, limits, key=key, is_answer=is_answer).value
        except ModelError as error:
            failures.append(error)
        last = failures[-1]
        asked_s = wait_s if last.retry_after_s is None else last.retry_after_s
        if not last.is_retryable or last.kind == "malformed" or time.monotonic() + asked_s >= ends_at:
            break
        time.sleep(asked_s)
    raise failures[0]


def ask_or_do_without(
    run: Run, ladder: Ladder, prompt: str, material: Material, schema: type[T], *, key: str, what: str
) -> T:
    """Ask; if no reply can be used, let the offline model reply, and note that.

    Raises
    ------
    ModelError
        No model can be reached.
    BudgetError
        The call could pass a limit.
    """
    try:
        return ask(run, ladder, prompt, material, schema, key=key)
    except ModelError as error:
        if error.kind not in UNUSABLE:
            raise
        run.record(Noted, name=UNUSED, data=what)
    return OfflineModel().complete([user_message(material)], schema, CallLimits()).value


def time_left(run: Run, *, at_most: float, is_answer: bool = False) -> float:
    """Return the seconds that a call may take: until the deadline, less the reserve for the answer."""
    left = seconds_left(run.state, run.now())
    if left is None:
        return at_most
    reserved = 0.0 if is_answer else run.state.limits.answer.seconds
    return min(at_most, max(0.0, left - reserved))


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
    stored = {"value": msgspec.to_builtins(reply.value), "usage": msgspec.to_builtins(reply.usage)}
    return stored, _amount(reply.usage)


def _read(stored: Any, key: str, schema: type[Contract]) -> Reply[Any]:
    try:
        return Reply(msgspec.convert(stored["value"], schema), msgspec.convert(stored["usage"], Usage))
    except (msgspec.ValidationError, LookupError, TypeError) as error:
        raise RunError(f"step {key}: its result is not a reply of the type {schema.__name__}") from error


def _amount(usage: Usage) -> Amount:
    return Amount(usage.microusd or 0, usage.tokens)
