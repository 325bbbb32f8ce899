"""What workers do, and the suggestions that only a person may decide: a part of Health."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from coreloop.web.pages.page_data import Button, PageSource, button

_MAX_SHOWN: Final = 50


def read_work(source: PageSource) -> Mapping[str, Any]:
    """Read the queue's figures, dead and waiting jobs, and pending suggestions."""
    queue, tables = source.queue, source.tables
    return {
        "figures": queue.metrics(),
        "jobs": queue.jobs(status="dead", limit=_MAX_SHOWN) + queue.jobs(status="queued", limit=_MAX_SHOWN),
        "suggestions": tables.suggestions(status="pending")[:_MAX_SHOWN],
    }


def _deciding(status: Literal["applied", "rejected"]) -> Button:
    return button(
        "review", lambda source, id, _by: source.tables.decide(id, status, now=source.now), "health"
    )


WORK_BUTTONS: Final[Mapping[str, Button]] = {
    "retry": button("run", lambda source, id, _by: source.queue.retry(id), "health"),
    "cancel": button("run", lambda source, id, _by: source.queue.cancel(id), "health"),
    "apply": _deciding("applied"),
    "reject": _deciding("rejected"),
}
