"""The text and target of a statement, or the reason for its refusal."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from coreloop.base.project.argument_limits import SchemaLimits
from coreloop.base.project.tools import Tool
from coreloop.descriptions.bullets import read_bullets
from coreloop.descriptions.sections import DocLine
from coreloop.learn.line import Advice, in_language, keys_of, parse_advice, working
from coreloop.learn.mine.window import Window
from coreloop.learn.proposals.allowed_lines import refuse_line
from coreloop.learn.proposals.entry import Statement, SuggestedAppend
from coreloop.learn.proposals.step import Step
from coreloop.learn.proposals.vocabulary import Vocabulary

MAX_EXAMPLES: Final = 5


@dataclass(frozen=True, slots=True)
class MergedLine:
    """A clause of a promoted line in a tool's description; ``in_force`` is when every model has it."""

    line: Advice
    merged: datetime
    in_force: datetime


@dataclass(frozen=True, slots=True)
class Unproposed:
    """Statements that are found and not proposed.

    Attributes
    ----------
    undefined : tuple of str
        Tools that neither the source nor coreloop.yaml defines: the text would have no docstring.
    withheld : tuple of Statement
        The statements about these tools.
    n_settled : int
        Statements that are promoted, on a branch or rejected.
    """

    undefined: tuple[str, ...] = ()
    withheld: tuple[Statement, ...] = ()
    n_settled: int = 0


def draft_statements(
    statements: Iterable[Statement],
    words: Vocabulary,
    *,
    section: str,
    settled: Collection[str] = (),
    merges: Mapping[str, datetime] = MappingProxyType({}),
) -> tuple[tuple[Statement, ...], Unproposed]:
    """Draft the statements that may be proposed, and count the others.

    Parameters
    ----------
    statements : iterable of Statement
        As found.
    words : Vocabulary
        Definitions of their tools.
    section : str
        Of the text.
    settled : collection of str
        Keys that are not proposed again.
    merges : mapping of str to datetime
        When each promoted key was merged: a line is not replaced because of records older than itself.
    """
    found = list(statements)
    statements = [statement for statement in found if statement.key not in settled]
    known = [statement for statement in statements if words.is_known(statement.tool)]
    withheld = tuple(statement for statement in statements if not words.is_known(statement.tool))
    undefined = tuple(sorted({statement.tool for statement in withheld}))
    drafts = tuple(
        replace(draft, suggested_append=None, refused=twin)
        if draft.refused is None and (twin := _refuse_twin(draft, words.tool(draft.tool), merges))
        else draft
        for draft in (draft_statement(statement, words, section=section) for statement in known)
    )
    n_settled = len(found) - len(statements)
    return drafts, Unproposed(undefined, withheld, n_settled)


def draft_statement(statement: Statement, words: Vocabulary, *, section: str) -> Statement:
    """Give a statement its text and target, or ``refused``: the reason why no text may be proposed."""
    advice = parse_advice(statement.line)
    refused: str | None = "coreloop writes no such line"
    if advice is not None:
        refused = _refuse(statement, advice, words)
    refused = refused or statement.refused
    if refused is not None:
        return replace(statement, refused=refused)
    return replace(
        statement, suggested_append=SuggestedAppend.of(words, statement.tool, section, (statement.line,))
    )


def _refuse(statement: Statement, advice: Advice, words: Vocabulary) -> str | None:
    tool = words.tool(statement.tool)  # with **kwargs it declares no names, and a name in a log is untrusted
    arguments = advice.arguments if tool is not None else ()
    if not set(arguments) <= set(words.parameters(statement.tool)):
        return "its definition does not have the argument"
    handoff = next((name for name in advice.tools if name in words.settings.handoff), None)
    if handoff is not None:
        return f"{handoff} hands over to a human; such calls are not recommended"
    steps = [Step(name, {}, ()) for name in (statement.tool, *advice.tools)]
    refused = words.refuse(steps, target=statement.tool) or refuse_line(statement.line)
    return refused or (_refuse_redundant(advice, tool) if tool is not None else None)


