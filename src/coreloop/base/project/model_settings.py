"""What coreloop.yaml can say of models: their endpoints, prices and sampling."""

from dataclasses import dataclass, field
from typing import Final, Literal

_PRICE: Final = {"least": 0, "most": 1_000_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSettings:
    """What a model costs, in US dollars per million tokens.

    Attributes
    ----------
    input : float
        The price of the messages.
    output : float
        The price of the reply, including what the model writes before it (reasoning).
    """

    input: float = field(metadata=_PRICE)
    output: float = field(metadata=_PRICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingSettings:
    """How a model chooses among words, so that the same question gets the same answer where it can.

    An endpoint that refuses one of them is asked without it from then on; `runs show` says so.

    Attributes
    ----------
    temperature : float or None
        0 for the likeliest words; null to leave it to the endpoint.
    seed : int or None
        The seed for endpoints that draw by one; null to send none.
    """

    temperature: float | None = field(default=0.0, metadata={"least": 0, "most": 2})
    seed: int | None = field(default=1, metadata={"least": 0, "most": 2**31 - 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """An address that answers OpenAI's chat completions.

    Attributes
    ----------
    url : str
        Up to and without ``/chat/completions``. ``{NAME}`` stands for an environment variable.
    key : str or None
        The environment variable that holds the key. An endpoint without a key costs nothing.
    key_header : str
        ``Authorization`` (the key as ``Bearer``), or a header that takes the key alone.
    json_schema : bool
        Whether the endpoint restricts a reply to a JSON Schema.
    max_tokens : str
        The parameter that limits the tokens of a reply.
    tool_calls : bool
        Whether its models take tools and call them.
    """

    url: str
    key: str | None = None
    key_header: str = "Authorization"
    json_schema: bool = True
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tool_calls: bool = False
