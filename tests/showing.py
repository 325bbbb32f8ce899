"""Pages in tests, without a service: the page of a section as a reader gets it."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from coreloop.web.pages.page_data import PageSection, PageSource
from coreloop.web.pages.render import Frame, render
from logs import write_log


def log_of(source: PageSource, *records: dict[str, Any], day: str = "2026-04-25") -> Path:
    """Write the records of a day."""
    return write_log(source.workspace.records_dir / f"{day}.jsonl", records)


def page(source: PageSource, section: PageSection, name: str | None = None, **frame: Any) -> str:
    """The page of a section, or that of an item."""
    surrounds = Frame(section=section.name, **frame)
    if name is None:
        return render(f"{section.name}.html", surrounds, section.read(source))
    view = section.read_item(source, name)
    assert view is not None
    return render(section.item, surrounds, view)


def elements(html: str) -> ElementTree.Element:
    """A page as a parser sees it; fails if markup of a text came through."""
    body = re.sub(r"<(meta|link|input|br)([^>]*)>", r"<\1\2/>", html.partition("\n")[2])
    return ElementTree.fromstring(re.sub(r" (defer|autofocus|required)(?=[ >])", r' \1=""', body))


def words_of(html: str) -> str:
    """What a page says, in one line."""
    return " ".join("".join(elements(html).itertext()).split())


def table(html: str, label: str) -> list[list[str]]:
    """The rows of a table, without its heading; texts of a cell are lines."""
    place = next(one for one in elements(html).iter() if one.get("aria-label") == label)
    rows = (
        ["\n".join(filter(None, map(str.strip, cell.itertext()))) for cell in row] for row in place.iter("tr")
    )
    return list(rows)[1:]
