"""The distribution, its extras, and the answer to a command whose extra is not installed."""

from typing import Final

from coreloop.errors import MissingExtraError

DISTRIBUTION: Final = "dartlab-coreloop"
"""The name to install, as pyproject.toml has it. ``coreloop`` on the public index is an unrelated program."""

CLI_MODULES: Final = frozenset(
    {"ahocorasick_rs", "click", "git", "github", "httpx2", "markdown_it", "msgspec", "polars", "rich", "yaml"}
)
"""What the packages of the extra ``cli`` are imported as."""


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError | None:
    """The error to show if the module that is missing belongs to the extra ``cli``."""
    module = (error.name or "").partition(".")[0]
    return MissingExtraError("cli", feature="the command line") if module in CLI_MODULES else None
