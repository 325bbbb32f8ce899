"""The section on jobs and gaps: what workers do, what answers lack, and what only a person may decide."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from coreloop.web.pages.page_data import Button, PageSection, PageSource

_MAX_SHOWN: Final = 50


def read_work(source: PageSource) -> Mapping[str, Any]:
    """Read the queue's figures, the newest jobs, the dead ones, open gaps and pending suggestions."""
    queue, tables = source.queue, source.tables
    return {
        "figures": queue.metrics(),
        "dead": queue.jobs(status="dead", limit=_MAX_SHOWN),
        "jobs": queue.jobs(limit=_MAX_SHOWN),
        "gaps": tables.gaps()[:_MAX_SHOWN],
        "suggestions": tables.suggestions(status="pending")[:_MAX_SHOWN],
    }


def _button(scope: Literal["run", "review"], act: Callable[[PageSource, str, str], object]) -> Button:
    def run(source: PageSource, form: Mapping[str, str], by: str) -> tuple[str, ...]:
        act(source, form.get("id", ""), by)
        return ("work",)

    return Button(scope=scope, run=run)


def _close(source: PageSource, id: str, by: str) -> None:
    source.tables.close_gaps(gap_id=id, by=by or "person", now=source.now)


WORK: Final = PageSection(
    name="work",
    title="Jobs and gaps",
    read=read_work,
    actions={
        "retry": _button("run", lambda source, id, _by: source.queue.retry(id)),
        "cancel": _button("run", lambda source, id, _by: source.queue.cancel(id)),
        "close": _button("review", _close),
        "apply": _button(
            "review", lambda source, id, _by: source.tables.decide(id, "applied", now=source.now)
        ),
        "reject": _button(
            "review", lambda source, id, _by: source.tables.decide(id, "rejected", now=source.now)
        ),
    },
)
