"""The page of ``look``: one file without scripts, so that it opens anywhere; texts are masked and escaped."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.files import read_file, write_private
from coreloop.base.messages import number_of
from coreloop.base.text import printable
from coreloop.learn.look import ArgumentOrigin, Looked
from coreloop.learn.proposals.counterexamples import ErrorRow
from coreloop.learn.proposals.statements import Statement
from coreloop.sanitize.mask_text import Numbering, mask_text

_MARK: Final = "<!-- written by dartlab-coreloop look -->"
_Mask = Callable[[str], str]
_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 0 0 2rem; }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8884; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
code { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e6e6; } }
"""


def check_page_place(path: Path) -> None:
    """Refuse a file that is not such a page, before traces are read for it.

    Raises
    ------
    UsageError
        The file exists and is not such a page.
    WorkspaceError
        It is not a regular file, or cannot be read.
    """
    if (path.is_symlink() or path.exists()) and not read_file(path).startswith(_MARK.encode()):
        raise UsageError(f"{path} exists and is not a page of look; name another file")


def write_look_page(looked: Looked, path: Path) -> None:
    """Write the page, after the check; raises as `check_page_place`, and if the disk is full."""
    check_page_place(path)
    write_private(path, look_page(looked).encode())


def look_page(looked: Looked) -> str:
    """Render the page: errors, statements, origins of arguments, and what the traces lack.

    The rules of ``sanitize`` replace private data by labels, which are numbered within the page.
    """
    mask = partial(mask_text, label=Numbering())
    body = [
        *_summary(looked),
        *_table(
            "Errors",
            "Requests are lost if they failed as a whole.",
            ("tool", "error, without values", "calls", "cases", "lost", "recovered", "who can mend it"),
            map(_error_row, looked.errors),
            mask,
        ),
        *_table(
            "Calls that do not follow these lines nearly always fail",
            "Calls that follow a line, and calls that do not: how many of them succeeded.",
            ("tool", "line", "follows", "otherwise"),
            map(_statement_row, looked.statements),
            mask,
        ),
        *_table(
            "Where arguments come from",
            "The nearest earlier place of an argument's value: a field of a result, or the question.",
            ("tool", "argument", "values", "places"),
            map(_argument_row, looked.arguments),
            mask,
        ),
        *_missing(looked, mask),
    ]
    head = f'<meta charset="utf-8"><title>What these traces say</title><style>{_STYLE}</style>'
    start = f"{_MARK}<!doctype html><html lang=en><head>{head}</head><body>"
    return "\n".join([start, *body, "</body></html>", ""])


def _summary(looked: Looked) -> Iterable[str]:
    report = looked.report
    summary = (
        f"{number_of(looked.n_requests, 'request')}, {looked.n_failed:,} failed; "
        f"{number_of(report.tools.total(), 'call')} of {number_of(len(report.tools), 'tool')}; "
        f"{report.first_day} to {report.last_day}"
    )
    formats = ", ".join(f"{name} ({number_of(n, 'file')})" for name, n in looked.formats.items())
    yield "<h1>What these traces say</h1>"
    yield f"<p>{_text(summary)}. {_text(formats)}.</p>"
    yield from (f"<p>{_text(line)}</p>" for line in looked.unseen.lines())


def _error_row(row: ErrorRow) -> list[str | int]:
    error = row.error or row.error_class
    return [row.tool, error, row.n_calls, row.n_cases, row.n_lost, row.n_recovered, row.mender]


def _statement_row(statement: Statement) -> list[str | int]:
    sides, line = statement.sides, statement.line.removeprefix("- ")
    follows, otherwise = f"{sides.n_ok:,} of {sides.n:,}", f"{sides.other_ok:,} of {sides.other_n:,}"
    return [statement.tool, line, follows, otherwise]


def _argument_row(origin: ArgumentOrigin) -> list[str | int]:
    places = ", ".join(f"{place} {share:.0%}" for place, share in origin.places)
    return [origin.tool, origin.argument, origin.n_values, places]


def _missing(looked: Looked, mask: _Mask) -> Iterable[str]:
    yield "<h2>Missing for more</h2>"
    yield from (f"<p>{_text(mask(text))}</p>" for text in looked.missing)
    for reason, n in sorted(looked.report.skipped.items()):
        yield f"<p>Skipped: {n:,}, {_text(reason)}</p>"


def _table(
    title: str, caption: str, names: Sequence[str], rows: Iterable[Sequence[str | int]], mask: _Mask
) -> Iterable[str]:
    rows = list(rows)
    if not rows:
        return
    yield f"<h2>{_text(title)}</h2><p>{_text(caption)}</p><table><tr>"
    yield "".join(f"<th>{_text(name)}</th>" for name in names)
    yield "</tr>"
    for row in rows:
        yield f"<tr>{''.join(_cell(value, mask) for value in row)}</tr>"
    yield "</table>"


def _cell(value: str | int, mask: _Mask) -> str:
    return (
        f"<td class=number>{value:,}</td>"
        if isinstance(value, int)
        else f"<td><code>{_text(mask(value))}</code></td>"
    )


def _text(text: str) -> str:
    return escape(printable(text))
