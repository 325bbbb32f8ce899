"""Known OpenAI-compatible endpoints as data: their address, their key, and what they understand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from coreloop.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint that speaks OpenAI's chat completions.

    Attributes
    ----------
    url : str
        Up to and without ``/chat/completions``. ``{NAME}`` is an environment variable.
    key : str or None
        The environment variable of its key; None if it takes none.
    key_header : str
        ``Authorization`` (as ``Bearer``) or a header that takes the key alone.
    json_schema : bool
        Whether it restricts a reply to a JSON Schema. Others are only told about the schema.
    max_tokens : str
        Its name for the largest number of output tokens.
    """

    url: str
    key: str | None = None
    key_header: str = "Authorization"
    json_schema: bool = True
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    "openai": Endpoint(
        url="https://api.openai.com/v1", key="OPENAI_API_KEY", max_tokens="max_completion_tokens"
    ),
    "azure": Endpoint(
        url="{AZURE_OPENAI_ENDPOINT}/openai/v1",
        key="AZURE_OPENAI_API_KEY",
        key_header="api-key",
        max_tokens="max_completion_tokens",
    ),
    "anthropic": Endpoint(url="https://api.anthropic.com/v1", key="ANTHROPIC_API_KEY", json_schema=False),
    "google": Endpoint(url="https://generativelanguage.googleapis.com/v1beta/openai", key="GEMINI_API_KEY"),
    "openrouter": Endpoint(url="https://openrouter.ai/api/v1", key="OPENROUTER_API_KEY"),
    "ollama": Endpoint(url="http://localhost:11434/v1"),
    "vllm": Endpoint(url="http://localhost:8000/v1"),
}


def endpoint_url(endpoint: Endpoint, environ: Mapping[str, str]) -> str:
    """Fill in an endpoint's address.

    Raises
    ------
    UsageError
        An environment variable of the address is not set.
    """
    try:
        return endpoint.url.format_map(environ).rstrip("/")
    except KeyError as error:
        raise UsageError(f"set {error.args[0]} to the endpoint's address") from error


def endpoint_headers(endpoint: Endpoint, environ: Mapping[str, str]) -> dict[str, str]:
    """Build the headers that carry the key.

    Raises
    ------
    UsageError
        The key's environment variable is not set, or holds what no header can.
    """
    if endpoint.key is None:
        return {}
    key = environ.get(endpoint.key, "").strip()
    if not key:
        raise UsageError(f"set {endpoint.key} to the endpoint's key")
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{endpoint.key} holds characters that no key has")
    bearer = "Bearer " if endpoint.key_header == "Authorization" else ""
    return {endpoint.key_header: f"{bearer}{key}"}
