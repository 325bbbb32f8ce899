"""The sections of the pages, and the pages as files: without buttons, and without what users wrote."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.files import file_errors, write_public
from coreloop.base.tempfiles import temporary_folder
from coreloop.web.pages.page_data import PageSource
from coreloop.web.pages.render import ASSETS, SECTIONS, Frame, asset, file_path, first_section, render

_MARK: Final = ".coreloop-report"
"""A file of every report: a folder with it may be replaced."""


def write_report(source: PageSource, out: Path) -> list[Path]:
    """Write all pages; an earlier report at the same place is replaced as a whole.

    Parameters
    ----------
    source : PageSource
        What the pages show. Names that neither coreloop.yaml nor the source declares are left out, as are
        questions, answers and causes.
    out : Path
        A folder that is absent or empty, or that has an earlier report.

    Returns
    -------
    list of Path
        The pages.

    Raises
    ------
    UsageError
        The folder has other files.
    WorkspaceError
        The project cannot be read, or the folder cannot be written; an earlier report is then unchanged.
    """
    if out.exists() and not (out.is_dir() and ((out / _MARK).is_file() or not any(out.iterdir()))):
        raise UsageError(f"{out}: has other files; name a new folder, or one with an earlier report")
    shared = replace(source, is_shared=True)
    with file_errors("cannot be written ({strerror})", out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(f".{out.name}.", parent=out.parent) as scratch:
            pages = dict(_pages(shared))
            for file, page in pages.items():
                write_public(scratch / "new" / file, page.encode())
            for name in ASSETS:
                write_public(scratch / "new" / "static" / name, asset(name))
            write_public(scratch / "new" / _MARK, b"")
            if out.exists():
                out.rename(scratch / "old")
            (scratch / "new").rename(out)
    return [out / page for page in pages]


def _pages(source: PageSource) -> Iterator[tuple[str, str]]:
    """Yield the file and the text of each page."""
    first = first_section(source)
    for section in SECTIONS:
        frame = Frame(section=section.name, root="")
        page = render(f"{section.name}.html", frame, section.read(source))
        yield file_path(section.name), page
        if section is first:
            yield file_path(), page
        for name in section.items(source):
            view = section.read_item(source, name)
            if view is not None:
                yield file_path(section.name, name), render(section.item, replace(frame, root="../"), view)
