"""The report of a research as Markdown, also while it runs, or after a crash."""

from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.answer.research.answer import cited_sources, contradiction_line, respond
from coreloop.answer.research.findings import citation_marks
from coreloop.answer.research.research_state import Knowledge, ReadSource, knowledge_of
from coreloop.base.messages import in_language_of
from coreloop.base.text import escape_markdown
from coreloop.runs.state import State

_LAYERS: Final = {"a": "path a", "b": "path b", "c": "path c", "cross_check": "cross-check"}


def markdown_report(state: State) -> str:
    """Return the report as Markdown; texts of sources are escaped, so they cannot add links or HTML."""
    tell = in_language_of(state.question)
    lines = [f"# {escape_markdown(state.question)}", "", f"*{_status(state)}*", ""]
    for heading, entries in _sections(state):
        if entries:
            lines += [f"## {tell(heading)}", "", *(f"- {escape_markdown(entry)}" for entry in entries), ""]
    return "\n".join(lines)


def _sections(state: State) -> Iterator[tuple[str, list[str]]]:
    """Yield headings, and what stands below them."""
    known = knowledge_of(state)
    yield "Answer", respond(state).final_answer.splitlines()
    found = (f"{one.tag} {one.text} {citation_marks(one.sources)}" for one in known.findings)
    yield "Findings", [line.rstrip() for line in found]
    yield "Hypotheses", [f"{one.id} {one.confidence:.2f} {one.statement}" for one in known.all_hypotheses]
    yield "Reflection", list(_reflection(known))
    yield "Contradictions", [contradiction_line(pair) for pair in known.contradictions_found]
    parts = [f"{part.id} {part.text}" for part in state.sub_questions if part.is_open and state.drives_itself]
    yield "Open", [*parts, *known.gaps, *known.uncertainties, *known.missing]
    believed = {one.text for one in known.findings if one.sources}
    left_out = [claim for claim in known.dropped if claim.sentence not in believed]
    yield "Left out", [f"{claim.sentence} ({claim.reason})" for claim in left_out]
    yield "Sources", [*map(_source, cited_sources(state))]


def _reflection(knowledge: Knowledge) -> Iterator[str]:
    """The newest thought of each layer: what it says, by its name."""
    newest: dict[str, str] = {}
    for thought in knowledge.thoughts:
        for name, said in thought.items():
            if isinstance(said, Mapping):
                newest |= {_LAYERS.get(part, str(part)): str(text) for part, text in said.items()}
            elif isinstance(said, str):
                newest[name.replace("_", "-")] = said
    yield from (f"{name}: {said}" for name, said in newest.items())


def _source(read: ReadSource) -> str:
    source = read.source
    line = f":{source.line}" if source.line else ""
    published = f", published {source.published}" if source.published else ""
    return f"[{read.number}] {source.title}, {source.location}{line}{published}"


def _status(state: State) -> str:
    tell = in_language_of(state.question)
    return tell(
        "{status} · iteration {iteration} · research {run_id}{partial}",
        status=f"{state.status} ({state.stop_reason})" if state.stop_reason else state.status,
        iteration=state.iteration,
        run_id=state.run_id,
        partial="" if state.is_terminal else tell(" · this report is partial"),
    )
