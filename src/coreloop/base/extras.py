"""The distribution, its extras, and the line that installs an extra from where coreloop was installed."""

from pathlib import Path
from typing import Any, Final

from coreloop.base.errors import MissingExtraError

DISTRIBUTION: Final = "dartlab-coreloop"
"""The name to install, as pyproject.toml has it. ``coreloop`` on the public index is an unrelated program."""

CLI_MODULES: Final = frozenset(
    {"ahocorasick_rs", "click", "git", "httpx2", "markdown_it", "msgspec", "polars", "yaml"}
)
"""What the packages of the extra ``cli`` are imported as."""
_CHECKOUT: Final = Path(__file__).parents[3]


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError | None:
    """The error to show if the module that is missing belongs to the extra ``cli``."""
    module = (error.name or "").partition(".")[0]
    return needs_extra("cli", feature="the command line") if module in CLI_MODULES else None


def needs_extra(extra: str, *, feature: str) -> MissingExtraError:
    """Return the error of a feature whose extra is not installed."""
    return MissingExtraError(needs(extra, feature=feature))


def needs(extra: str, *, feature: str) -> str:
    """Say that a feature needs an extra, and how to install it."""
    return f"{feature} needs an extra; install it: {install_line(extra)}"


def install_line(extra: str) -> str:
    """Return the command that installs an extra of the coreloop that runs.

    It names where this coreloop was installed from, by the installer's own record (PEP 610), since an index
    gives whatever has the name there. Without a record it was installed by name: then name and version.
    """
    import json  # imported here: agents start without them
    import shlex
    from importlib.metadata import Distribution, PackageNotFoundError

    by_uv = False
    try:
        distribution = Distribution.from_name(DISTRIBUTION)
        by_uv = (distribution.read_text("INSTALLER") or "").strip() == "uv"  # its environments have no pip
        record = json.loads(distribution.read_text("direct_url.json") or "null")
        words = _from(record, extra) if record else [f"{DISTRIBUTION}[{extra}]=={distribution.version}"]
    except (PackageNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        words = ["-e", f"{_CHECKOUT}[{extra}]"]  # run from a source tree
    return shlex.join([*(["uv"] if by_uv else []), "pip", "install", *words])


def _from(record: dict[str, Any], extra: str) -> list[str]:
    """Return what to install, as words of a command."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    url, folder, vcs = record["url"], record.get("subdirectory", ""), record.get("vcs_info")
    if url.startswith("file:") and not vcs:
        is_editable = record.get("dir_info", {}).get("editable", False)
        return [*(["-e"] if is_editable else []), f"{url2pathname(urlsplit(url).path)}[{extra}]"]
    address = f"{vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else url
    return [f"{DISTRIBUTION}[{extra}] @ {address}" + (f"#subdirectory={folder}" if folder else "")]
