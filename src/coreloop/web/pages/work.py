"""The section on jobs and gaps: what workers do, what answers lack, and what only a person may decide."""

from collections.abc import Mapping
from typing import Any, Final

from coreloop.answer.repair.feedback import apply_suggestion, reject_suggestion
from coreloop.web.pages.page_data import PageSource
from coreloop.web.pages.section import Button, PageSection

_MAX_SHOWN: Final = 50
_PATH: Final = ("work",)


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


def _retry(source: PageSource, form: Mapping[str, str], _by: str) -> tuple[str, ...]:
    source.queue.retry(form.get("id", ""))
    return _PATH


def _cancel(source: PageSource, form: Mapping[str, str], _by: str) -> tuple[str, ...]:
    source.queue.cancel(form.get("id", ""))
    return _PATH


def _close(source: PageSource, form: Mapping[str, str], by: str) -> tuple[str, ...]:
    source.tables.close_gap(form.get("id", ""), by=by or "person", now=source.now)
    return _PATH


def _apply(source: PageSource, form: Mapping[str, str], _by: str) -> tuple[str, ...]:
    apply_suggestion(source.workspace, source.tables, form.get("id", ""), now=source.now)
    return _PATH


def _reject(source: PageSource, form: Mapping[str, str], _by: str) -> tuple[str, ...]:
    reject_suggestion(source.tables, form.get("id", ""), now=source.now)
    return _PATH


WORK: Final = PageSection(
    name="work",
    title="Jobs and gaps",
    read=read_work,
    actions={
        "retry": Button(scope="run", run=_retry),
        "cancel": Button(scope="run", run=_cancel),
        "close": Button(scope="review", run=_close),
        "apply": Button(scope="review", run=_apply),
        "reject": Button(scope="review", run=_reject),
    },
)
