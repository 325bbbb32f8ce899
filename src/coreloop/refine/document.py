"""A night's counterexamples for people: the draft as Markdown, and what others may read of one."""

from collections.abc import Sequence
from dataclasses import replace

from coreloop.proposals.counterexamples import Counterexample, CounterexamplesFile
from coreloop.proposals.night import folded_note
from coreloop.proposals.statement_document import WITHHELD, redact_statement, statement_section
from coreloop.proposals.statements import Statement
from coreloop.proposals.vocabulary import Vocabulary, unless
from coreloop.text import escape_markdown, indented_block, printable


def redact_entry(entry: Statement | Counterexample, words: Vocabulary) -> Statement | Counterexample:
    """An entry of a counterexamples file as others may read it."""
    if isinstance(entry, Statement):
        return redact_statement(entry, words)
    return redact_counterexample(entry, words)


def redact_counterexample(one: Counterexample, words: Vocabulary) -> Counterexample:
    """Without what is local, and with ``[REDACTED n]`` for every text from no closed vocabulary."""
    names = {one.tool, *(step.name for step in one.steps)}
    withheld = not all(map(words.is_known, names))
    return replace(
        one,
        key="",  # a plain hash, over the error's text too: a dictionary would give that back
        tool=unless(words.is_known(one.tool), one.tool),
        selectors=words.redacted(one.tool, one.selectors),
        arg_keys=words.redacted_keys(one.tool, one.arg_keys, one.selectors),
        steps=tuple(words.redacted_step(step) for step in one.steps),
        n_without=replace(
            one.n_without,
            arg_keys=words.redacted_keys(one.tool, one.n_without.arg_keys),
            any_arg_keys=words.redacted_keys(one.tool, one.n_without.any_arg_keys),
        ),
        error_template=None,
        providers=words.redacted_providers(one.providers),
        examples=(),
        suggested_append=None if withheld else one.suggested_append,
        refused=WITHHELD if withheld else one.refused,
    )


def counterexamples_markdown(document: CounterexamplesFile) -> str:
    """The draft: the statements, then the counterexamples; of each its figures, its text, raw questions."""
    window = document.window
    head = f"# Counterexamples, {window.since} to {window.until}\n\nProposals only: nothing was changed.\n"
    if not document.entries:
        head += "\nNothing failed often enough.\n"
    statements = "".join(map(statement_section, document.statements))
    sections = "".join(map(_section, document.counterexamples))
    return head + statements + sections + folded_note(document.n_folded, "failures")


def title(one: Counterexample) -> str:
    """What fails, in one line; not escaped."""
    if one.kind == "sequence":
        return " > ".join(map(str, one.steps))
    chosen = [f"{key}={value}" for key, value in one.selectors.items()]
    others = [key for key in one.arg_keys if key not in one.selectors]
    return f"{one.tool}({', '.join([*chosen, *others])})"


def _section(one: Counterexample) -> str:
    without = one.n_without
    figures = [
        f"{one.kind}, {', '.join(one.labels)}, key `{one.key}`",
        f"{one.n_failures} of {one.n_calls} failed, {one.first_seen:%Y-%m-%d} to {one.last_seen:%Y-%m-%d}",
        f"lower bound of the failing share {one.harm_low:.2f}; {one.wasted_ms / 1000:.1f} s wasted",
    ]
    if one.kind == "call":
        figures.append(f"called otherwise: {without.n_failures} of {without.n_calls} failed")
    if one.error_template is not None:
        figures.append(f"{one.error_class}: {escape_markdown(one.error_template)}")
    suggested = one.suggested_append
    text = (
        f"Refused: {one.refused}." if suggested is None else indented_block(suggested.section, suggested.body)
    )
    asked = _questions([example.question for example in one.examples])
    bullets = "\n".join(f"- {figure}" for figure in figures)
    parts = (f"## {one.id}: {escape_markdown(title(one))}", bullets, text, "Example questions:", asked)
    return "\n" + "\n\n".join(parts) + "\n"


def _questions(texts: Sequence[str]) -> str:
    return "\n".join("    " + printable(text) for text in texts if text) or "    (no text recorded)"
