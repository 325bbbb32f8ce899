"""A statement for people: its section in a draft, and what others may read of it."""

from dataclasses import replace
from typing import Final

from coreloop.proposals.advice import parse_advice
from coreloop.proposals.statements import Sides, Statement, q_told
from coreloop.proposals.vocabulary import Vocabulary, unless
from coreloop.text import escape_markdown, indented_block, printable

_FROM_RECORDS: Final = (
    "what went together with requests that succeeded; records alone cannot tell this from cause"
)
_MEANINGS: Final = {
    "source": "where the argument's value stood before, in calls that succeeded",
    "condition": "what sets the tool's own failed calls apart",
    "choice": "what the questions of successful requests that used the tool have in common",
}
_OF_WHAT: Final = {
    "source": "values stood there",
    "choice": "successful requests with a keyword used the tool",
}
WITHHELD: Final = "withheld, since a name in it is from no closed vocabulary"


def redact_statement(statement: Statement, words: Vocabulary) -> Statement:
    """Without questions, and without the line where a name in it is from no closed vocabulary."""
    refused = statement.refused
    is_ours = refused is None or refused.startswith(("weak: ", "said already: "))
    withheld = not is_ours or not _is_known(statement, words)
    return replace(
        statement,
        # A plain hash over the line: where that is withheld, a dictionary would give it back.
        key="" if withheld else statement.key,
        tool=unless(words.is_known(statement.tool), statement.tool),
        line=unless(not withheld, statement.line),
        providers=words.redacted_providers(statement.providers),
        example_questions=(),
        suggested_append=None if withheld else statement.suggested_append,
        refused=WITHHELD if withheld else refused,
    )


def _is_known(statement: Statement, words: Vocabulary) -> bool:
    """Whether every word of the line is one that coreloop.yaml or the source has; fields of results stay."""
    said = parse_advice(statement.line)
    if said is None:
        return False
    named, tool, settings = said.named(), statement.tool, words.settings
    return (
        all(map(words.is_known, (tool, *named.tools)))
        and set(named.arguments) <= set(words.parameters(tool))
        and all(words.declares(value, tool) for value in named.values)
        and set(named.keywords) <= {word for rule in settings.categories for word in rule.any}
        and all(
            argument in words.parameters(other) and (not value or words.declares(value, other))
            for other, argument, value in named.given
        )
    )


def told(statement: Statement) -> str:
    """What it says, in one line; not escaped."""
    return f"{statement.tool}: {statement.line.removeprefix('- ')}"


def sides_told(statement: Statement, sides: Sides) -> str:
    """``58 of 61 requests succeeded, otherwise 17 of 26``; of a source, values; of a choice, uses."""
    of_what = _OF_WHAT.get(statement.kind, f"{statement.unit} succeeded")
    rest = f", otherwise {sides.other_ok} of {sides.other_n}" if sides.other_n else ""
    return f"{sides.n_ok} of {sides.n} {of_what}{rest}"


def difference_told(statement: Statement) -> str:
    """The difference of the two sides' rates and its interval; of a source, its share."""
    interval = f"{statement.difference:.2f} ({statement.low:.2f} to {statement.high:.2f})"
    if statement.kind == "source":
        return f"share {interval}"
    return f"difference {interval}, {q_told(statement.q_value)}"


def statement_section(statement: Statement) -> str:
    """Its section of a draft: what it is, both sides, the proposed line and the raw questions, escaped."""
    figures = (
        _MEANINGS.get(statement.kind, _FROM_RECORDS),
        f"{statement.kind}, key `{statement.key}`",
        sides_told(statement, statement.sides),
        f"the last 30 % of the days: {sides_told(statement, statement.held)}",
        f"{difference_told(statement)} (95 %)",
        f"per 1,000 requests: {statement.avoided:.1f} failures avoided, {statement.saved:.1f} calls saved",
        f"{statement.n_questions} distinct questions, "
        f"{statement.first_seen:%Y-%m-%d} to {statement.last_seen:%Y-%m-%d}",
        f"target: {_target(statement)}",
    )
    suggested = statement.suggested_append
    text = (
        f"Refused: {statement.refused}."
        if suggested is None
        else indented_block(suggested.section, suggested.body)
    )
    asked = "\n".join("    " + printable(question) for question in statement.example_questions if question)
    parts = (
        f"## {statement.id}: {escape_markdown(told(statement))}",
        "\n".join(f"- {figure}" for figure in figures),
        text,
        "Asked, for example:",
        asked or "    (no text recorded)",
    )
    return "\n" + "\n\n".join(parts) + "\n"


def _target(statement: Statement) -> str:
    suggested = statement.suggested_append
    if suggested is None:
        return "none"
    if suggested.target_file is None:
        return "not known; name the tool under tools: in coreloop.yaml"
    return f"{suggested.target_file}::{suggested.target_symbol}"
