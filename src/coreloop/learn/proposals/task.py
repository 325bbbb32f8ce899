"""What a coding agent is asked to do about an error, in the closed vocabulary alone.

The words are coreloop's; tool, arguments, file and line are of the project's own definition; the rest is
counts, classes of errors and kinds of lines. Nothing that a user or a model wrote can be among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from coreloop.base.messages import number_of
from coreloop.base.project.tools import Tool
from coreloop.learn.line import Advice, Language, in_language
from coreloop.learn.proposals.entry import Count
from coreloop.learn.proposals.vocabulary import Vocabulary, unless

Mender = Literal["merged", "text", "schema", "tool", "policy", "user"]
_ASKED: Final[dict[Mender, str]] = {
    "schema": "Find the check that raises it, and let the parameter's schema say what is accepted.",
    "tool": "Find why the tool raises it, and mend the tool if its callers are not to blame.",
    "policy": "Find which permission is missing, and say in the error whom to ask.",
    "user": "Let the error say what the agent should ask the user for.",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """A line, the calls against it that failed so, and all of them; if ``merged``, those since then."""

    line: Advice
    n_failed: int
    of: int
    merged: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """Failed calls of a tool whose errors differ in values only.

    Attributes
    ----------
    error : str
        The text without values.
    n_calls, n_cases : int
        Failed calls, retries included, and the cases that they are from.
    n_lost : int
        Failed requests among those with such a call.
    n_recovered : int
        Calls after which a later call of the tool worked in the same request.
    n_repeated : int
        Calls that are the third or later of the tool in their request.
    mender : str
        Who can mend it. ``text``: a proposed line is about it; ``merged``: promoted lines explain most of it.
    merged : tuple of str
        The promoted lines that these calls deviate from, each with how many, and how many since the merge.
    n_documented : int
        Calls that follow a promoted line, and came after all of the tool's were merged.
    nearest : tuple of str
        The two lines, not proposed, that separate these calls best and explain most, each with its counts.
    task : str
        See `coreloop.learn.proposals.task`.
    """

    tool: str
    error: str
    error_class: str
    n_calls: Count
    n_cases: Count
    n_lost: Count
    n_recovered: Count
    n_repeated: Count
    mender: Mender
    merged: tuple[str, ...] = ()
    n_documented: Count = 0
    nearest: tuple[str, ...] = ()
    task: str = ""

    def shared(self, words: Vocabulary) -> "ErrorRow":
        """Without the error's text, what is no line of ours, and a tool that is not declared."""
        return replace(self, tool=unless(words.is_known(self.tool), self.tool), error="", nearest=())


def task_of(
    tool: Tool | None, failure: ErrorRow, *, merged: Sequence[Cause] = (), nearest: Sequence[Cause] = ()
) -> str:
    """A text to hand to a coding agent.

    Empty if the project does not define the tool, if a text mends the cause, or if it failed once.
    """
    if tool is None or failure.mender in {"text", "merged"} or failure.n_calls == 1:
        return ""
    seen = f" Its docstring explains some: {_listed(merged, tool)}." if merged else ""
    seen += f" Seen beside it: {_listed(nearest, tool)}." if nearest else ""
    asked = _ASKED[failure.mender]
    if failure.mender == "tool" and failure.n_documented:
        calls = number_of(failure.n_documented, "call")
        asked = f"Find why the tool raises it although {calls} kept to its docstring, and mend the tool."
    return (
        f"The tool {tool.name} failed {failure.n_calls} times with one error (class {failure.error_class}); "
        f"{failure.n_lost} of these requests failed altogether. It is defined in {tool.file}, line "
        f"{tool.line}.{seen} {asked}"
    )


def cause_text(cause: Cause, language: Language = "en", *, named: str = "") -> str:
    """The line, or what it is ``named`` instead, with its counts."""
    line = named or str(cause.line if cause.merged else in_language(cause.line, language))
    if cause.merged:
        since = f"{number_of(cause.n_failed, 'call')} against it, {cause.of:,} of them since"
        return f"{line.removeprefix('- ')}, merged on {cause.merged:%Y-%m-%d}: {since}"
    return f"{line.removeprefix('- ')}: {cause.n_failed:,} of {cause.of:,} calls against it"


def _listed(causes: Sequence[Cause], tool: Tool) -> str:
    return "; ".join(cause_text(cause, named=_kind(cause.line, tool)) for cause in causes)


def _kind(line: Advice, tool: Tool) -> str:
    """``limit (at most)``; an argument that the tool does not have is left out, and so are values."""
    arguments = ", ".join(name for name in tool.parameters if name in line.arguments)
    kind = line.form.replace("_", " ")
    return f"{arguments} ({kind})" if arguments else kind
