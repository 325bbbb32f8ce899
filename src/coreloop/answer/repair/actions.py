"""What follows from a failed answer: signals, the actions that answer them, and what persons rejected."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from secrets import token_bytes
from typing import Any, Final, Literal

import msgspec

from coreloop.answer.models.contracts import Envelope
from coreloop.runs.clock import new_ulid
from coreloop.runs.events import Noted

TYPE: Final = "feedback.signal"
Source = Literal["chat", "critic", "gate"]
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


# What a person reads of a reason.
SAID: Final[Mapping[str, str]] = {
    "insufficient_evidence": "no source says so",
    "search_miss": "nothing was found",
    "citation_missing": "the model named no source",
    "citation_unsupported": "the sources do not say what the model wrote",
    "contract_invalid": "the model was unusable",
    "thumbs_down": "a person rejected the answer",
    "coverage_drop": "fewer files are indexed and fresh",
    "io_gate_drop": "fewer functions are documented",
}


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
    session_id : str
        Of the conversation; "" for a gate.
    """

    source: Source
    reason: Reason
    session_id: str = ""
    context: Context = Context()


def signalled(
    source: Source, reason: Reason, *, trace_id: str, now: datetime, session_id: str = "", **context: str
) -> Noted:
    """Return the event of a signal, whose data are an `Envelope`; the context is a `Context`.

    Parameters
    ----------
    trace_id : str
        Of the run that the signal is about.
    now : datetime
        With a time zone.
    """
    signal = Signal(source=source, reason=reason, session_id=session_id, context=Context(**context))
    key, payload = new_ulid(now, token_bytes(10)), msgspec.to_builtins(signal)
    message = Envelope(id=key, type=TYPE, timestamp=now, trace_id=trace_id, payload=payload)
    return Noted(at=now, name=TYPE, data=msgspec.to_builtins(message))


def signal_of(data: Any) -> Signal:
    """Read the signal of an envelope that is JSON.

    Raises
    ------
    msgspec.ValidationError
        It is no such envelope; names the field.
    """
    return msgspec.convert(msgspec.convert(data, Envelope).payload, Signal)


ANSWER_AGAIN: Final = "answer.again"  # the job that mends an answer which a person rejected
STRICT: Final = "answer.strict"
OTHER_MODEL: Final = "answer.other_model"
MAX_REPAIRS: Final = 2  # rounds of an answer
_FIND: Final = (
    ("index.file", "evidence.inject", STRICT),
    ("index.module", "evidence.inject", OTHER_MODEL, "schema.link.suggest"),
)
_CITE: Final = (STRICT,), (OTHER_MODEL,)

# The actions of the first and of the second round, in their order.
ACTIONS: Final[Mapping[Reason, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "insufficient_evidence": _FIND,
    "search_miss": _FIND,
    "thumbs_down": _FIND,
    "citation_missing": _CITE,
    "citation_unsupported": (("evidence.inject", STRICT), ("index.module", OTHER_MODEL)),
    "contract_invalid": _CITE,
    "coverage_drop": (("index.module",), ()),
    "io_gate_drop": (("index.module",), ()),
}
