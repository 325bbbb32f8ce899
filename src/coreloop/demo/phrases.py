"""A question in the words of ``phrases.toml``, which says what a clause may hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, Literal

import msgspec

Language = Literal["ko", "en"]

_ENGLISH_SHARE = 0.17
_HANGUL_FIRST, _HANGUL_LAST, _FINALS = 0xAC00, 0xD7A3, 28


@dataclass(frozen=True, slots=True)
class _Wording:
    """One language of the file."""

    openings: tuple[str, ...]
    endings: tuple[str, ...]
    clauses: dict[str, tuple[str, ...]]


_WORDINGS: Final = msgspec.toml.decode(
    Path(__file__).with_name("phrases.toml").read_bytes(), type=dict[Language, _Wording]
)


@dataclass(frozen=True, slots=True)
class Noun:
    """A name that takes its Korean particle in a format string: ``{company:은는}``."""

    text: str

    def __format__(self, particles: str) -> str:
        """The noun with the first particle after a final consonant, else the second."""
        if not particles:
            return self.text
        return self.text + particles[0 if self._ends_in_consonant() else 1]

    def _ends_in_consonant(self) -> bool:
        last = ord(self.text[-1])
        return _HANGUL_FIRST <= last <= _HANGUL_LAST and (last - _HANGUL_FIRST) % _FINALS > 0


def word_question(topic: str, rng: Random, *, nouns: Mapping[str, str]) -> tuple[str, Language]:
    """Word a question on a topic.

    Parameters
    ----------
    topic : str
        A key of the file's clauses.
    rng : Random
        Chooses language, opening, clause and ending.
    nouns : Mapping[str, str]
        What clauses may mention: ``company``, ``peer``, ``sector``, and ``count``, how many companies a
        screening question asks for.

    Returns
    -------
    tuple
        The question, and the language that it is in.
    """
    language: Language = "en" if rng.random() < _ENGLISH_SHARE else "ko"
    wording = _WORDINGS[language]
    clause = rng.choice(wording.clauses[topic])
    said = clause.format_map({name: Noun(text) for name, text in nouns.items()})
    parts = (rng.choice(wording.openings), said, rng.choice(wording.endings))
    return " ".join(filter(None, parts)), language
