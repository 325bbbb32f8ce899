"""Asking an OpenAI-compatible endpoint: one HTTP request a call, limited in time and size."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import islice
from math import ceil
from typing import Annotated, Any, Final, TypeVar

import msgspec
import orjson

from coreloop.answer.models.contracts import CallReply, Contract, json_schema
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.base.errors import ModelError
from coreloop.base.http import ExchangeError, HttpAnswer, HttpClient, HttpRequest, retry_after_s
from coreloop.base.project.settings import Endpoint, PriceSettings
from coreloop.base.text import printable

T = TypeVar("T", bound=Contract)
MAX_CHARS: Final = 1_000_000
MAX_STARTS: Final = 50  # places in a reply at which JSON is looked for
_scan: Final = json.JSONDecoder().raw_decode


class MalformedReplyError(ValueError):
    """No JSON of the contract in a reply; the text says what is wrong, for the model to mend."""


def read_reply(text: str, contract: type[T]) -> T:
    """Find and check the JSON of a reply.

    Parameters
    ----------
    text : str
        The model's reply: JSON, possibly in a fence or with prose around it.
    contract : type
        What the JSON must be.

    Raises
    ------
    MalformedReplyError
        No JSON, or none that fits the contract; names the field.
    """
    if len(text) > MAX_CHARS:
        raise MalformedReplyError(f"the reply has {len(text):,} characters; at most {MAX_CHARS:,} are read")
    problem = None
    for candidate in _candidates(text):
        try:
            return msgspec.json.decode(candidate, type=contract)
        except msgspec.ValidationError as error:
            problem = problem or str(error)  # of the likeliest text
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            continue
    raise MalformedReplyError(problem or "the reply contains no JSON object")


def _candidates(text: str) -> Iterator[str]:
    """Yield the texts that may be the JSON, the likeliest first."""
    yield text.strip().removeprefix("\ufeff")
    for start in islice(re.finditer(r"\{", text), MAX_STARTS):
        with suppress(ValueError, RecursionError):
            yield text[start.start() : _scan(text, start.start())[1]]


_FRAMING_TOKENS: Final = 16  # A message's role and separators, at most
_STATUS_KINDS: Final[Mapping[int, str]] = {401: "auth", 403: "auth", 408: "unavailable", 429: "rate_limited"}
_SAID_CHARS: Final = 300
_READ_BYTES: Final = 100_000  # of an error answer
# The likeliest words, and a seed: the same question gets the same answer where the endpoint can.
_SAMPLING: Final[Mapping[str, float]] = {"temperature": 0.0, "seed": 1}
_OPTIONAL: Final = (*_SAMPLING, "response_format")  # sent until the endpoint refuses it


_Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]


class _Function(msgspec.Struct, frozen=True):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(msgspec.Struct, frozen=True):
    function: _Function = _Function()


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None
    tool_calls: tuple[_ToolCall, ...] | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message = _Message()
    finish_reason: str | None = None


class _UsageFields(msgspec.Struct, frozen=True):
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0


class _Completion(msgspec.Struct, frozen=True):
    """A chat completion; other fields are ignored."""

    model: str = ""
    choices: tuple[_Choice, ...] = ()
    usage: _UsageFields | None = None
    error: Any = None


@dataclass(repr=False)
class OpenAICompatible:
    """A model behind an OpenAI-compatible endpoint.

    Parameters
    ----------
    provider, model : str
        The name of the endpoint and of the model.
    endpoint : Endpoint
        What the endpoint understands.
    url : str
        Its address, see `coreloop.answer.models.ladder.endpoint_url`.
    headers : mapping of str to str
        With the key. They never reach an error or an event.
    price : PriceSettings, optional
        Without it, calls have no price.
    refused : frozenset of str
        Parameters that the endpoint has refused: it is asked without them.
    """

    provider: str
    model: str
    _: KW_ONLY
    endpoint: Endpoint
    url: str
    headers: Mapping[str, str]
    price: PriceSettings | None = None
    refused: frozenset[str] = field(default=frozenset(), init=False)

    @property
    def name(self) -> str:
        """``provider:model``."""
        return f"{self.provider}:{self.model}"

    def most(self, messages: Sequence[Message], limits: CallLimits) -> Usage:
        """The most that a call can use."""
        # tokenizers that work on bytes need at most a token a byte
        tokens = sum(
            len(message.content.encode("utf-8", "replace")) + _FRAMING_TOKENS for message in messages
        )
        return self._priced(Usage(self.name, tokens, limits.max_output_tokens))

    def complete(self, messages: Sequence[Message], schema: type[T], limits: CallLimits) -> Reply[T]:
        """Ask once; see `coreloop.answer.models.model.Model.complete`."""
        described = {"name": schema.__name__, "schema": json_schema(schema)}
        form = {"response_format": {"type": "json_schema", "json_schema": described}}
        message, usage = self._ask(messages, limits, form)
        try:
            return Reply(read_reply(message.content or "", schema), usage)
        except MalformedReplyError as error:
            raise self._error(str(error), "malformed", usage=usage) from error

    def call_tool(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], limits: CallLimits
    ) -> Reply[CallReply]:
        """Ask once for the next call of a tool, which is not made.

        Parameters
        ----------
        messages, limits
            See `coreloop.answer.models.model.Model.complete`.
        tools : sequence of mapping
            Each with ``name``, ``description`` and ``parameters``, a JSON Schema.

        Raises
        ------
        ModelError
            As `complete` does; a reply without a call is malformed.
        """
        form = {"tools": [{"type": "function", "function": dict(tool)} for tool in tools]}
        message, usage = self._ask(messages, limits, form)
        call = message.tool_calls[0].function if message.tool_calls else _Function()
        if not call.name:
            raise self._error("the reply calls no tool", "malformed", usage=usage, is_retryable=False)
        try:
            arguments = msgspec.json.decode(call.arguments or "{}", type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            what = "the call's arguments are not JSON"
            raise self._error(what, "malformed", usage=usage) from error
        return Reply(CallReply(tool=call.name, arguments=arguments), usage)

    def _ask(
        self, messages: Sequence[Message], limits: CallLimits, form: Mapping[str, Any]
    ) -> tuple[_Message, Usage]:
        """The message of a whole reply, and what it used."""
        body = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            self.endpoint.max_tokens: limits.max_output_tokens,
            **{name: value for name, value in {**_SAMPLING, **form}.items() if name not in self.refused},
        }
        request = HttpRequest(
            method="POST", url=f"{self.url}/chat/completions", headers=self.headers, json=body
        )
        most = self.most(messages, limits)
        try:
            with HttpClient() as client:
                answer = client.exchange(request, timeout_s=limits.timeout_s, max_bytes=limits.max_bytes)
        except ExchangeError as error:
            # The endpoint may have worked, and charged, all the same.
            kind = "cut" if error.failure == "too_long" else "unavailable"
            raise self._error(str(error), kind, usage=most) from error
        if answer.status != 200:
            raise self._refused_request(answer)
        completion = _Completion()
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            completion = msgspec.json.decode(answer.content, type=_Completion)
        if completion.error is not None:
            said = f"the endpoint broke off with an error{self._said(answer.content)}"
            raise self._error(said, "unavailable", usage=most)
        if not completion.choices:
            said = "the endpoint answered with what is not a chat completion; check its address"
            raise self._error(said, "rejected")
        return self._whole(completion, most)

    def _whole(self, completion: _Completion, most: Usage) -> tuple[_Message, Usage]:
        choice, counts, name = completion.choices[0], completion.usage, completion.model or self.name
        usage = Usage(name, counts.prompt_tokens, counts.completion_tokens) if counts else most
        usage = self._priced(usage)
        finish = (choice.finish_reason or "").partition(":")[0]  # "content_filter: SAFETY" of Google
        if choice.message.refusal or finish in {"content_filter", "refusal", "safety"}:
            raise self._error("the model refused to answer", "refused", usage=usage)
        if finish == "length":
            raise self._error("the reply was cut at the largest number of output tokens", "cut", usage=usage)
        return choice.message, usage

    def _priced(self, usage: Usage) -> Usage:
        if self.price is None:
            return usage
        microusd = usage.input_tokens * self.price.input + usage.output_tokens * self.price.output
        return replace(usage, microusd=ceil(round(microusd, 6)))  # dollars per million are microdollars

    def _refused_request(self, answer: HttpAnswer) -> ModelError:
        said = self._said(answer.content)
        whole = _message(answer.content) or answer.content[:_SAID_CHARS].decode("utf-8", "replace")
        words = whole.lower().replace("response format", "response_format")
        named = [name for name in _OPTIONAL if name not in self.refused and name in words]
        if named and answer.status in {400, 422}:
            self.refused |= {named[0]}  # as a whole: other threads read it
            return self._error(
                f"the endpoint refuses the {named[0]}; it is asked without it{said}", "setting"
            )
        kind = _STATUS_KINDS.get(answer.status, "rejected" if answer.status < 500 else "unavailable")
        text = f"the endpoint answered {answer.status}{said}"
        return self._error(text, kind, retry_after_s=retry_after_s(answer))

    def _said(self, content: bytes) -> str:
        said = self._without_key(_message(content))[:_SAID_CHARS]
        return said and f": {said}"

    def _error(self, message: str, kind: str, **about: Any) -> ModelError:
        about = {"is_retryable": kind in {"malformed", "rate_limited", "unavailable"}, **about}
        return ModelError(printable(self._without_key(f"{self.name}: {message}")), kind=kind, **about)

    def _without_key(self, text: str) -> str:
        """Take the key out of a text: endpoints repeat a wrong key in their answer."""
        for value in self.headers.values():
            text = text.replace(value.removeprefix("Bearer "), "…")
        return text


def _message(content: bytes) -> str:
    """The message of an error answer, on one line."""
    try:
        value = orjson.loads(content[:_READ_BYTES])
        error = value["error"] if isinstance(value, dict) else value[0]["error"]
        message = error["message"] if isinstance(error, dict) else error
    except (ValueError, LookupError, TypeError):
        return ""
    return " ".join(str(message).split())
