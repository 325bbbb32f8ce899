"""What coreloop.yaml can say of a promotion: the docstring, its checks, the pull request, and its effect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

_AT_LEAST_ONE: Final = {"least": 1}

Framework = Literal["pydantic-ai", "openai-agents", "langchain", "llama-index", "fastmcp", "mcp", "anthropic"]
"""The frameworks whose tools' schemas can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocstringSettings:
    """Where lines go in a docstring, and in which style.

    Attributes
    ----------
    placement : str
        ``first-block``: the end of the first block of text, which every framework sends; ``section``: the end
        of Guide or Caveats, for a project whose schemas include sections.
    style : str
        The style of a section that is added to a docstring without sections.
    sections : tuple of str
        The sections that ``docstring check`` looks for.
    max_lines : int
        Most promoted lines in one place of a description. Where it is full, a new line must be worth more
        than the weakest there, which it replaces.
    max_chars : int
        Most characters of these lines.
    """

    placement: Literal["first-block", "section"] = "first-block"
    style: Literal["numpydoc", "google", "markdown"] = "numpydoc"
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
    max_chars: int = field(default=1_500, metadata=_AT_LEAST_ONE)

    def fits(self, lines: Sequence[str]) -> bool:
        """Whether promoted lines are within what one place of a description takes."""
        return len(lines) <= self.max_lines and sum(map(len, lines)) <= self.max_chars


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """The endpoint that replays example questions.

    Attributes
    ----------
    url : str or None
        Address that receives each question as a POST request. The page on promoting shows the format.
    runs : int
        How many questions are asked in all.
    timeout_s : float
        Seconds to wait for an answer.
    """

    url: str | None = None
    runs: int = field(default=3, metadata=_AT_LEAST_ONE)
    timeout_s: float = field(default=60.0, metadata={"least": 0, "most": 3600})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachSettings:
    """How to read what the model receives: as the framework does, or with a command.

    Attributes
    ----------
    framework : Framework or None
        The agent framework. Requires ``tools``; excludes ``command``.
    tools : str or None
        ``module:attribute`` of the tools, or of a callable that returns them.
    python : str or None
        The Python interpreter that reads the tools. Default: that of the project's ``.venv``, else coreloop's
        own; for ``command``, the ``python`` on the ``PATH``.
    command : tuple of str
        A program and its arguments that print the tools' schemas as JSON. Excludes ``framework``.
    caps : mapping of str to int
        Longest description, in characters, that a model or provider accepts.
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
        Tools for whose calls no model is asked.
    contexts : bool
        Whether what the model had read up to each call is kept in ``audit/contexts``, so that it gets whole
        conversations.
    timeout_s : float
        Seconds to wait for a reply.
    """

    never_ask: tuple[str, ...] = ()
    contexts: bool = False
    timeout_s: float = field(default=600.0, metadata={"least": 1, "most": 86_400})


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeSettings:
    """Where pull requests go.

    Attributes
    ----------
    repo : str or None
        ``owner/name``. Default: taken from the remote's address.
    base : str
        The branch that promotions are merged into.
    max_open : int
        The largest number of promotions that may be open at once.
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
        Days from a merge until every model gets the new description; they are left out. Only for records
        without a ``tools_version``.
    """

    deploy_lag_days: int = field(default=1, metadata={"least": 0, "most": 60})
