"""The section to ask: questions with their answers, and what could not be answered."""

from typing import Final

from coreloop.answer.research.research_state import ASK as ANSWER
from coreloop.web.pages.page_data import PageSection, PageSource, View, button
from coreloop.web.pages.runs import read_one, read_rejected

_MAX_SHOWN: Final = 50
_MAX_SEARCHED: Final = 10_000


def read_ask(source: PageSource) -> View:
    """List the questions that have the words of the search field, the newest first, and open gaps."""
    words = source.search.casefold().split()
    rows = source.runs.runs(kind=ANSWER, limit=_MAX_SEARCHED if words else _MAX_SHOWN)
    asked = [row for row in rows if all(word in row.question.casefold() for word in words)]
    return {
        "search": source.search,
        "asked": asked[:_MAX_SHOWN],
        "rejected": read_rejected(source),
        "gaps": source.tables.gaps()[:_MAX_SHOWN],
    }


def _close(source: PageSource, gap_id: str, by: str) -> None:
    source.tables.close_gaps(gap_id=gap_id, by=by or "person", now=source.now)


ASK: Final = PageSection(
    name="ask",
    title="Ask",
    read=read_ask,
    item="run.html",
    read_item=read_one,
    actions={"close": button("review", _close, "ask")},
)
