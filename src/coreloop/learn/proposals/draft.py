"""The text of an entry: docstring lines built from closed vocabularies, or the reason why there is none.

The inputs are tool names, argument names of the signature, values that the source or coreloop.yaml declares,
category labels and counts; never questions or words of them, undeclared values or error texts.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from coreloop.base.project.argument_limits import SchemaLimits
from coreloop.base.project.tools import Tool
from coreloop.base.records import UNSPECIFIED, is_category
from coreloop.descriptions.own_lines import bullets_in
from coreloop.learn.line import (
    Advice,
    AdvisedCalls,
    Language,
    Step,
    When,
    in_language,
    keys_of,
    parse_advice,
    statement_key,
)
from coreloop.learn.proposals.allowed_lines import Vocabulary, refuse_line
from coreloop.learn.proposals.entry import CAVEATS, GUIDE, MAX_Q, Candidate, Statement, SuggestedAppend

_WEAK: Final = "weak: "


@dataclass(frozen=True, slots=True)
class Unproposed:
    """Statements that are found and not proposed.

    Attributes
    ----------
    withheld : tuple of Statement
        Those about tools that neither the source nor coreloop.yaml defines: no docstring could have them.
    n_settled : int
        How many are promoted, on a branch or rejected.
    """

    withheld: tuple[Statement, ...] = ()
    n_settled: int = 0

    @property
    def undefined(self) -> tuple[str, ...]:
        """The tools of those that are withheld."""
        return tuple(sorted({statement.tool for statement in self.withheld}))


def draft_statements(
    statements: Iterable[Statement],
    words: Vocabulary,
    *,
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
    settled : collection of str
        Keys that are not proposed again.
    merges : mapping of str to datetime
        When each promoted key was merged: a line is not replaced because of records older than itself.
    """
    found = list(statements)
    new = [statement for statement in found if statement.key not in settled]
    drafts = (draft_statement(one, words, merges) for one in new if words.is_known(one.tool))
    withheld = tuple(one for one in new if not words.is_known(one.tool))
    return tuple(drafts), Unproposed(withheld, len(found) - len(new))


def draft_statement(
    statement: Statement, words: Vocabulary, merges: Mapping[str, datetime] = MappingProxyType({})
) -> Statement:
    """Give a statement its text and target, or ``refused``: the reason why no text may be proposed."""
    advice = parse_advice(statement.line)
    if advice is None:
        return replace(statement, refused="coreloop writes no such line")
    refused = _refuse_names(statement, advice, words) or statement.refused
    tool = words.tool(statement.tool)
    if refused is None and tool is not None:
        refused = _refuse_redundant(statement, advice, tool, merges)
    if refused is not None:
        return replace(statement, refused=refused)
    suggested = SuggestedAppend.of(words, statement.tool, CAVEATS, (statement.line,))
    return replace(statement, suggested_append=suggested)


def _refuse_names(statement: Statement, advice: Advice, words: Vocabulary) -> str | None:
    tool = words.tool(statement.tool)  # with **kwargs it declares no names, and a name in a log is untrusted
    if tool is not None and not set(advice.arguments) <= set(tool.parameters):
        return "its definition does not have the argument"
    handoff = next((name for name in advice.tools if name in words.settings.handoff), None)
    if handoff is not None:
        return f"{handoff} hands over to a human; such calls are not recommended"
    steps = [Step(name, {}, ()) for name in (statement.tool, *advice.tools)]
    return words.refuse(steps, target=statement.tool) or refuse_line(statement.line)


def _refuse_redundant(
    statement: Statement, advice: Advice, tool: Tool, merges: Mapping[str, datetime]
) -> str | None:
    """Why a line would add nothing to the tool's schema and docstring, or None."""
    if all(_is_in_schema(clause, tool) for clause in advice.clauses()):
        return "redundant: its schema says this"
    lines = _own_lines(statement.tool, tool, merges)
    clauses = [clause for own, _ in lines for clause in own.clauses()]
    if all(any(_says_no_more(clause, own) for own in clauses) for clause in advice.clauses()):
        return "redundant: its docstring has this line"
    for own, merged in lines:
        if own.subject() == advice.subject() and merged is not None and statement.first_seen < merged:
            return f"redundant: the line on this, merged on {merged:%Y-%m-%d}, is newer than these records"
    return None


