"""What workers do, and the suggestions that only a person may decide: a part of Health."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from coreloop.web.pages.page_data import Button, PageSource

_MAX_SHOWN: Final = 50


def read_work(source: PageSource) -> Mapping[str, Any]:
    """Read the queue's figures, the newest jobs, the dead ones and pending suggestions."""
    queue, tables = source.queue, source.tables
    return {
        "figures": queue.metrics(),
        "dead": queue.jobs(status="dead", limit=_MAX_SHOWN),
        "jobs": queue.jobs(limit=_MAX_SHOWN),
        "suggestions": tables.suggestions(status="pending")[:_MAX_SHOWN],
    }


def _button(scope: Literal["run", "review"], act: Callable[[PageSource, str], object]) -> Button:
    def run(source: PageSource, form: Mapping[str, str], _by: str) -> tuple[str, ...]:
        act(source, form.get("id", ""))
        return ("health",)

    return Button(scope=scope, run=run)


WORK_BUTTONS: Final[Mapping[str, Button]] = {
    "retry": _button("run", lambda source, id: source.queue.retry(id)),
    "cancel": _button("run", lambda source, id: source.queue.cancel(id)),
    "apply": _button("review", lambda source, id: source.tables.decide(id, "applied", now=source.now)),
    "reject": _button("review", lambda source, id: source.tables.decide(id, "rejected", now=source.now)),
}
