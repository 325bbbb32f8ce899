"""A statement as text: its section in a draft, and its redaction for a shared file."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from coreloop.base.messages import number_of
from coreloop.base.text import escape_markdown, indented_block
from coreloop.base.untrusted import untrusted_block
from coreloop.learn.proposals.entry import SuggestedAppend
from coreloop.learn.proposals.statement_lines import parse_advice
from coreloop.learn.proposals.statements import NearStatement, Sides, Statement, q_text
from coreloop.learn.proposals.vocabulary import Vocabulary, unless

WITHHELD: Final = "withheld: contains a name that neither coreloop.yaml nor the source declares"


def redact_statement(statement: Statement, words: Vocabulary) -> Statement:
    """Remove the questions, and the line if a name in it is not declared."""
    refused = statement.refused
    is_ours = refused is None or refused.startswith(("weak: ", "redundant: "))
    withheld = not is_ours or not _is_known(statement.tool, statement.line, words)
    return replace(
        statement,
        # The key is a plain hash of the line: a dictionary attack would recover a withheld line.
        key="" if withheld else statement.key,
        tool=unless(words.is_known(statement.tool), statement.tool),
        line=unless(not withheld, statement.line),
        providers=words.redacted_providers(statement.providers),
        example_questions=(),
        suggested_append=None if withheld else statement.suggested_append,
        refused=WITHHELD if withheld else refused,
    )


def redact_near(near: NearStatement, words: Vocabulary) -> NearStatement:
    """Remove the tool and the line that are not declared."""
    line = unless(_is_known(near.tool, near.line, words), near.line)
    return replace(near, tool=unless(words.is_known(near.tool), near.tool), line=line)


def _is_known(tool: str, line: str, words: Vocabulary) -> bool:
    """Whether coreloop.yaml or the source declares every name in a line, fields of results aside."""
    advice = parse_advice(line)
    if advice is None:
        return False
    named = advice.named()
    return (
        all(map(words.is_known, (tool, *named.tools)))
        and set(named.arguments) <= set(words.parameters(tool))
        and all(words.declares(value, tool) for value in named.values)
    )


def statement_line(statement: Statement) -> str:
    """The tool and its line, not escaped: ``analysis: First: show``."""
    return f"{statement.tool}: {statement.line.removeprefix('- ')}"


def sides_text(statement: Statement, sides: Sides) -> str:
    """``follows: 98 of 98 calls, 13 customers; does not: 0 of 13, 4 customers``."""
    return (
        f"follows: {sides.n_ok:,} of {number_of(sides.n, 'call')}, "
        f"{number_of(sides.cases, statement.case)}; does not: {sides.other_ok:,} of "
        f"{sides.other_n:,}, {number_of(sides.other_cases, statement.case)}"
    )


def difference_text(statement: Statement) -> str:
    """The difference of the two sides' rates by case, its interval, and q."""
    return (
        f"difference {statement.difference:.2f} ({statement.low:.2f} to {statement.high:.2f}"
        f"), {q_text(statement.q_value)}"
    )


def cost_text(statement: Statement) -> str:
    """The least calls wasted, and the requests that they may have cost, at most with other reasons."""
    low, high = statement.lost
    return (
        f"per 1,000 requests: at least {statement.wasted:.1f} calls wasted, {low:.1f} to "
        f"{high:.1f} requests lost"
    )


def statement_section(statement: Statement, words: Vocabulary) -> str:
    """Its section of a draft: kind, both sides, the proposed line, and what only the records say."""
    figures = (
        f"{statement.kind}, key `{statement.key}`",
        sides_text(statement, statement.sides),
        f"the last third of the days: {sides_text(statement, statement.held)}",
        f"{difference_text(statement)} (95 %)",
        cost_text(statement),
        f"{statement.n_questions} distinct questions, "
        f"{statement.first_seen:%Y-%m-%d} to {statement.last_seen:%Y-%m-%d}",
        f"target: {_target(statement)}",
    )
    shared = redact_statement(statement, words)
    line, known = statement_line(statement), statement_line(shared)
    parts = (
        f"## {statement.id}: {escape_markdown(known)}",
        "\n".join(f"- {figure}" for figure in figures),
        proposed_text(statement.refused, shared.suggested_append),
        recorded((line,) if line != known else (), statement.example_questions),
    )
    return "\n" + "\n\n".join(parts)


def proposed_text(refused: str | None, suggested: SuggestedAppend | None) -> str:
    """The text of a proposal as a draft has it, or why there is none."""
    if suggested is not None:
        return indented_block(suggested.section, suggested.body)
    return f"Refused: {refused or WITHHELD}."


def recorded(texts: Iterable[str], questions: Iterable[str]) -> str:
    """What only the records say of a proposal: names that are not declared, an error, example questions."""
    said = [text for text in (*texts, *questions) if text]
    return f"From the records, with example questions:\n\n{untrusted_block(said or ['(no text recorded)'])}"


def _target(statement: Statement) -> str:
    suggested = statement.suggested_append
    if suggested is None:
        return "none"
    if suggested.target_file is None:
        return "not known; name the tool under tools: in coreloop.yaml"
    return f"{suggested.target_file}::{suggested.target_symbol}"