def _refuse_redundant(advice: Advice, tool: Tool) -> str | None:
    """Why a line would add nothing to the tool's schema and docstring, or None."""
    if all(_is_in_schema(clause, tool) for clause in advice.clauses()):
        return "redundant: its schema says this"
    return None


def _refuse_twin(statement: Statement, tool: Tool | None, merges: Mapping[str, datetime]) -> str | None:
    """Why a line on a subject that the docstring has a line on would add nothing, or None."""
    advice = parse_advice(statement.line)
    lines = {line: parse_advice(line) for line in (_bullets(tool.docstring) if tool is not None else ())}
    clauses = [clause for own in lines.values() if own is not None for clause in own.clauses()]
    if advice is None:
        return None
    if all(any(_says_no_more(clause, own) for own in clauses) for clause in advice.clauses()):
        return "redundant: its docstring has this line"
    for line, own in lines.items():
        if own is None or own.subject() != advice.subject():
            continue
        merged = _merged_at(statement.tool, line, merges)
        if merged is not None and statement.first_seen < merged:
            return f"redundant: the line on this, merged on {merged:%Y-%m-%d}, is newer than these records"
    return None


def merged_lines(
    name: str, tool: Tool, merges: Mapping[str, datetime], *, lag: timedelta
) -> tuple[MergedLine, ...]:
    """The promoted lines of a tool's description, clause by clause."""
    lines: list[MergedLine] = []
    for line in _bullets(tool.docstring) if merges else ():
        own, merged = parse_advice(line), _merged_at(name, line, merges)
        if own is not None and merged is not None:
            lines += (MergedLine(clause, merged, merged + lag) for clause in own.clauses())
    return tuple(lines)


def _merged_at(tool: str, line: str, merges: Mapping[str, datetime]) -> datetime | None:
    return max((merges[key] for key in keys_of(tool, line) if key in merges), default=None)


def _says_no_more(advice: Advice, own: Advice) -> bool:
    """Whether a clause says no more than another; the error's class changes with more records."""
    if advice.subject() != own.subject():
        return False
    advice, own = working(in_language(advice, "en")), working(in_language(own, "en"))
    if advice.form == own.form == "always_pass":
        return set(advice.items("arguments")) <= set(own.items("arguments"))
    return advice == own


def _bullets(docstring: str) -> list[str]:
    """The bullets of a docstring, each on one line."""
    lines = [DocLine(text, 0, len(text) - len(text.lstrip())) for text in docstring.splitlines()]
    return [bullet.text for bullet in read_bullets(lines, 0, len(lines))]


def _is_in_schema(advice: Advice, tool: Tool) -> bool:
    """Whether the schema that a model receives says the line, or one of its conditions."""
    slots = dict(advice.slots)
    if advice.form == "always_pass":
        return all(_limits(tool, name).required for name in slots["arguments"])
    if advice.form == "never_empty":
        return all(_limits(tool, name).never_empty for name in slots["arguments"])
    if advice.form == "one_of":
        return set(tool.choices.get(slots["argument"][0], ())) == set(slots["values"])
    if advice.form not in {"at_most", "at_least"}:
        return False
    limits, number = _limits(tool, slots["argument"][0]), float(slots["number"][0])
    if advice.form == "at_most":
        return limits.over is not None and limits.over <= number
    return limits.under is not None and limits.under >= number


def _limits(tool: Tool, argument: str) -> SchemaLimits:
    return tool.limits.get(argument, SchemaLimits())


def with_questions(
    statements: Iterable[Statement], places: Mapping[str, Sequence[tuple[int, int]]], window: Window
) -> tuple[Statement, ...]:
    """Add example questions to statements; ``places`` are files and offsets of records, by key."""
    statements = list(statements)
    examples = {entry.key: list(places.get(entry.key, ()))[:MAX_EXAMPLES] for entry in statements}
    questions = window.question_texts(place for chosen in examples.values() for place in chosen)
    texts = {
        key: tuple(text for place in chosen if (text := questions.get(place)))
        for key, chosen in examples.items()
    }
    return tuple(replace(entry, example_questions=texts[entry.key]) for entry in statements)
