"""Ids that an agent confuses with names: the line says where the id comes from, not how it is written."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.line import statement_key
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import merge
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.entry import CAVEATS
from coreloop.learn.statements.findings import to_statements
from coreloop.learn.statements.logged_calls import read_log
from coreloop.learn.statements.search import search_tools
from logs import call, failed, on_days, record, write_log
from samples import ALWAYS

SOURCE = '''
def find_hotels(city):
    """Finds hotels."""


def book(hotel_id):
    """Books a room."""
'''
ID, NAME = "find_hotels.hotels[].id", "find_hotels.hotels[].name"
FROM = "- hotel_id: from find_hotels().hotels[].id"
LOWER = "- hotel_id: in lower case"
NAMES = ("Astoria", "Bristol", "Carlton", "Drake", "Excelsior", "Fairmont")


def _lines(folder: Path, records: Iterator[dict[str, Any]], *rejected: str) -> list[str]:
    (folder / "desk.py").write_text(SOURCE)
    write_log(folder / "log" / "a.jsonl", on_days(list(records)))
    log = read_log(merge(read_folder(folder / "log", MineSettings()), ALWAYS), {})
    words = Vocabulary(resolve_tools(set(log.tools), Workspace(folder, Settings())), Settings())
    keys = frozenset(statement_key("book", line, CAVEATS) for line in rejected)
    return [statement.line for statement, _ in to_statements(search_tools(log, words, {}, keys), log)]


def _desk(wrong: Callable[[Random], tuple[str, list[str]]]) -> Iterator[dict[str, Any]]:
    """Bookings by sessions of their own, of which a third pass something else than the hotel's id."""
    rng = Random(7)
    for number in range(120):
        hotel_id, sources = f"htl{rng.choice('abcdef')}{rng.randrange(10**4)}", [ID]
        is_wrong = number % 3 == 0
        if is_wrong:
            hotel_id, sources = wrong(rng)
        booked = (failed if is_wrong else call)("book", {"hotel_id": hotel_id})
        calls = [call("find_hotels", {"city": "Wien"}), {**booked, "args_from": {"hotel_id": sources}}]
        yield record(
            question=f"a room for guest {number}", tool_calls=calls, session_hash=f"session:{number:08x}"
        )


def test_a_name_in_place_of_an_id_is_said_by_the_id_s_source(tmp_path: Path) -> None:
    assert _lines(tmp_path, _desk(lambda rng: (rng.choice(NAMES), [NAME]))) == [FROM]


def test_an_id_in_capitals_that_no_result_had_is_said_by_how_it_is_written(tmp_path: Path) -> None:
    assert _lines(tmp_path, _desk(lambda rng: (f"HTL{rng.randrange(10**4)}", []))) == [LOWER]


def test_after_a_rejection_what_else_explains_the_failures_is_said(tmp_path: Path) -> None:
    def wrong(rng: Random) -> tuple[str, list[str]]:
        return f"HTL{rng.randrange(10**4)}", []

    assert _lines(tmp_path, _desk(wrong), LOWER) == [FROM]
    assert _lines(tmp_path, _desk(wrong), LOWER, FROM) == []


@pytest.mark.parametrize("names", [NAMES, [f"Guest {number}" for number in range(90)]])
def test_a_name_in_place_of_a_number_is_found_though_it_identifies_nobody(
    names: list[str], tmp_path: Path
) -> None:
    """Requests without an identifier are of different customers, not of one."""

    def records() -> Iterator[dict[str, Any]]:
        rng = Random(3)
        for number in range(120):
            is_wrong = number % 4 == 0
            value = rng.choice(names) if is_wrong else f"{rng.randrange(10**7, 10**8)}"
            calls = [(failed if is_wrong else call)("book", {"hotel_id": value})]
            yield record(
                question=f"room {number}", tool_calls=calls, session_hash=f"session:{number:08x}"
            ) | ({} if is_wrong else {"case": [f"{number:08x}"]})

    assert _lines(tmp_path, records()) == ["- hotel_id: a whole number"]
