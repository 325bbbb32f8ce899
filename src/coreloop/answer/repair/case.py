"""What a run of the kind ``ask`` knows: its part of the run's state, and the events that change it."""

from dataclasses import dataclass, field, fields
from typing import Any, Final

import msgspec

from coreloop.answer.repair.signals import TYPE, Signal, signal_of
from coreloop.answer.research.contradictions import Contradiction
from coreloop.answer.research.knowledge import Dropped, ReadSource
from coreloop.answer.research.passages import Passage, Verdict
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.state import State

KIND: Final = "ask"
ASKED, ATTEMPTED, SIGNALLED, REPAIRED = "asked", "attempt", TYPE, "repair"
"""Names of the events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for beside the question.

    Attributes
    ----------
    session_id : str
        Of the conversation; the run's id if it belongs to none.
    may_repair : bool
        Whether a failed answer is repaired at once.
    mends : str
        The run whose answer a person rejected; "" for a first question.
    wants_more : bool
        Whether the person said that the answer was too short.
    is_replay : bool
        Whether `verify` asks; its answers leave nothing behind but their run.
    """

    session_id: str = ""
    may_repair: bool = True
    mends: str = ""
    wants_more: bool = False
    is_replay: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An answer and what the critique left of it.

    Attributes
    ----------
    number : int
        From 1.
    model : str
        Names of the models that were asked.
    intent : str
        What the question wants, as the model says.
    verdict : str
        Whether the sources say so.
    sentences : tuple of str
        With their citations; empty if the answer cannot stand.
    cited : tuple of ReadSource
        The sources that these cite, and those of the passages.
    passages : tuple of Passage
        What is shown beside the sentences; of an answer without a model, the best ones.
    quoted : tuple of str
        What was found without a model in place of an answer that could not be used, with citations.
    differing : tuple of Contradiction
        Sentences of the sources that answer differently.
    dropped : tuple of Dropped
        Sentences that no source supports.
    found : dict of str to int
        Sources that were retrieved, by where they come from: ``text``, ``symbol``, ``schema``, ``import``,
        ``injected``.
    problem : str
        Why a search failed; "" if none did.
    failure : str
        Why the model's answer could not be used; "" if it could.
    note : str
        What else a person should know, such as files that are still being read.
    """

    number: int
    model: str
    intent: str = ""
    verdict: Verdict = "nothing said so"
    sentences: tuple[str, ...] = ()
    cited: tuple[ReadSource, ...] = ()
    passages: tuple[Passage, ...] = ()
    quoted: tuple[str, ...] = ()
    differing: tuple[Contradiction, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    found: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    failure: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a round of repair did.

    Attributes
    ----------
    attempt : int
        The attempt that failed before it; 0 for an answer that a person rejected.
    round : int
        1 or 2.
    actions : tuple of str
        See `coreloop.answer.repair.actions`; empty if the hour's rounds were used up.
    jobs : tuple of str
        What was done, a line each: ``index.file README.md: done``.
    """

    attempt: int
    round: int
    actions: tuple[str, ...]
    jobs: tuple[str, ...] = ()


@dataclass(slots=True)
class Case:
    """What is known about a question; its fields are keys of ``state.json``."""

    asked: Asked = field(default_factory=Asked)
    attempts: list[Attempt] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    repairs: list[Repaired] = field(default_factory=list)

    @property
    def does(self) -> frozenset[str]:
        """The actions that were taken."""
        return frozenset(action for repair in self.repairs for action in repair.actions)


def case_of(state: State) -> Case:
    """Return what the run of a state knows; to be read only."""
    return Case(**state.extra)


def _initial() -> dict[str, Any]:
    new = Case()
    return {known.name: getattr(new, known.name) for known in fields(Case)}


def _fold(extra: dict[str, Any], name: str, data: Any) -> None:
    if name == ASKED:
        extra["asked"] = msgspec.convert(data, Asked)
    elif name == ATTEMPTED:
        extra["attempts"].append(msgspec.convert(data, Attempt))
    elif name == SIGNALLED:
        extra["signals"].append(signal_of(data))
    elif name == REPAIRED:
        extra["repairs"].append(msgspec.convert(data, Repaired))


register_kind(Kind(name=KIND, searches=False, initial=_initial, fold=_fold))
