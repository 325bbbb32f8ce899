"""What is said: numbers with their nouns, and Korean to the person who asked in Korean."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

LONE: Final = "without one, no line is found from earlier results and states, nor safely from retries"
"""Of calls that are recorded one by one, as servers of tools see them."""


def number_of(number: int, noun: str, tell: Callable[[str], str] = str) -> str:
    """Return ``1 file`` or ``2,000 files``; ``문장 2`` if ``tell`` says the noun in Korean."""
    if (told := tell(noun)) != noun:
        return f"{told} {number:,}"
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


def in_language_of(question: str) -> Callable[..., str]:
    """Return what says a message such as ``"answer {part}"``: in Korean for a question with Hangul.

    A message that the catalogue does not have stays English; without values, braces are letters.
    """
    from coreloop.base.language.words import is_korean

    messages: Mapping[str, str] = korean() if is_korean(question) else {}

    def tell(message: str, /, **values: object) -> str:
        text = messages.get(message, message)
        return text.format(**values) if values else text

    return tell


@cache
def korean() -> dict[str, str]:
    """The catalogue: the Korean of each English message."""
    messages: dict[str, str] = json.loads(Path(__file__).with_name("korean.json").read_text("utf-8"))
    return messages
