"""Events of runs for tests."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from coreloop.runs import events as happened
from coreloop.runs.events import Event
from coreloop.runs.fold import Folding
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

AT = datetime(2026, 4, 25, 9, 0, tzinfo=UTC)
RUN_ID = "01KQ0000000000000000000000"


def created(**fields: Any) -> happened.Created:
    """The first event of a run, with some fields changed."""
    return happened.Created(**{"at": AT, "run_id": RUN_ID, "kind": "test", "question": "왜?", **fields})


def fold(events: Iterable[Event]) -> State:
    """The state after some events."""
    folding = Folding()
    for event in events:
        folding.add(event)
    return folding.state


def state_of(store: Store, run_id: str) -> State:
    return fold(event for _seq, event in store.read(run_id))


def after(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)
