"""What coreloop.yaml can say of a promotion: the docstring, its checks, the pull request, and its effect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

_AT_LEAST_ONE: Final = {"least": 1}
MAX_LINE_CHARS: Final = 1_500  # as many as twelve long lines
"""Most characters of the promoted lines in one place of a description."""

Framework = Literal["pydantic-ai", "openai-agents", "langchain", "llama-index", "fastmcp", "mcp", "anthropic"]
"""The frameworks whose tools' schemas can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocstringSettings:
    """Where lines go in a docstring.

    Attributes
    ----------
    placement : str
        ``first-block``: the end of the first block of text, which every framework sends; ``section``: the end
        of Guide or Caveats, for a project whose schemas include sections.
    sections : tuple of str
        The sections that ``docstring check`` looks for; by default numpydoc's, and Guide. With ``Args`` among
        them, a section that is added to a docstring without sections is in Google's style.
    max_lines : int
        Most promoted lines in one place of a description, with 1,500 characters together: a model reads them
        in each request. Where it is full, a new line must be worth more than the weakest there, which it
        replaces.
    """

    placement: Literal["first-block", "section"] = "first-block"
    sections: tuple[str, ...] = (
        "Summary",
        "Description",
        "Parameters",
        "Returns",
        "Raises",
        "Examples",
        "Notes",
        "Guide",
        "See Also",
    )
    max_lines: int = field(default=12, metadata=_AT_LEAST_ONE)

    @property
    def style(self) -> Literal["numpydoc", "google"]:
        """The style of a section that is added to a docstring without sections."""
        return "google" if "Args" in self.sections else "numpydoc"

    def fits(self, lines: Sequence[str]) -> bool:
        """Whether promoted lines are within what one place of a description takes."""
        return len(lines) <= self.max_lines and sum(map(len, lines)) <= MAX_LINE_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """The endpoint that replays example questions.

    Attributes
    ----------
    url : str or None
        Address that receives each question as a POST request. The page on promoting shows the format. If
        absent, nothing is asked: the agent's tools really run.
    """

    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachSettings:
    """How to read what the model receives: as the framework does, or with a command.

    Attributes
    ----------
    framework : Framework or None
        The agent framework; ``init`` writes it where it is sure. Requires ``tools``; excludes ``command``.
    tools : str or None
        A ``module`` with tools, or ``module:attribute`` of the tools, or of a callable that returns them;
        several are separated by commas. With ``framework``.
    python : str or None
        The Python interpreter that reads the tools. Default: that of the project's ``.venv`` or ``venv``,
        else coreloop's own; for ``command``, the ``python`` on the ``PATH``: it has the project's packages.
    command : tuple of str
        A program and its arguments that print the tools' schemas as JSON. None by default: it is run.
        Excludes ``framework``.
    caps : mapping of str to int
        Longest description, in characters, that a model or provider accepts. None by default: they differ.
    """

    framework: Framework | None = None
    tools: str | None = None
    python: str | None = None
    command: tuple[str, ...] = ()
    caps: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSettings:
    """What ``measure`` may ask a model.

    Attributes
    ----------
    never_ask : tuple of str
        Tools for whose calls no model is asked. None by default: no call is made.
    contexts : bool
        Whether what the model had read up to each call is kept in ``audit/contexts``, so that it gets whole
        conversations. Off: results of tools may be private.
    """

    never_ask: tuple[str, ...] = ()
    contexts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeSettings:
    """Where pull requests go.

    Attributes
    ----------
    repo : str or None
        ``owner/name``. Default: taken from the remote's address, which has it.
    base : str
        The branch that promotions are merged into; by default GitHub's.
    max_open : int
        The largest number of promotions that may be open at once: as many as one person reads.
    """

    repo: str | None = None
    base: str = "main"
    max_open: int = field(default=3, metadata=_AT_LEAST_ONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSettings:
    """How ``effect`` judges changes of descriptions.

    Attributes
    ----------
    deploy_lag_days : int
        Days from a merge until every model gets the new description; they are left out. One, for who deploys
        daily. Only for records without a ``tools_version``.
    """

    deploy_lag_days: int = field(default=1, metadata={"least": 0, "most": 60})
