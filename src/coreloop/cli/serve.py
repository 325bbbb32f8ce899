"""``dartlab-coreloop serve``."""

import os
from pathlib import Path

import click

from coreloop.base.extras import needs_extra
from coreloop.base.files import read_file
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.emit import emit
from coreloop.cli.options import FILE, json_option


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8765, show_default=True, help="0: a free one."
)
@click.option("--keys", "keys_file", type=FILE, help="A file of API keys, as `serve-key` prints them.")
@click.option("--workers", type=click.IntRange(0, 64), help="Runs and jobs at once.  [default: the setting]")
@json_option
def command(host: str, port: int, *, keys_file: Path | None, workers: int | None, as_json: bool) -> None:
    """Serve the project over HTTP: questions, runs, search, metrics.

    Listens on this machine only, unless there are API keys (CORELOOP_API_KEYS or --keys). SIGTERM lets runs
    stop at a step; another process, or the next start, goes on with them.
    """
    try:
        from coreloop.web.keys import VARIABLE, read_keys
        from coreloop.web.server import ListenAddress, serve
    except ModuleNotFoundError as error:
        raise needs_extra("service", feature="serve") from error
    text = read_file(keys_file).decode("utf-8", "replace") if keys_file else ""
    keys = read_keys(f"{text}\n{os.environ.get(VARIABLE, '')}")

    def tell(url: str) -> None:
        emit({"url": url}, as_json=as_json, text=f"serving {url}", is_compact=True)

    serve(
        open_workspace(Path.cwd()),
        os.environ,
        address=ListenAddress(host=host, port=port),
        keys=keys,
        workers=workers,
        tell=tell,
    )
