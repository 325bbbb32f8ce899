"""Asking a model for the next call, each question once: replies are kept, so that a measurement can go on."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from coreloop.answer.models.contracts import CallReply
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import ModelError
from coreloop.observe import jsonl
from coreloop.promote.measure.contexts import CallContext, NextCall
from coreloop.promote.tool_schemas import SentTool

MAX_OUTPUT_TOKENS: Final = 512
"""A call's JSON: the longest of 4,800 recorded calls has 310 tokens."""
_LIMITS: Final = CallLimits(
    max_output_tokens=MAX_OUTPUT_TOKENS, timeout_s=600
)  # a model on a processor is slow
_REPEATS: Final = {"setting": 2, "malformed": 1}
"""How often a question is repeated: without temperature and seed; where the reply is no JSON, as other models
are asked again. A reply that calls no tool is an answer."""
_NO_CALL: Final = frozenset({"malformed", "cut", "refused"})
"""Replies that name no call: the model's answer, not a failure of the endpoint."""
_INSTRUCTION: Final = (
    "You are an agent that calls tools. Choose the next call for the request, and its arguments, from what "
    "the request and the earlier calls say. Answer with that one call."
)


class BudgetSpentError(Exception):
    """The next question could cost more than what is left."""


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A line of the file of replies: no call if the model named none."""

    key: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A context with the tools as a model is sent them; ``is_told`` if the right call is stated outright."""

    context: CallContext
    tools: Sequence[SentTool]
    is_told: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the model is asked, without the tools."""
        context, parts = self.context, [f"The request:\n{self.context.question}"]
        told = f"The right next call is {orjson.dumps(context.reference).decode()}. Make it."
        if context.turns:
            last = (Message("user", told),) if self.is_told else ()
            return Message("system", _INSTRUCTION), Message("user", parts[0]), *context.turns, *last
        if context.earlier:
            calls = (f"{orjson.dumps(call).decode()} -> {outcome}" for call, outcome in context.earlier)
            parts.append("The calls so far, and how each ended:\n" + "\n".join(calls))
        if self.is_told:
            parts.append(told)
        return Message("system", _INSTRUCTION), Message("user", "\n\n".join(parts))

    def described(self) -> list[dict[str, Any]]:
        """The tools as JSON."""
        return [asdict(tool) for tool in self.tools]

    def with_tools(self) -> tuple[Message, ...]:
        """The messages, with the tools in the first."""
        first, *others = self.messages
        described = orjson.dumps(self.described()).decode()
        return Message("system", f"{first.content}\n\nThe tools, as JSON:\n{described}"), *others


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """A model that is sent the tools in one of two ways.

    Attributes
    ----------
    model : Ladder
        Is asked for JSON, with the tools in the system message.
    native : OpenAICompatible or None
        The same model if it calls tools: it is sent them as its provider takes them.
    """

    model: Ladder
    native: OpenAICompatible | None = None

    def most(self, question: Question) -> Usage:
        """The most that a question can use."""
        return self.model.models[0].most(question.with_tools(), _LIMITS)

    def call(self, question: Question) -> Reply[CallReply]:
        """Ask; again without a setting that the endpoint refuses, and once more if a reply is no JSON."""
        if self.native is None:
            return self.model.complete(question.with_tools(), CallReply, _LIMITS)
        left, used = dict(_REPEATS), None
        while True:
            try:
                reply = self.native.call_tool(question.messages, question.described(), _LIMITS)
                return replace(reply, usage=reply.usage.after(used))
            except ModelError as error:
                left[error.kind] = left.get(error.kind, 0) - 1
                used = error.usage.after(used) if isinstance(error.usage, Usage) else used
                if left[error.kind] < 0 or not (error.is_retryable or error.kind == "setting"):
                    error.usage = used
                    raise


@dataclass
class Asker:
    """Asks one model.

    Parameters
    ----------
    caller : ModelCaller
        The model.
    path : Path
        Keeps the replies, with mode 0600: arguments may be private.
    budget_microusd : int or None
        No question is asked that could cost more than what is left of it.
    """

    caller: ModelCaller
    path: Path
    budget_microusd: int | None = None
    spent_microusd: int = 0
    _known: dict[str, StoredReply] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path.exists():
            stored = jsonl.read(self.path, StoredReply, other="not a reply").values
            self._known = {reply.key: reply for reply in stored}

    def next_call(self, question: Question) -> NextCall | None:
        """The model's next call; None if its reply names none.

        Raises
        ------
        BudgetSpentError
            The question could cost more than what is left.
        ModelError
            The endpoint gave no reply.
        """
        key = self._key(question)
        if key not in self._known:
            reply = StoredReply(key, *self._ask(question))
            jsonl.append(self.path, reply)
            self._known[key] = reply
        known = self._known[key]
        return NextCall(known.tool, known.arguments) if known.tool else None

    def is_known(self, question: Question) -> bool:
        """Whether the reply is kept, so that asking costs nothing."""
        return self._key(question) in self._known

    def _key(self, question: Question) -> str:
        texts = [(message.role, message.content) for message in question.messages]
        asked = [self.caller.model.name, texts, question.tools]
        return sha256(orjson.dumps(asked)).hexdigest()[:32]

    def _ask(self, question: Question) -> tuple[str, dict[str, Any]]:
        most = self.caller.most(question).microusd or 0
        if self.budget_microusd is not None and self.spent_microusd + most > self.budget_microusd:
            raise BudgetSpentError
        try:
            reply = self.caller.call(question)
        except ModelError as error:
            self._spend(error.usage)
            if error.kind not in _NO_CALL:
                raise
            return "", {}
        self._spend(reply.usage)
        return reply.value.tool, reply.value.arguments

    def _spend(self, usage: object) -> None:
        self.spent_microusd += (usage.microusd or 0) if isinstance(usage, Usage) else 0
