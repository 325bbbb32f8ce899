"""Claude Agent SDK: its stream of messages, which also has the calls that no hook is told of.

    client = record_client(ClaudeSDKClient(options))           # before the first query
    async for message in record_messages(query(prompt=question), question): ...

A record is a turn, which ends with the SDK's result message; a sub-agent has a record of its own.
"""

import re
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import Any, Final

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, rejection_in, said
from coreloop.observe.adapters.requests import AdaptedRequest, DataDir
from coreloop.observe.drops import never_raises
from coreloop.observe.importers.trace_values import anthropic_tokens

_TAG: Final = re.compile(r"</?tool_use_error>")
_UNKNOWN: Final = "No such tool available"
# The required parameter `seats` is missing · The parameter `hours` type is expected as `number` …
_OWN: Final = re.compile(r"(?:required |unexpected )?parameter `([^`\n]{1,64})`[^\n]{0,120}")
_INVALID: Final = re.compile(r"InputValidationError|Input validation error|MCP error -32602", re.IGNORECASE)
_REQUIRED: Final = re.compile(r"'(\w{1,64})' is a required property")


def record_client(client: Any, data_dir: DataDir = None) -> Any:
    """Record the turns of a ``ClaudeSDKClient``; returns the same client.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    """
    turns = Turns(data_dir)
    ask, receive = client.query, client.receive_messages

    async def query(prompt: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(prompt, str):
            turns.question = prompt
        await ask(prompt, *args, **kwargs)

    def receive_messages() -> AsyncIterator[Any]:
        return _recorded(receive(), turns)

    client.query, client.receive_messages = query, receive_messages
    return client


attach = record_client


def record_messages(
    messages: AsyncIterable[Any], question: str = "", data_dir: DataDir = None
) -> AsyncIterator[Any]:
    """Yield the messages of ``query()``, and record its turns; ``question`` is that of the first."""
    return _recorded(messages, Turns(data_dir, question))


async def _recorded(messages: AsyncIterable[Any], turns: "Turns") -> AsyncIterator[Any]:
    try:
        async for message in messages:
            turns.heard(message)
            yield message
    except GeneratorExit:  # the reader has what it wants; of a client, the turn goes on
        raise
    except BaseException as error:
        turns.close(error=error)
        raise


class Turns:
    """The turn under way of one session, and its sub-agents, by the calls that started them."""

    def __init__(self, data_dir: DataDir = None, question: str = "") -> None:
        self.question = question
        self._data_dir = data_dir
        self._turn: AdaptedRequest | None = None
        self._agents: dict[str, AdaptedRequest] = {}
        self._replies: set[str] = set()

    @never_raises
    def heard(self, message: Any) -> None:
        """Add a message of the SDK; of other kinds than the following ones, nothing is recorded."""
        kind = type(message).__name__
        if kind == "AssistantMessage":
            self._reply(message)
        elif self._turn is not None and kind == "UserMessage" and isinstance(message.content, list):
            self._results(self._agents.get(message.parent_tool_use_id, self._turn), message)
        elif self._turn is not None and kind == "ResultMessage":
            self._end(self._turn, message)

    @never_raises
    def close(self, *, error: str | BaseException | None, answer: str | None = None) -> None:
        """End the turn, and the sub-agents that are under way, for example with a cancellation."""
        for agent in self._agents.values():
            agent.end(error=error)
        if self._turn is not None:
            self._turn.end(answer=answer, error=error)
        self._turn, self._agents, self._replies, self.question = None, {}, set(), ""

    def _reply(self, message: Any) -> None:
        request = self._replying(message)
        id = str(message.message_id or message.uuid or len(self._replies))
        if id not in self._replies:  # the SDK splits a reply into messages, one a block
            self._replies.add(id)
            request.replied(provider="anthropic", model=message.model)
        for block in message.content:
            if type(block).__name__ == "ToolUseBlock":
                request.asked(block.id, block.name, block.input)

    def _replying(self, message: Any) -> AdaptedRequest:
        """The request of a reply: the turn's, or that of the sub-agent that it is from."""
        call = message.parent_tool_use_id
        if self._turn is None:
            session = getattr(message, "session_id", None)
            self._turn = AdaptedRequest(self.question, session_id=session, data_dir=self._data_dir)
        if call is None:
            return self._turn
        if call not in self._agents:
            task = self._turn.args_of(call).get("prompt")
            question = task if isinstance(task, str) else ""
            self._agents[call] = AdaptedRequest(question, parent=self._turn, data_dir=self._data_dir)
        return self._agents[call]

    def _results(self, request: AdaptedRequest, message: Any) -> None:
        for block in message.content:
            if type(block).__name__ != "ToolResultBlock":
                continue
            if (agent := self._agents.pop(block.tool_use_id, None)) is not None:
                agent.end(answer=said(block.content))
            if block.is_error:
                args = request.args_of(block.tool_use_id)
                request.answered(block.tool_use_id, error=failure(said(block.content), args))
            else:
                request.answered(block.tool_use_id, block.content)

    def _end(self, turn: AdaptedRequest, message: Any) -> None:
        n_input, n_output = anthropic_tokens(message.usage)
        turn.used(input_tokens=n_input, output_tokens=n_output, cost_usd=message.total_cost_usd)
        error = None
        if message.is_error:
            error = "; ".join(message.errors or ()) or message.result or message.subtype
        self.close(error=error, answer=None if error else message.result)


def failure(told: str, args: Mapping[str, Any]) -> str:
    """Say why a call failed: a rejection names the argument and what the schema wants, never the value."""
    text = _TAG.sub("", told).strip()
    if _UNKNOWN in text:
        return UNKNOWN_TOOL
    if _INVALID.search(text) is None:
        return rejection_in(text) or text or "failed"
    reasons = [match[0] for match in _OWN.finditer(text)]
    reasons += [f"{match[1]}: required" for match in _REQUIRED.finditer(text)]
    if not reasons:  # jsonschema begins with the value: 'four' is not of type 'integer'
        reason = text.partition("rror: ")[2].partition("\n")[0]  # below, the model may be told the schema
        named = [(name, repr(value)) for name, value in args.items() if reason.startswith(repr(value))]
        reasons = [f"{name}:{reason[len(value) :]}" for name, value in named]
    return rejection_in(text) or f"invalid_argument: {'; '.join(reasons) or 'rejected before the tool ran'}"
