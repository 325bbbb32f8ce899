"""Questions of a research to its models: a prompt and what is in view -> a typed reply, as a step."""

import time
from dataclasses import replace
from importlib.resources import files
from math import inf
from typing import Final, TypeVar

from coreloop.answer.models.ask_in_run import ask_in_run
from coreloop.answer.models.contracts import Contract
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.model import CallLimits, Message
from coreloop.answer.models.offline import OfflineModel
from coreloop.answer.models.prompt import Material, user_message
from coreloop.answer.research.research_state import UNUSED
from coreloop.base.errors import ModelError
from coreloop.runs.active_run import Run
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
