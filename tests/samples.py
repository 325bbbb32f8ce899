"""Logs as a test needs them: requests of ten days, mined as lines, and the words that may be said."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.json import encode
from msgspec.structs import replace

from coreloop.base.categories import Categories
from coreloop.base.date_range import Days
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.read_lines import FileFacts, MineSettings, Reader
from coreloop.learn.facts.schema import find_oddities
from coreloop.learn.mine.folder import Mined, read_folder
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals.allowed_lines import Vocabulary
from logs import GOOD_ANSWER, line, record, word, write_log

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
START = datetime(2026, 4, 1, 9, tzinfo=UTC)
KEYWORDS = ("refund", "exchange", "cancel")


def asked(
    number: int, *calls: dict[str, Any], ok: bool = True, days: int = 10, **changes: Any
) -> dict[str, Any]:
    """A request with a question of its own, on one of some days in turns."""
    when = START + timedelta(days=number % days, seconds=number)
    sound = {"ts": when.isoformat(), "request_id": f"r{number}", "question": f"질문 {word(number)}"}
    return record(**{**sound, "tool_calls": list(calls), "chunk_len": GOOD_ANSWER if ok else 0, **changes})


def rolled(
    records: Iterable[dict[str, Any]], name: str = "2026-04-01", settings: MineSettings | None = None
) -> FileFacts:
    """The file of a file with these records."""
    lines, offset = [], 0
    for one in records:
        lines.append((offset, line(one)))
        offset += len(lines[-1][1])
    return facts_of(lines, settings or mine_settings(), path=Path(f"{name}.jsonl"))


def facts_of(lines: Iterable[tuple[int, bytes]], settings: MineSettings, *, path: Path) -> FileFacts:
    """The facts of lines, each with its offset."""
    reader = Reader(settings)
    reader.read(lines)
    return FileFacts(path, [reader.part()], settings)


def mine_settings(*, keywords: Sequence[str] = KEYWORDS, **changes: Any) -> MineSettings:
    """Settings whose categories know some keywords."""
    return MineSettings(Categories([("RET-all", keywords)]), **changes)


def window_of(records: Iterable[dict[str, Any]], **changes: Any) -> Window:
    """A window of one file."""
    return merge([rolled(records, settings=mine_settings(**changes))], ALWAYS)


def contents(files: Sequence[FileFacts]) -> tuple[list[bytes], list[object]]:
    """All that files say, however they were read: each request of their window, and what is odd in each."""
    window = merge(files, ALWAYS)
    requests = []
    for group in window.requests:
        columns = [group.column(name) for name in sorted(group.table) if name != "spent"]
        firsts = group.column("spent") if group.failed else ()
        columns += [
            [group.durations[first + place] for first in firsts] for place in range(len(group.failed))
        ]
        alike = replace(group.alike, calls=()), group.calls
        rows = zip(group.each(), *columns, strict=True)
        requests += [encode((*alike, one.places, *numbers)) for one, *numbers in rows]
    odd = [find_oddities((file.path, part) for part in file.parts) for file in files]
    return sorted(requests), [window.n_by_day, odd]


def mined(folder: Path, records: Iterable[dict[str, Any]], settings: Settings | None = None) -> Mined:
    """A project of which these are the records."""
    settings = settings or Settings()
    write_log(folder / "log" / "a.jsonl", records)
    return Mined(Workspace(folder, settings), read_folder(folder / "log", MineSettings.of(settings)))


def words(
    *tools: str,
    parameters: Sequence[str] = (),
    literals: Iterable[str] = (),
    handoff: Sequence[str] = (),
    docstring: str = "",
) -> Vocabulary:
    """A vocabulary that defines some tools, all alike."""
    literals = frozenset(literals)
    declared = tuple(parameters), literals, docstring
    listed = frozenset({frozenset(literals)})
    known = {name: Tool(name, "tools.py", name, *declared, listed=listed) for name in tools}
    return Vocabulary(known, Settings(handoff=tuple(handoff)))
