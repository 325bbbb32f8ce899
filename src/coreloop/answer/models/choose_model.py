"""Settings and environment -> the models to ask."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from coreloop.answer.models.ladder import OFFLINE, Ladder
from coreloop.answer.models.model import Model
from coreloop.base.errors import UsageError
from coreloop.base.project.settings import EndpointSettings, PriceSettings, Settings

_FREE: Final = PriceSettings(input=0, output=0)
_VARIABLE: Final = re.compile(r"\{(\w+)\}")  # {AZURE_OPENAI_ENDPOINT}/openai/v1
_HEADER: Final = re.compile(r"[A-Za-z0-9-]+")

# Known OpenAI-compatible endpoints: their address, their key, and what they understand.
ENDPOINTS: Final[Mapping[str, EndpointSettings]] = {
    "openai": EndpointSettings(
        url="https://api.openai.com/v1",
        key="OPENAI_API_KEY",
        max_tokens="max_completion_tokens",
        tool_calls=True,
    ),
    "azure": EndpointSettings(
        url="{AZURE_OPENAI_ENDPOINT}/openai/v1",
        key="AZURE_OPENAI_API_KEY",
        key_header="api-key",
        max_tokens="max_completion_tokens",
        tool_calls=True,
    ),
    "anthropic": EndpointSettings(
        url="https://api.anthropic.com/v1", key="ANTHROPIC_API_KEY", json_schema=False, tool_calls=True
    ),
    "google": EndpointSettings(
        url="https://generativelanguage.googleapis.com/v1beta/openai", key="GEMINI_API_KEY", tool_calls=True
    ),
    "openrouter": EndpointSettings(
        url="https://openrouter.ai/api/v1", key="OPENROUTER_API_KEY", tool_calls=True
    ),
    "ollama": EndpointSettings(url="http://localhost:11434/v1"),
    "vllm": EndpointSettings(url="http://localhost:8000/v1"),
}


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
    daily = (settings.limits.usd_per_day, settings.service.usd_per_key_per_day)
    needs_price = has_usd_limit or daily != (None, None)
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
    endpoints = {**ENDPOINTS, **settings.endpoints}
    if provider not in endpoints:
        raise UsageError(
            f"model {name!r}: unknown provider {provider!r}; known: "
            f"{', '.join((OFFLINE, *endpoints))}; others need their address under endpoints in "
            "coreloop.yaml"
        )
    if not model:
        raise UsageError(f"model {name!r} must look like {provider}:NAME")
    endpoint = endpoints[provider]
    price = settings.prices.get(name, _FREE if endpoint.key is None else None)
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
        sampling=settings.sampling,
    )


def endpoint_url(endpoint: EndpointSettings, environ: Mapping[str, str]) -> str:
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


def endpoint_headers(endpoint: EndpointSettings, environ: Mapping[str, str]) -> dict[str, str]:
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
    key = environ.get(endpoint.key, "").strip()
    if not key:
        raise UsageError(f"set {endpoint.key} to the endpoint's key")
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{endpoint.key} holds characters that no key has")
    bearer = "Bearer " if endpoint.key_header == "Authorization" else ""
    return {endpoint.key_header: f"{bearer}{key}"}
