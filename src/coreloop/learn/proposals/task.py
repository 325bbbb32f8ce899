"""What a coding agent is asked to do about an error, in the closed vocabulary alone.

The words are coreloop's; tool, file and line are of the project's own definition; the rest is counts and
classes of errors. Nothing that a user or a model wrote can be among them.
"""

from dataclasses import dataclass
from typing import Final, Literal

from coreloop.base.project.tools import Tool
from coreloop.base.untrusted import with_untrusted
from coreloop.learn.proposals.entry import Count
from coreloop.learn.proposals.vocabulary import Vocabulary

Mender = Literal["merged", "text", "schema", "tool", "policy", "user"]
_ASKED: Final[dict[Mender, str]] = {
    "schema": "Find the check that raises it, and let the parameter's schema say what is accepted.",
    "tool": "Find why the tool raises it, and mend the tool if its callers are not to blame.",
    "policy": "Find which permission is missing, and say in the error whom to ask.",
    "user": "Let the error say what the agent should ask the user for.",
}


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
    mender : str
        Who can mend it. ``text``: a proposed line is about it; ``merged``: promoted lines explain most of it.
    merged : tuple of str
        The promoted lines that these calls deviate from, each with how many, and how many since the merge.
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
    mender: Mender
    merged: tuple[str, ...] = ()
    task: str = ""

    def labelled(self, words: Vocabulary) -> dict[str, object]:
        """The fields as JSON has them; the error, and an undeclared tool, in fields ``untrusted_…``."""
        names = () if words.is_known(self.tool) else ("tool",)
        return dict.fromkeys(names) | with_untrusted(self, "error", *names)


def task_of(tool: Tool | None, failure: ErrorRow) -> str:
    """A text to hand to a coding agent.

    Empty if the project does not define the tool, if a text mends the cause, or if it failed once.
    """
    if tool is None or failure.mender in {"text", "merged"} or failure.n_calls == 1:
        return ""
    return (
        f"The tool {tool.name} failed {failure.n_calls} times with one error (class {failure.error_class}); "
        f"{failure.n_lost} of these requests failed altogether. It is defined in {tool.file}, line "
        f"{tool.line}. {_ASKED[failure.mender]}"
    )
