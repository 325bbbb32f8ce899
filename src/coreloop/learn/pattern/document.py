"""A night's candidates for people: the draft as Markdown, and the redaction of entries for sharing."""

from collections.abc import Iterable
from dataclasses import replace

from coreloop.base.project.tools import Unresolved
from coreloop.base.records import is_category
from coreloop.base.text import escape_markdown
from coreloop.base.untrusted import untrusted_block
from coreloop.learn.proposals.candidates import FROM_NOTES, Candidate, CandidatesFile, Note
from coreloop.learn.proposals.proposal_files import folded_note
from coreloop.learn.proposals.statement_document import WITHHELD, proposed_text, recorded
from coreloop.learn.proposals.vocabulary import Vocabulary, unless


def redact_candidate(candidate: Candidate, words: Vocabulary) -> Candidate:
    """Remove questions; texts outside the closed vocabularies become ``[REDACTED n]``, n is the length."""
    axis = candidate.axis
    withheld = any(
        not words.is_known(step.name) or words.redacted(step.name, step.selectors) != step.selectors
        for step in candidate.tool_pattern
    )
    return replace(
        candidate,
        # Both are plain hashes of redacted values, which a dictionary attack would reveal.
        key="" if withheld else candidate.key,
        seq_hash="" if withheld else candidate.seq_hash,
        suggested_append=None if withheld else candidate.suggested_append,
        refused=WITHHELD if withheld else candidate.refused,
        engine=unless(words.is_known(candidate.engine), candidate.engine),
        axis=None if axis is None else unless(words.declares(axis, candidate.engine), axis),
        cat_hash=unless(is_category(candidate.cat_hash), candidate.cat_hash),
        tool_pattern=tuple(words.redacted_step(step) for step in candidate.tool_pattern),
        example_questions=(),
        bullets=tuple(unless(False, text) for text in candidate.bullets),
        providers=words.redacted_providers(candidate.providers),
    )


def redact_note(note: Note) -> Note:
    """Redact a note: no part of it is from a closed vocabulary."""
    bullets = tuple(unless(False, text) for text in note.bullets)
    return replace(note, stock_code=unless(False, note.stock_code), bullets=bullets)


def candidates_markdown(document: CandidatesFile, words: Vocabulary) -> str:
    """The draft: candidates, each with its figures, its text and raw questions."""
    window = document.window
    head = f"# Candidates, {window.since} to {window.until}\n\nProposals only: nothing was changed.\n"
    if not document.candidates:
        head += "\nNothing passed the gates.\n"
    sections = "".join(_section(candidate, words) for candidate in document.candidates)
    return head + sections + folded_note(document.n_folded, "requests") + _notes(document.notes)


def _mean_answer(candidate: Candidate) -> str:
    mean = candidate.avg_chunk_len
    return f"; mean answer {mean:.0f} characters" if mean else ""


def _section(candidate: Candidate, words: Vocabulary) -> str:
    shared = redact_candidate(candidate, words)
    steps, known = (" > ".join(map(str, one.tool_pattern)) for one in (candidate, shared))
    figures = (
        f"- category {shared.cat_hash}, key `{candidate.key}`\n"
        f"- {candidate.n_observed} requests, {candidate.n_unique_questions} distinct questions, "
        f"{candidate.n_sessions} sessions, "
        f"{candidate.first_seen:%Y-%m-%d} to {candidate.last_seen:%Y-%m-%d}\n"
        f"- success rate {candidate.success_rate:.2f}, lower bound {candidate.success_low:.2f}, "
        f"category {candidate.base_rate:.2f}{_mean_answer(candidate)}\n"
        f"- target: {_target(candidate, words)}"
    )
    advice = f"The gate was relaxed by the playbook (evidence rank {candidate.evidence_rank}):\n\n"
    parts = (
        f"## {candidate.id}: {escape_markdown(known)}",
        figures,
        *([advice + untrusted_block(candidate.bullets)] if candidate.bullets else ()),
        proposed_text(candidate.refused, shared.suggested_append),
        recorded((steps,) if steps != known else (), candidate.example_questions),
    )
    return "\n" + "\n\n".join(parts)


def _notes(notes: Iterable[Note]) -> str:
    """Audit notes, to read only: they are no evidence for a promotion."""
    texts = [f"{note.stock_code}: {bullet}" for note in notes for bullet in note.bullets]
    head = f"\n## Audit notes (evidence rank {FROM_NOTES}): to read, not to promote\n\n"
    return head + untrusted_block(texts) if texts else ""


def _target(candidate: Candidate, words: Vocabulary) -> str:
    suggested = candidate.suggested_append
    if suggested is not None and suggested.target_file is not None:
        return f"{suggested.target_file}::{suggested.target_symbol}"
    tool = words.tools.get(candidate.engine)
    return f"not known: {tool.reason}" if isinstance(tool, Unresolved) else "none"
