"""How a question ends: four answers that differ for people, programs and scripts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

End = Literal["answered", "nothing_said_so", "search_down", "model_unusable"]
EXIT_CODES: Final[Mapping[End, int]] = {
    "answered": 0,
    "nothing_said_so": 1,
    "search_down": 4,
    "model_unusable": 5,
}
HTTP_STATUS: Final[Mapping[End, int]] = {
    "answered": 200,
    "nothing_said_so": 200,
    "search_down": 503,
    "model_unusable": 502,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndError:
    """Why a question has no answer of its own, as every failed call has it."""

    type: str
    message: str
    retryable: bool


def end_error(end: End, reason: str) -> EndError | None:
    """Return the error of an end, or None if the question was answered or nothing says so."""
    if end in {"answered", "nothing_said_so"}:
        return None
    return EndError(type=end, message=end_line(end, reason), retryable=True)


def end_line(end: End, reason: str) -> str:
    """Say in one line how a question ended; "" if it was answered."""
    if end == "answered":
        return ""
    if end == "nothing_said_so":
        return str(f"nothing said so; {reason}") if reason else "nothing said so"
    template = "the search was down: {reason}"
    if end == "model_unusable":
        template = "the model was unusable: {reason}; what is shown is found without it"
    return str(template.format(reason=" ".join(reason.split())))
