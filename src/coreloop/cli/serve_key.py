"""``dartlab-coreloop serve-key``."""

import click

from coreloop.cli.emit import emit
from coreloop.cli.options import json_option


@click.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["read", "run", "review"]),
    multiple=True,
    default=["read", "run"],
    show_default=True,
    help="What the key may do; give it once for each.",
)
@json_option
def command(name: str, scopes: tuple[str, ...], as_json: bool) -> None:
    """Make an API key for `serve`. It is shown once; the service keeps only its hash.

    Put the entry into the file of `serve --keys`, or into CORELOOP_API_KEYS.
    """
    from coreloop.web.keys import new_key

    key, entry = new_key(name, dict.fromkeys(scopes))
    shown = f"key    {key}\nentry  {entry}"
    emit({"key": key, "entry": entry}, as_json=as_json, text=shown)