def merged_lines(name: str, tool: Tool, merges: Mapping[str, datetime]) -> list[tuple[Advice, datetime]]:
    """The promoted lines of a tool's description, clause by clause, and when each was merged."""
    return [
        (clause, merged)
        for own, merged in (_own_lines(name, tool, merges) if merges else ())
        if merged is not None
        for clause in own.clauses()
    ]


def _own_lines(name: str, tool: Tool, merges: Mapping[str, datetime]) -> list[tuple[Advice, datetime | None]]:
    """The lines of a tool's texts that have one of our forms, and when each was merged."""
    texts = (tool.docstring, *tool.described.values())
    own = ((line, parse_advice(line)) for text in texts for line in bullets_in(text))
    return [
        (advice, max((merges[key] for key in keys_of(name, line) if key in merges), default=None))
        for line, advice in own
        if advice is not None
    ]


def _says_no_more(advice: Advice, own: Advice) -> bool:
    """Whether a clause says no more than another."""
    if advice.subject() != own.subject():
        return False
    advice, own = in_language(advice, "en"), in_language(own, "en")
    if advice.form == own.form == "always_pass":
        return set(advice.items("arguments")) <= set(own.items("arguments"))
    return advice == own


def _is_in_schema(advice: Advice, tool: Tool) -> bool:
    """Whether the schema that a model receives says the line."""
    slots = dict(advice.slots)
    named = slots.get("arguments") or slots.get("argument", ())
    limits = [tool.limits.get(name, SchemaLimits()) for name in named]
    match advice.form:
        case "always_pass":
            return all(limit.required for limit in limits)
        case "never_empty":
            return all(limit.never_empty for limit in limits)
        case "one_of":
            return set(tool.choices.get(named[0], ())) == set(slots["values"])
        case "at_most":
            return limits[0].over is not None and limits[0].over <= float(slots["number"][0])
        case "at_least":
            return limits[0].under is not None and limits[0].under >= float(slots["number"][0])
    return False


def draft_candidate(candidate: Candidate, words: Vocabulary) -> Candidate:
    """Give a candidate its text and target, or ``refused``, and a key that may be published.

    Parameters
    ----------
    candidate : Candidate
        The result of the search, with its q-value.
    words : Vocabulary
        Definitions of the pattern's tools; declared axes.
    """
    language = words.settings.language
    lines = str(When(candidate.cat_hash, language)), str(_calls(candidate, words, language))
    if words.tool(candidate.engine) is not None and not words.declares_all(candidate.tool_pattern):
        # Not a hash of undeclared values, which could be guessed; it is the same in both languages.
        key = statement_key(candidate.cat_hash, str(_calls(candidate, words, "en")), GUIDE)
        candidate = replace(candidate, key=key)
    refused = (
        _weak(candidate)
        or words.refuse(candidate.tool_pattern, target=candidate.engine)
        or (None if is_category(candidate.cat_hash) else "the category is not a label")
        or next((f"{line.split(':')[0]} line: {why}" for line in lines if (why := refuse_line(line))), None)
    )
    if refused is not None:
        return replace(candidate, refused=refused)
    return replace(candidate, suggested_append=SuggestedAppend.of(words, candidate.engine, GUIDE, lines))


def is_weak(candidate: Candidate) -> bool:
    """Whether a candidate was refused because its sequence is not better than the rest of its category."""
    return candidate.refused is not None and candidate.refused.startswith(_WEAK)


def _weak(candidate: Candidate) -> str | None:
    """Why a sequence is not better than the rest of its category, or None if it is significantly better."""
    n, rest_ok, rest_n = candidate.n_observed, candidate.rest_ok, candidate.rest_n
    if candidate.cat_hash == UNSPECIFIED:
        return f"{_WEAK}its questions have no category in coreloop.yaml"
    if not rest_n:
        return f"{_WEAK}its category has no other requests to compare it with"
    is_better = candidate.n_succeeded * rest_n > rest_ok * n
    if is_better and candidate.q_value is not None and candidate.q_value <= MAX_Q:
        return None
    return (
        f"{_WEAK}{candidate.n_succeeded} of {n} succeeded, {rest_ok} of {rest_n} of the rest of its category"
    )


def _calls(candidate: Candidate, words: Vocabulary, language: Language) -> AdvisedCalls:
    return AdvisedCalls(tuple(map(words.call, candidate.tool_pattern)), language)
