"""``dartlab-coreloop serve``: the service, its pages as files, and its keys."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.extras import needs_extra
from coreloop.base.files import read_file
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.options import FILE, FOLDER
from coreloop.cli.output import Command, Output, show

if TYPE_CHECKING:
    from coreloop.web.keys import ApiKey


_host = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
_keys = click.option("--keys", "keys_file", type=FILE, help="A file of API keys, as --new-key prints them.")


@click.command(cls=Command)
@_host
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8765, show_default=True, help="0: a free one."
)
@_keys
@click.option("--workers", type=click.IntRange(0, 64), default=4, help="Runs and jobs at once.  [default: 4]")
@click.option("--out", type=FOLDER, help="Only write the pages into this folder, to share or to keep.")
@click.option("--new-key", metavar="NAME", help="Only make an API key; the service keeps its hash alone.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["read", "run", "review", "record"]),
    multiple=True,
    default=["read", "run"],
    show_default=True,
    help="What the new key may do; give it once for each.",
)
def serve(
    host: str,
    port: int,
    *,
    keys_file: Path | None,
    workers: int,
    out: Path | None,
    new_key: str | None,
    scopes: tuple[str, ...],
) -> Output | None:
    """Serve the project over HTTP, or write its pages as files.

    Listens on this machine only, unless there are API keys (CORELOOP_API_KEYS or --keys). SIGTERM lets runs
    stop at a step; another process, or the next start, goes on with them. The pages of --out have no buttons,
    no text of users, and no names that neither coreloop.yaml nor the source declares.

    Example: serve --out report
    """
    if new_key is not None:
        return _make_key(new_key, scopes)
    if out is not None:
        return _write_pages(out)
    try:
        from coreloop.web.server import ListenAddress
        from coreloop.web.server import serve as serve_project
    except ModuleNotFoundError as error:
        raise needs_extra("service", feature="serve") from error
    serve_project(
        open_workspace(Path.cwd()),
        os.environ,
        address=ListenAddress(host=host, port=port),
        keys=_read_keys(keys_file),
        workers=workers,
        tell=lambda url: show(Output({"url": url}, f"serving {url}")),
    )
    return None


@click.command(cls=Command)
@_host
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=4318, show_default=True, help="0: a free one."
)
@_keys
def receive(host: str, port: int, *, keys_file: Path | None) -> None:
    """Turn spans of any OpenTelemetry exporter into records.

    In any language, set OTEL_EXPORTER_OTLP_ENDPOINT to the address that it prints: http/protobuf or json.
    A trace becomes a record some seconds after its outermost span ended. What was taken is on disk. `serve`
    takes spans, too. Beyond this machine, exporters need API keys of the scope record.

    Example: receive --port 4318
    """
    try:
        from coreloop.web.server import ListenAddress
        from coreloop.web.server import receive as receive_spans
    except ModuleNotFoundError as error:
        raise needs_extra("receive", feature="receive") from error
    receive_spans(
        open_workspace(Path.cwd()),
        address=ListenAddress(host=host, port=port),
        keys=_read_keys(keys_file),
        tell=lambda url: show(Output({"url": url}, f"receiving; set OTEL_EXPORTER_OTLP_ENDPOINT={url}")),
    )


def _read_keys(file: Path | None) -> "tuple[ApiKey, ...]":
    from coreloop.web.keys import VARIABLE, read_keys

    text = read_file(file).decode("utf-8", "replace") if file else ""
    return read_keys(f"{text}\n{os.environ.get(VARIABLE, '')}")


def _make_key(name: str, scopes: tuple[str, ...]) -> Output:
    from coreloop.web.keys import new_key

    key, entry = new_key(name, dict.fromkeys(scopes))
    return Output({"key": key, "entry": entry}, f"key    {key}\nentry  {entry}")


def _write_pages(out: Path) -> Output:
    try:
        from coreloop.learn.proposals.proposal_files import damaged_files
        from coreloop.web.pages.page_data import open_source
        from coreloop.web.pages.report import write_report
    except ModuleNotFoundError as error:
        raise needs_extra("service", feature="serve --out") from error
    workspace = open_workspace(Path.cwd())
    with open_source(workspace, os.environ) as source:
        pages = write_report(source, out)
    written = f"wrote {number_of(len(pages), 'page')}; begin with {out / 'index.html'}"
    return Output({"pages": pages}, written, map(printable, damaged_files(workspace)))
