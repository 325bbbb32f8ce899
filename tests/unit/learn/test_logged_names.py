"""Tools as clients log them: ``mcp__rooms__book_room``, ``rooms.book_room``."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.learn.propose import RefineResult, refine
from logs import call, failed
from samples import ALWAYS, START, asked, mined

SOURCE = '''
def find_rooms(city):
    """Finds rooms."""


def book_room(room_id, hours=1):
    """Books a room."""
'''


def _rows(find: str, book: str) -> list[dict[str, Any]]:
    """Requests that find a room and book it; more than 4 hours fail, and so does a room from nowhere."""
    rows = []
    for number in range(120):
        found, hours = bool(number // 10 % 3), 5 + number // 3 % 3 if number % 3 == 0 else 1 + number % 4
        sources = {"args_from": {"room_id": [f"{find}.rooms[].id"] if found else []}}
        args = {"room_id": f"r{number}", "hours": hours}
        booked = call(book, args) if found and hours < 5 else failed(book, args)
        rows.append(asked(number, call(find, {"city": "Oslo"}), booked | sources))
    return rows


def _refine(folder: Path, rows: list[dict[str, Any]]) -> RefineResult:
    (folder / "rooms.py").write_text(SOURCE)
    (folder / "main.py").write_text("main = FastMCP('main')\nmain.mount(hotel, namespace='hotel')\n")
    return refine(mined(folder, rows), ALWAYS, now=START)


@pytest.mark.parametrize(
    ("find", "book"),
    [
        ("find_rooms", "book_room"),
        ("mcp__rooms__find_rooms", "mcp__rooms__book_room"),
        ("rooms.find_rooms", "rooms.book_room"),
        ("mcp__rooms__hotel_find_rooms", "mcp__rooms__hotel_book_room"),
        ("hotel_find_rooms", "hotel_book_room"),
    ],
)
def test_a_prefix_maps_to_the_only_tool_of_that_name(find: str, book: str, tmp_path: Path):
    statements = _refine(tmp_path, _rows(find, book)).document.statements
    lines = {statement.line: statement.suggested_append for statement in statements}
    assert {statement.tool for statement in statements} == {"book_room"}
    target = lines["- hours: at most 4"]
    assert target is not None
    assert (target.target_file, target.target_symbol) == ("rooms.py", "book_room")
    assert "- room_id: from find_rooms().rooms[].id" in lines


def test_two_servers_with_a_tool_of_that_name_need_a_setting(tmp_path: Path):
    rows = [
        row
        for server in ("a", "b")
        for row in _rows(f"mcp__{server}__find_rooms", f"mcp__{server}__book_room")
    ]
    refined = _refine(tmp_path, rows)
    assert refined.document.statements == ()
    assert set(refined.found.undefined) == {"mcp__a__book_room", "mcp__b__book_room"}
    assert {row.mender for row in refined.document.errors} == {"schema"}  # there is no text to mend
