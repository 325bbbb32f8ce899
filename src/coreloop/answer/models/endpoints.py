"""Known OpenAI-compatible endpoints as data: their address, their key, and what they understand."""

import re
from collections.abc import Mapping
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.project.model_settings import EndpointSettings

_VARIABLE: Final = re.compile(r"\{(\w+)\}")  # {AZURE_OPENAI_ENDPOINT}/openai/v1
_HEADER: Final = re.compile(r"[A-Za-z0-9-]+")

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
