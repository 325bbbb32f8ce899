"""Text: what begins a part of markup, data or code decides its sections; any other text is one section.

Lines decide, not a parser: offsets stay those of the file.
"""

import csv
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from coreloop.answer.search.extract.document import MAX_SECTIONS, Document, Section, Unreadable, clean_text
from coreloop.answer.search.extract.file_date import date_in_name

SEPARATOR: Final = " › "
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_MAX_HEADING: Final = 200
_MAX_DEPTH: Final = 8  # of the headings above a passage; a hostile file nests thousands
_MAX_LINE: Final = 20_000  # of data and code; a longer one is generated
_MAX_DATA: Final = 2_000_000  # characters, as above
_MAX_PRINTED: Final = 1_000  # of a cell of a notebook
# NAME=value, export NAME=value, "# NAME=value", "# what it is"; what follows the group is cut
_VALUE: Final = re.compile(r"^([ \t#]*(?:export[ \t]+)?[\w.-]+[ \t]*=|[ \t]*#[^\n=]*|).*$", re.MULTILINE)
_FRONT: Final = re.compile(r"\A---\n(?P<fields>(?:[^\n]*\n){0,50}?)---\s*\n")
# Names in front matter, the one that says most of the text as it is first.
_DATED: Final = ("updated", "last_updated", "lastmod", "modified", "date", "published", "created")
Heading = tuple[int, int, str]  # offset, level and text
# Comments, decorators and annotations, which belong to what they stand above.
_ABOVE: Final = r"(?:^[ \t]*(?://|/?\*|\#|--|;|@\w)[^\n]*\n){0,60}+"
# By name, a line of syntaxes.tsv: suffixes; the type of the document; what begins a part, with ``mark``,
# whose length is its level, and ``title``, or with ``line``, the mark below it; what no part begins in. A
# value that has nothing below it has no title.
_TABLE: Final = Path(__file__).with_name("syntaxes.tsv").read_text("utf-8").replace("{above}", _ABOVE)
SYNTAXES: Final = {line.partition("\t")[0]: tuple(line.split("\t")[1:]) for line in _TABLE.splitlines()[1:]}
FENCED: Final = re.compile(SYNTAXES["markdown"][3], re.DOTALL | re.MULTILINE)
"""A fence, and all before the fence that closes it."""


def plain_document(text: str) -> Document:
    """Return a text as a document of one section."""
    return Document(type="text", text=text, sections=(Section(0, len(text)),))


def extract_markdown(text: str) -> Document:
    """Read a Markdown file; the title is of its front matter or its first heading."""
    end = text.rfind("-->") + 3  # a comment without an end is none; white space keeps offsets and lines
    text = _COMMENT.sub(lambda match: re.sub(r"\S", " ", match[0]), text[:end]) + text[end:]
    front = _FRONT.match(text)
    fields = dict(line.partition(":")[::2] for line in front["fields"].splitlines()) if front else {}
    dates = (date_in_name(fields.get(name, "")) for name in _DATED)
    title = fields.get("title", "").strip(" \t\"'")[:_MAX_HEADING]
    document = marked(text, "markdown", begins=front.end() if front else 0)
    return replace(document, title=title or document.title, published=next(filter(None, dates), ""))


def extract_marked(text: str, *, name: str) -> Document | Unreadable:
    """Read a text by what begins its parts, unless it is what a program has written for programs."""
    is_long = len(text) > _MAX_DATA or max(map(len, text.split("\n"))) > _MAX_LINE
    if is_long and SYNTAXES[name][1] in {"data", "code"}:
        return Unreadable("data or code of more than 2 MB, or with a line of more than 20,000 characters")
    return marked(text, name)


def marked(text: str, name: str, *, begins: int = 0) -> Document:
    """Return a text with a section for each of its parts, whatever its size."""
    kind = SYNTAXES[name][1]
    sections = tuple(_sections(text, _headings(text, name, begins), kind))
    first = next((part.heading for part in sections if part.heading), "").split(SEPARATOR)[0]
    return Document(type=kind, text=text, title=first * (kind in {"text", "markdown"}), sections=sections)


def _sections(text: str, headings: Iterable[Heading], kind: str) -> Iterator[Section]:
    """Yield a section for each heading; of data, for each run of values with the same keys above them."""
    start, owner, path = 0, "", list[tuple[int, str]]()
    parts, is_data = [*islice(headings, MAX_SECTIONS), (len(text), -1, "")], kind == "data"
    for (offset, level, title), (_, below, _) in pairwise(parts):
        path = [*(above for above in path if above[0] < level), (level, title[:_MAX_HEADING])][-_MAX_DEPTH:]
        shown = path[:-1] if is_data and below <= level else path
        here = (SEPARATOR if kind != "python" else ".").join(name for _, name in shown if name)
        if offset > start and (here != owner or (title and not is_data)):
            yield Section(start, offset, None, owner)
            start = offset
        owner = here
    if start < len(text):
        yield Section(start, len(text), None, owner)


