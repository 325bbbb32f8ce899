"""The protocol of a model: one call, one typed reply, and what the call used."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

if TYPE_CHECKING:  # the contracts bring msgspec, 20 ms
    from coreloop.answer.models.contracts import Contract

T = TypeVar("T", bound="Contract")
T_co = TypeVar("T_co", bound="Contract", covariant=True)


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of the conversation.

    Attributes
    ----------
    role : str
        ``system``: instructions of the program; ``user``: a question, or text that was found; ``assistant``:
        an earlier reply.
    content : str
        Text that was found elsewhere stays data: it is never part of a ``system`` message.
    """

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """The most that a call may use.

    Attributes
    ----------
    max_output_tokens : int
        Sent to the model. A reply that is cut there is no reply.
    timeout_s : float
        From the first byte sent to the last byte received.
    max_bytes : int
        Of the reply.
    """

    max_output_tokens: int = 4_096
    timeout_s: float = 120.0
    max_bytes: int = 2_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call used.

    Attributes
    ----------
    model : str
        The model that answered, as it calls itself.
    input_tokens, output_tokens : int
        As the endpoint counts them; estimated if it does not say.
    microusd : int or None
        Millionths of a US dollar; None without a price.
    """

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    microusd: int | None = None

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens

    def after(self, failed: object) -> "Usage":
        """Add what an earlier call used, which failed; None if that is not known."""
        if not isinstance(failed, Usage):
            return self
        prices = [price for price in (failed.microusd, self.microusd) if price is not None]
        return replace(
            self,
            input_tokens=failed.input_tokens + self.input_tokens,
            output_tokens=failed.output_tokens + self.output_tokens,
            microusd=sum(prices) if prices else None,
        )


@dataclass(frozen=True, slots=True)
class Reply(Generic[T_co]):
    """A typed reply, and what it used."""

    value: T_co
    usage: Usage


class Model(Protocol):
    """Something that answers messages with JSON of a contract."""

    @property
    def name(self) -> str:
        """``provider:model``, for people and events."""

    def most(self, messages: Sequence[Message], limits: CallLimits) -> Usage:
        """The most that a call can use, for its reservation; ``microusd`` is None without a price."""

    def complete(self, messages: Sequence[Message], schema: type[T], limits: CallLimits) -> Reply[T]:
        """Ask once.

        Raises
        ------
        ModelError
            No usable reply; says why, whether asking again can help, and what the call used.
        """
