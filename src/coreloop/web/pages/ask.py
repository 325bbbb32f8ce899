"""The section to ask: questions with their answers, and what could not be answered."""

from collections.abc import Mapping
from typing import Final

from coreloop.answer.research.research_state import ASK as ANSWER
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.runs.stores.accounts import RunRow
from coreloop.web.pages.page_data import Button, PageSection, PageSource, View
from coreloop.web.pages.runs import read_one, run_buttons, with_ends

_MAX_SHOWN: Final = 50
_MAX_SEARCHED: Final = 10_000
_MAX_WORDS: Final = 20
_WILDCARDS: Final = frozenset("%_\\")


def read_ask(source: PageSource) -> View:
    """List the questions that have the words of the search field, the newest first, and open gaps."""
    return {
        "search": source.search,
        "question": "",
        "asked": with_ends(source, _having(source, source.search)),
        "gaps": source.tables.gaps()[:_MAX_SHOWN],
    }


def _having(source: PageSource, text: str) -> list[RunRow]:
    """Return the newest questions that have the words of a text."""
    words = text.casefold().split()
    # the database writes these in small letters as Python does, and they have no wildcards
    plain = [word for word in words if not _WILDCARDS & {*word} and (word.isascii() or word == word.upper())]
    limit = _MAX_SHOWN if plain[:_MAX_WORDS] == words else _MAX_SEARCHED
    rows = source.runs.runs(*plain[:_MAX_WORDS], kind=ANSWER, limit=limit)
    return [row for row in rows if all(word in row.question.casefold() for word in words)][:_MAX_SHOWN]


def read_asked(source: PageSource, name: str) -> View | None:
    """Show an answer by its id, by that of a research which deepens it, or by that of its gap."""
    view = read_one(source, name) or read_one(source, _run_of_gap(source, name))
    if view is None or view["run"].kind != RESEARCH:
        return view
    return read_one(source, view["run"].origin) or view


def _run_of_gap(source: PageSource, gap_id: str) -> str:
    """Return the newest question that a gap is about; "" for none."""
    topic = next((gap.topic for gap in source.tables.gaps(open_only=False) if gap.id == gap_id), "")
    rows = _having(source, topic) if topic else ()
    return next((row.run_id for row in rows if row.question == topic), "")


def _close(source: PageSource, form: Mapping[str, str], by: str) -> tuple[str, ...]:
    gap_id = form.get("id", "")
    source.tables.close_gaps(gap_id=gap_id, by=by or "person", now=source.now)
    return ("ask", gap_id) if _run_of_gap(source, gap_id) else ("ask",)


ASK: Final = PageSection(
    name="ask",
    title="Ask",
    read=read_ask,
    item="run.html",
    read_item=read_asked,
    actions={"close": Button(scope="review", run=_close), **run_buttons("ask")},
)
