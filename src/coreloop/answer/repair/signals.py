"""Signals: what went wrong with an answer or a gate, as one kind of message for all that reacts to it."""

from dataclasses import dataclass
from datetime import datetime
from secrets import token_bytes
from typing import Any, Final, Literal

import msgspec

from coreloop.answer.models.contracts import Envelope
from coreloop.runs.ulid import new_ulid

TYPE: Final = "feedback.signal"
Reason = Literal[
    "insufficient_evidence",
    "citation_missing",
    "citation_unsupported",
    "search_miss",
    "io_gate_drop",
    "coverage_drop",
    "thumbs_down",
    "contract_invalid",
]


@dataclass(frozen=True, slots=True)
class Context:
    """The file and the symbol that a signal is about; "" for none."""

    file: str = ""
    symbol: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Something that went wrong.

    Attributes
    ----------
    source : str
        Who noticed: a person (``chat``), the critique of an answer (``critic``) or a ``gate``.
    reason : str
        What went wrong.
    session_id : str
        Of the conversation; "" for a gate.
    context : Context
        The file and the symbol that are concerned.
    """

    source: Literal["chat", "critic", "gate"]
    reason: Reason
    session_id: str = ""
    context: Context = Context()


def envelope(signal: Signal, *, trace_id: str, now: datetime) -> dict[str, Any]:
    """Wrap a signal for the event store and other programs, as plain values of an `Envelope`."""
    key, payload = new_ulid(now, token_bytes(10)), msgspec.to_builtins(signal)
    message = Envelope(id=key, type=TYPE, timestamp=now, trace_id=trace_id, payload=payload)
    whole: dict[str, Any] = msgspec.to_builtins(message)
    return whole


def signal_of(data: Any) -> Signal:
    """Read the signal of an envelope that is JSON.

    Raises
    ------
    msgspec.ValidationError
        It is no such envelope; names the field.
    """
    return msgspec.convert(msgspec.convert(data, Envelope).payload, Signal)
