"""A night's counterexamples for people: the draft as Markdown, and the redaction of entries for sharing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from coreloop.base.text import escape_markdown, printable
from coreloop.base.untrusted import untrusted_block
from coreloop.learn.proposals.counterexamples import Counterexample, CounterexamplesFile, ErrorRow
from coreloop.learn.proposals.proposal_files import folded_note
from coreloop.learn.proposals.statement_document import (
    WITHHELD,
    recorded,
    redact_statement,
    statement_section,
)
from coreloop.learn.proposals.statements import Statement
from coreloop.learn.proposals.vocabulary import Vocabulary, unless


def redact_entry(entry: Statement | Counterexample, words: Vocabulary) -> Statement | Counterexample:
    """Redact an entry of a counterexamples file for sharing."""
    if isinstance(entry, Statement):
        return redact_statement(entry, words)
    return redact_counterexample(entry, words)


def redact_counterexample(example: Counterexample, words: Vocabulary) -> Counterexample:
    """Remove local details; texts outside the closed vocabularies become ``[REDACTED n]``."""
    names = {example.tool, *(step.name for step in example.steps)}
    withheld = not all(map(words.is_known, names))
    return replace(
        example,
        key="",  # a plain hash that covers the error's text, which a dictionary attack would reveal
        tool=unless(words.is_known(example.tool), example.tool),
        selectors=words.redacted(example.tool, example.selectors),
        arg_keys=words.redacted_keys(example.tool, example.arg_keys, example.selectors),
        steps=tuple(words.redacted_step(step) for step in example.steps),
        n_without=replace(
            example.n_without,
            arg_keys=words.redacted_keys(example.tool, example.n_without.arg_keys),
            any_arg_keys=words.redacted_keys(example.tool, example.n_without.any_arg_keys),
        ),
        error_template=None,
        providers=words.redacted_providers(example.providers),
        examples=(),
        refused=WITHHELD if withheld else example.refused,
    )


def redact_error(row: ErrorRow, words: Vocabulary) -> ErrorRow:
    """Remove the error's text, what is no line of ours, and a tool that is not declared."""
    return replace(row, tool=unless(words.is_known(row.tool), row.tool), error="", nearest=())


def counterexamples_markdown(document: CounterexamplesFile, words: Vocabulary) -> str:
    """The draft: statements, then counterexamples, each with its figures and its text.

    What the records say, questions and errors, and names that are not declared, stands in `untrusted_block`.
    """
    window = document.window
    head = f"# Counterexamples, {window.since} to {window.until}\n\nProposals only: nothing was changed.\n"
    if not document.entries:
        head += "\nNothing failed often enough.\n"
    errors = "".join(_error_rows(document.errors, words))
    statements = "".join(statement_section(statement, words) for statement in document.statements)
    sections = "".join(_section(example, words) for example in document.counterexamples)
    return head + errors + statements + sections + folded_note(document.n_folded, "failures")


def title(example: Counterexample) -> str:
    """The failing call or sequence in a line, not escaped."""
    if example.kind == "sequence":
        return " > ".join(map(str, example.steps))
    chosen = [f"{key}={value}" for key, value in example.selectors.items()]
    others = [key for key in example.arg_keys if key not in example.selectors]
    return f"{example.tool}({', '.join([*chosen, *others])})"


def _section(example: Counterexample, words: Vocabulary) -> str:
    without = example.n_without
    figures = [
        f"{example.kind}, {', '.join(example.labels)}, key `{example.key}`",
        f"{example.n_failures} of {example.n_calls} failed, "
        f"{example.first_seen:%Y-%m-%d} to {example.last_seen:%Y-%m-%d}",
        f"lower bound of the failing share {example.harm_low:.2f}; {example.wasted_ms / 1000:.1f} s wasted",
    ]
    if example.kind == "call":
        figures.append(f"called otherwise: {without.n_failures} of {without.n_calls} failed")
    if example.error_class is not None:
        figures.append(f"class {example.error_class}")
    known = title(redact_counterexample(example, words))
    parts = (
        f"## {example.id}: {escape_markdown(known)}",
        "\n".join(f"- {figure}" for figure in figures),
        f"Refused: {example.refused}.",
        recorded(
            [title(example) if title(example) != known else "", example.error_template or ""],
            [place.question for place in example.examples],
        ),
    )
    return "\n" + "\n\n".join(parts)


def _error_rows(errors: Sequence[ErrorRow], words: Vocabulary) -> Iterator[str]:
    """The table of errors; below it what merged lines explain, and what a coding agent could be asked for."""
    if errors:
        yield "\n## Errors\n\n| row | tool | class | calls | requests lost | recovered | who can mend it |\n"
        yield "|---|---|---|---|---|---|---|\n"
    for number, row in enumerate(errors, 1):
        tool = escape_markdown(redact_error(row, words).tool)
        figures = f"{row.n_calls} | {row.n_lost} | {row.n_recovered} | {row.mender}"
        yield f"| {number} | {tool} | {row.error_class} | {figures} |\n"
    if errors:
        yield "\nThe errors, by row:\n\n"
        yield untrusted_block(f"{number} {row.tool}: {row.error}" for number, row in enumerate(errors, 1))
    merged = [f"row {number}: {line}" for number, row in enumerate(errors, 1) for line in row.merged]
    if merged:
        yield "\nExplained by lines that are merged:\n\n" + _block(merged)
    tasks = [row.task for row in errors if row.task]
    if tasks:
        yield "\nFor a coding agent:\n\n" + _block(tasks)


def _block(lines: Iterable[str]) -> str:
    return "".join(f"    {printable(line)}\n" for line in lines)
