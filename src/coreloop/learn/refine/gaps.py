"""Knowledge gaps that name a tool: what its users asked and no source of the project says."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from coreloop.answer.repair.store import has_repair_store, open_repair_store
from coreloop.base.project.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ToolGaps:
    """Open gaps of a tool.

    Attributes
    ----------
    tool : str
        Of coreloop.yaml.
    reason : str
        Of the signal that the answers raised.
    n_questions, n_asked : int
        Different questions, and how often they were asked.
    """

    tool: str
    reason: str
    n_questions: int
    n_asked: int


def read_tool_gaps(workspace: Workspace, environ: Mapping[str, str]) -> list[ToolGaps]:
    """Count the open gaps whose symbol is a tool of the project, those asked most often first.

    Parameters
    ----------
    workspace : Workspace
        Its tools; a project that never answered a question has no gaps.
    environ : mapping of str to str
        As for `coreloop.answer.repair.store.open_repair_store`, which raises the errors.
    """
    if not (workspace.settings.tools and has_repair_store(workspace, environ)):
        return []
    questions, asked = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    with open_repair_store(workspace, environ=environ) as tables:
        for gap in tables.gaps():
            tool = gap.symbol.rpartition(".")[2]
            if tool in workspace.settings.tools:
                questions[tool, gap.reason] += 1
                asked[tool, gap.reason] += gap.seen
    return [ToolGaps(*key, questions[key], count) for key, count in asked.most_common()]
