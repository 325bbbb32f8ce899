"""The models to ask, by settings and environment; they are asked until a reply can be used.

First the same model again with its error, then the next model, then failure.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import orjson

from coreloop.answer.models.contracts import Contract, json_schema
from coreloop.answer.models.model import CallLimits, Message, Model, Reply, Usage
from coreloop.base.errors import ModelError, UsageError
from coreloop.base.project.settings import Endpoint, PriceSettings, Settings

T = TypeVar("T", bound=Contract)
Make = Callable[[Model, Sequence[Message], type[Any], CallLimits], Reply[Any]]  # makes a call to a model
OFFLINE: Final = "offline"  # name of what answers without a model
# Between two messages of the user, since many models require turns.
_UNUSABLE: Final = Message("assistant", "(a reply that was not usable)")
_MAX_REFUSED_SETTINGS: Final = 3  # temperature, seed and schema: each is left out once
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


_VARIABLE: Final = re.compile(r"\{(\w+)\}")  # {AZURE_OPENAI_ENDPOINT}/openai/v1
_HEADER: Final = re.compile(r"[A-Za-z0-9-]+")

# Known OpenAI-compatible endpoints: their address, their key, and what they understand.
_FILE: Final = Path(__file__).with_name("endpoints.json")
ENDPOINTS: Final = msgspec.json.decode(_FILE.read_bytes(), type=dict[str, Endpoint])
_OTHER: Final = Endpoint(url="")


def choose_model(settings: Settings, environ: Mapping[str, str], *, has_usd_limit: bool = False) -> Ladder:
    """Build the models that the settings name, in their order.

    Parameters
    ----------
    settings : Settings
        ``model``, ``prices`` and ``endpoints``; ``CORELOOP_MODEL`` is in ``model`` already.
    environ : mapping of str to str
        Holds the keys, which are nowhere else.
    has_usd_limit : bool
        Whether a limit in US dollars applies to the work, so that every model needs a price. A daily limit in
        the settings counts without it.

    Raises
    ------
    UsageError
        An unknown provider, a missing key or address, or no price; names what to set.
    """
    needs_price = has_usd_limit or settings.limits.usd_per_day is not None
    names = model_names(settings.model)
    models = [_model(name, settings, environ, needs_price=needs_price) for name in names if name != OFFLINE]
    return Ladder(models, is_optional=OFFLINE in names)


def model_names(model: str | Sequence[str]) -> list[str]:
    """Split the setting ``model`` into names.

    Raises
    ------
    UsageError
        It has none.
    """
    names = model.split(",") if isinstance(model, str) else model
    named = [name.strip() for name in names if name.strip()]
    if not named:
        raise UsageError(f"model is empty; name a model, for example {OFFLINE!r}")
    return named


def _model(name: str, settings: Settings, environ: Mapping[str, str], *, needs_price: bool) -> Model:
    provider, _, model = name.partition(":")
    endpoints = endpoints_of(settings)
    if provider not in endpoints:
        raise UsageError(
            f"model {name!r}: unknown provider {provider!r}; known: "
            f"{', '.join((OFFLINE, *endpoints))}; others need their address under endpoints in "
            "coreloop.yaml"
        )
    if not model:
        raise UsageError(f"model {name!r} must look like {provider}:NAME")
    endpoint = endpoints[provider]
    price = settings.prices.get(name, PriceSettings(input=0, output=0) if endpoint.key is None else None)
    if price is None and needs_price:
        raise UsageError(
            f"model {name!r} has no price, so a limit in US dollars cannot hold; add it under "
            "prices in coreloop.yaml"
        )
    from coreloop.answer.models.openai_compatible import OpenAICompatible  # the HTTP library takes 60 ms

    return OpenAICompatible(
        provider,
        model,
        endpoint=endpoint,
        url=endpoint_url(endpoint, environ),
        headers=endpoint_headers(endpoint, environ),
        price=price,
    )


def endpoints_of(settings: Settings) -> dict[str, Endpoint]:
    """Return the endpoints by name; an own one of a known name understands what the known one does."""
    own = settings.endpoints.items()
    return ENDPOINTS | {name: replace(ENDPOINTS.get(name, _OTHER), **asdict(its)) for name, its in own}


def endpoint_url(endpoint: Endpoint, environ: Mapping[str, str]) -> str:
    """Fill in an endpoint's address.

    Raises
    ------
    UsageError
        An environment variable of the address is not set, or the address is not one of HTTP.
    """
    missing = [name for name in _VARIABLE.findall(endpoint.url) if not environ.get(name)]
    if missing:
        raise UsageError(f"set {missing[0]} to the endpoint's address")
    url = _VARIABLE.sub(lambda match: environ[match[1]].rstrip("/"), endpoint.url).rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise UsageError("the endpoint's address must begin with https:// or http://")
    return url


def endpoint_headers(endpoint: Endpoint, environ: Mapping[str, str]) -> dict[str, str]:
    """Build the headers that carry the key.

    Raises
    ------
    UsageError
        The key's environment variable is not set, or holds what no header can.
    """
    if endpoint.key is None:
        return {}
    if not _HEADER.fullmatch(endpoint.key_header):
        raise UsageError(f"key_header {endpoint.key_header!r} is not the name of a header")
    bearer = "Bearer " if endpoint.key_header == "Authorization" else ""
    return {endpoint.key_header: f"{bearer}{key_in(environ, endpoint.key)}"}


def key_in(environ: Mapping[str, str], name: str) -> str:
    """Return the key that an environment variable holds.

    Raises
    ------
    UsageError
        It is not set, or holds what no header can.
    """
    key = environ.get(name, "").strip()
    if not key:
        raise UsageError(f"set {name} to the key of your account")
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{name} holds characters that no key has")
    return key