def _headings(text: str, name: str, begins: int) -> Iterator[Heading]:
    """Yield the headings outside of what is fenced; marks below titles are levels in their order."""
    (_, kind, start, holds_none), flags = SYNTAXES[name], re.MULTILINE | re.IGNORECASE
    fences = [fence.span() for fence in re.finditer(holds_none, text, flags | re.DOTALL)]
    lines = {"=": 1, "-": 2} if kind == "markdown" else {}
    for match in re.compile(start, flags).finditer(text, begins):
        parts = match.groupdict("")
        title, line = parts["title"].rstrip(), parts.get("line", "")
        if is_inside(match.start(), fences):
            continue
        if not line:
            level = len(parts.get("mark", "").expandtabs(4))
            is_leaf = kind == "data" and not title
            yield match.start(), _MAX_HEADING if is_leaf else level, title.rstrip("#").strip(" \t\"'`")
        elif kind == "markdown" or match.end() - match.end("title") - 1 >= len(title):
            yield match.start(), lines.setdefault(line, len(lines)), title


def is_inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place is in one of some spans, which are in order."""
    before = bisect_right(spans, (place, place)) - 1
    return before >= 0 and spans[before][0] <= place < spans[before][1]


def extract_json(text: str) -> Document | Unreadable:
    """Read JSON; what is on few lines, or has escapes for letters, is written as people read it."""
    shown = text
    if '"untrusted_text":' in text or ('"final_answer":' in text and '"verdict":' in text):
        return Unreadable("output of coreloop, which is evidence of nothing")
    if len(text) <= _MAX_DATA and ("\\u" in text or text.count("\n") < len(text) // 1_000):
        with suppress(ValueError, RecursionError):
            shown = clean_text(json.dumps(json.loads(text), ensure_ascii=False, indent=1))
    document = extract_marked(shown, name="json")
    return document if shown == text or isinstance(document, Unreadable) else without_lines(document, "data")


def extract_notebook(text: str) -> Document | Unreadable:
    """Read a notebook as Markdown; code and what it printed stand in fences."""
    try:
        cells = [_cell(cell) for cell in json.loads(text)["cells"]]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return Unreadable("damaged notebook")
    return without_lines(extract_markdown(clean_text("\n\n".join(cells))), "notebook")


def _cell(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return source
    shown = (one.get("text") or one.get("data", {}).get("text/plain", "") for one in cell["outputs"])
    parts = (source, *("".join(text)[:_MAX_PRINTED] for text in shown))
    return "\n\n".join(f"```\n{part}\n```" for part in parts if part)


def without_lines(document: Document, kind: str) -> Document:
    """Return a document whose lines are not those of its file."""
    return replace(document, type=kind, sections=tuple(replace(part, line=0) for part in document.sections))


def extract_env(text: str) -> Document:
    """Read a file of environment variables: names and comments; no value reaches the index."""
    return marked(_VALUE.sub(r"\1", text), "toml")


def extract_csv(text: str) -> Document | Unreadable:
    """Read a table: its columns are the heading, and each row says what it has of them, on its line."""
    first = text.partition("\n")[0]
    delimiter = "\t" if "\t" in first else max(",;|", key=first.count)
    rows = csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter)
    try:
        names, line = ", ".join(rows.fieldnames or ())[:_MAX_HEADING], 1
        shown = names
        for row in rows:
            pairs = "; ".join(f"{name}: {value}" for name, value in row.items() if name and value)
            shown += "\n" * (rows.line_num - line) + f"- {' '.join(pairs.split())}"
            line = rows.line_num
    except csv.Error:
        return Unreadable("damaged table")
    return Document(type="table", text=shown, sections=(Section(0, len(shown), None, names),))


MAX_PASSAGE_CHARS: Final = 1_500
_BREAKS: Final = ("\n\n", "\n", ". ", " ")
# Code or an item of a list, which a line above may announce.
_GOES_ON: Final = re.compile(r"\n\n\s*(?:`{3}|~{3}|[-*+]\ |\d{1,3}[.)]\ |\ {4})")


class Passage(NamedTuple):
    """A passage of a document; ``text`` is ``document.text[start:end]``."""

    start: int
    end: int
    line: int
    heading: str
    text: str
    published: str


def split_passages(document: Document) -> Iterator[Passage]:
    """Yield the passages of a document in order, without the white space between them."""
    line, counted_to = 1, 0
    for section in document.sections:
        for start, end in _cuts(document.text, section):
            line += document.text.count("\n", counted_to, start)
            counted_to = start
            place = line if section.line is None else section.line
            yield Passage(start, end, place, section.heading, document.text[start:end], section.published)


def _cuts(text: str, section: Section) -> Iterator[tuple[int, int]]:
    code = [match.span() for match in FENCED.finditer(text, section.start, section.end)]
    start = section.start
    while start < section.end:
        end = _cut(text, start, section.end, code)
        if part := text[start:end].strip():
            first = text.index(part, start)
            yield first, first + len(part)
        start = end


def _cut(text: str, start: int, end: int, code: Sequence[tuple[int, int]]) -> int:
    """Where a passage ends: at a paragraph, a line, a sentence, a word, or anywhere.

    Code that fits stays whole, and code and items of a list stay with the line that announces them.
    """
    if end - start <= MAX_PASSAGE_CHARS:
        return end
    latest = start + MAX_PASSAGE_CHARS
    earliest = start + MAX_PASSAGE_CHARS // 4
    while (place := text.rfind("\n\n", earliest, latest)) >= 0:
        if not is_inside(place, code) and not _GOES_ON.match(text, place):
            return place + 2
        latest = place
    latest = start + MAX_PASSAGE_CHARS
    for mark in _BREAKS:
        place = text.rfind(mark, start + MAX_PASSAGE_CHARS // 2, latest)
        if place >= 0:
            return place + len(mark)
    return latest
