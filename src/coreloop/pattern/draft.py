"""The text of a candidate: docstring lines built from closed vocabularies, or the reason why there are none.

A question, a word of a question, an argument's value or an error's text never gets here: the inputs are tool
names, argument names of the signature, selector values that the source or coreloop.yaml declares, category
labels with the keywords of coreloop.yaml, counts and dates.
"""

from collections.abc import Mapping
from dataclasses import replace

from coreloop.pattern.candidates import SECTION, Candidate, Step, SuggestedAppend, target_step
from coreloop.records import UNSPECIFIED, is_category
from coreloop.settings import Settings
from coreloop.text import MAX_LINE_CHARS, is_tool_name, refuse_line
from coreloop.tools import Tool, Unresolved


def draft(candidate: Candidate, tools: Mapping[str, Tool | Unresolved], settings: Settings) -> Candidate:
    """Give a candidate its proposed text and target.

    Parameters
    ----------
    candidate : Candidate
        As found.
    tools : mapping of tool name to Tool or Unresolved
        Definitions of the pattern's tools.
    settings : Settings
        Keywords and declared axes.

    Returns
    -------
    Candidate
        With ``suggested_append``, or with ``refused``: the reason why no text may be proposed.
    """
    lines = guide_lines(candidate, tools, settings)
    target = tools.get(target_step(candidate.tool_pattern).name)
    refused = _refuse(candidate, lines)
    if refused is None and isinstance(target, Tool):
        refused = _refuse_companion(candidate, tools, settings)
    if refused is not None:
        return replace(candidate, refused=refused)
    file, symbol = (target.file, target.qualname) if isinstance(target, Tool) else (None, None)
    suggested = SuggestedAppend(file, symbol, SECTION, "\n".join(lines))
    return replace(candidate, suggested_append=suggested)


def guide_lines(
    candidate: Candidate, tools: Mapping[str, Tool | Unresolved], settings: Settings
) -> tuple[str, str, str]:
    """The three bullets of a Guide: when, which calls, on what evidence."""
    return _when(candidate.cat_hash, settings), _call(candidate, tools, settings), _evidence(candidate)


def declared_value(value: str, tool: Tool | Unresolved | None, settings: Settings) -> bool:
    """Whether a selector's value is one that coreloop.yaml or the tool's source knows."""
    return value in settings.axis_slugs or (isinstance(tool, Tool) and value in tool.literals)


def is_known_tool(name: str, tools: Mapping[str, Tool | Unresolved], settings: Settings) -> bool:
    """Whether a tool's name is more than a word in a log: its definition is known or coreloop.yaml has it."""
    return name in settings.tools or isinstance(tools.get(name), Tool)


def _refuse_companion(
    candidate: Candidate, tools: Mapping[str, Tool | Unresolved], settings: Settings
) -> str | None:
    names = [step.name for step in candidate.tool_pattern]
    strange = next((name for name in names if not is_known_tool(name, tools, settings)), None)
    return f"{strange} is not defined here; name it under tools: in coreloop.yaml" if strange else None


def _refuse(candidate: Candidate, lines: tuple[str, ...]) -> str | None:
    strange = next((step.name for step in candidate.tool_pattern if not is_tool_name(step.name)), None)
    if strange is not None:
        return "a tool's name is no name"
    if not is_category(candidate.cat_hash):
        return "the category is no label"
    reasons = ((line.split(":")[0], refuse_line(line)) for line in lines)
    return next((f"{bullet} line: {reason}" for bullet, reason in reasons if reason), None)


def _when(category: str, settings: Settings) -> str:
    if category == UNSPECIFIED:
        return "- When: questions of no category."
    keywords = list(dict.fromkeys(settings.keywords(category)))
    while keywords:
        line = f"- When: questions on {', '.join(keywords)} (category {category})."
        if len(line) <= MAX_LINE_CHARS:
            return line
        keywords.pop()
    return f"- When: questions of category {category}."


def _call(candidate: Candidate, tools: Mapping[str, Tool | Unresolved], settings: Settings) -> str:
    for with_arguments in (True, False):
        steps = (
            _step(step, tools.get(step.name), settings, with_arguments) for step in candidate.tool_pattern
        )
        line = f"- Call: {' -> '.join(steps)}."
        if len(line) <= MAX_LINE_CHARS:
            break
    return line


def _step(step: Step, tool: Tool | Unresolved | None, settings: Settings, with_arguments: bool) -> str:
    """A call with the arguments that its signature names, in its order; ``…`` for any other."""
    parameters = tool.parameters if isinstance(tool, Tool) else ()
    known = [name for name in parameters if name in step.arg_keys or name in step.selectors]
    shown = [name for name in known if with_arguments or name in step.selectors]
    shown += [name for name in step.selectors if name not in shown]
    written = [_argument(name, step, tool, settings) for name in shown]
    if len(shown) < len({*step.arg_keys, *step.selectors}):
        written.append("…")
    return f"{step.name}({', '.join(written)})"


def _argument(name: str, step: Step, tool: Tool | Unresolved | None, settings: Settings) -> str:
    value = step.selectors.get(name)
    if value is None:
        return name
    return f'{name}="{value}"' if declared_value(value, tool, settings) else f"{name}=<{name}>"


def _evidence(candidate: Candidate) -> str:
    successes = round(candidate.success_rate * candidate.n_observed)
    return (
        f"- Evidence: {successes} of {candidate.n_observed} requests, "
        f"{candidate.n_unique_questions} distinct questions, "
        f"{candidate.first_seen:%Y-%m-%d} to {candidate.last_seen:%Y-%m-%d} "
        f"(95 % lower bound {candidate.success_low:.2f}, category {candidate.base_rate:.2f})."
    )
