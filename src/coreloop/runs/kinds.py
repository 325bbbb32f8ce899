"""Kinds of runs: what a package adds to the state and the files of its runs, opaque to `coreloop.runs`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from coreloop.base.project.workspace import Workspace
from coreloop.runs.state import KindState, State

Part = TypeVar("Part", bound=KindState)
"""The kind's part of the state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[Part]):
    """A kind of runs.

    Attributes
    ----------
    name : str
        As in ``state.json``.
    searches : bool
        Whether an iteration must search to make progress. Other kinds say what progress is (`Progressed`).
    initial : callable
        Makes the kind's part of the state of a new run.
    fold : callable
        Adds a `Noted` event to it, given its name and its data. Must not fail, and must depend on its
        arguments only.
    committed : callable
        Changes the kind's part when an iteration was committed. Pure like ``fold``.
    is_complete : callable
        Whether a run whose sub-questions are all settled may end as completed.
    views : callable
        Makes the kind's files of `coreloop.runs.run_files` after a committed iteration: name to content.
    forget : callable
        Removes what the kind keeps of a run outside the store of runs, whose `Store.address` it gets.
    """

    name: str
    searches: bool = True
    initial: Callable[[], Part]
    fold: Callable[[Part, str, Any], None] = lambda *_: None
    committed: Callable[[State], None] = lambda _: None
    is_complete: Callable[[State], bool] = lambda _: True
    views: Callable[[State], Mapping[str, bytes]] = lambda _: {}
    forget: Callable[[Workspace, State, str], None] = lambda *_: None


_KINDS: Final[dict[str, Kind[Any]]] = {}


def register_kind(kind: Kind[Any]) -> None:
    """Add a kind; a kind of the same name is replaced."""
    _KINDS[kind.name] = kind


def kind_named(name: str) -> Kind[Any]:
    """Return the registered kind, or one that adds nothing to the state."""
    return _KINDS.get(name) or Kind(name=name, initial=KindState)
