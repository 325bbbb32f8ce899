"""A model's text -> its JSON, checked. Fences and prose around it are tolerated; everything is bounded."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, TypeVar

import msgspec

from coreloop.answer.models.contracts import Contract

T = TypeVar("T", bound=Contract)
MAX_CHARS: Final = 1_000_000
MAX_STARTS: Final = 50
"""Places in a reply at which JSON is looked for."""
_FENCE: Final = re.compile(r"```[a-zA-Z]*\n(.*?)```", re.DOTALL)  # ```json\n{}\n```
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
    yield from (match[1] for match in _FENCE.finditer(text))
    for start in _starts(text):
        with suppress(ValueError, RecursionError):
            yield text[start : _scan(text, start)[1]]


def _starts(text: str) -> Iterator[int]:
    start = -1
    for _ in range(MAX_STARTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        yield start
