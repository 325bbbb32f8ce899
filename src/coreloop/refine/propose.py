"""One run of Phase F: rollups in, two files of proposals out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from coreloop.days import Days
from coreloop.mine.oddities import LogOddities, find_oddities
from coreloop.mine.rollup import Rollup
from coreloop.mine.sample import read_sample
from coreloop.mine.window import merge
from coreloop.project.tools import resolve_tools
from coreloop.project.workspace import Workspace
from coreloop.proposals.counterexamples import SECTION, Counterexample, CounterexamplesFile
from coreloop.proposals.night import COUNTEREXAMPLES, Numbered, new_keys, write_night
from coreloop.proposals.statement_draft import draft_statement, with_questions
from coreloop.proposals.statements import Statement
from coreloop.proposals.vocabulary import Vocabulary
from coreloop.refine.conditions import FoundConditions, find_conditions
from coreloop.refine.document import counterexamples_markdown, redact_entry
from coreloop.refine.draft import draft_counterexample
from coreloop.refine.find import FoundCounterexamples, find_counterexamples


@dataclass(frozen=True, slots=True)
class Refined:
    """What one run found: the window, its records and files, the counterexamples and the statements."""

    days: Days
    n_records: int
    n_files: int
    found: FoundCounterexamples
    said: FoundConditions
    oddities: LogOddities
    words: Vocabulary


def refine(
    rollups: Sequence[Rollup],
    days: Days,
    *,
    workspace: Workspace,
    min_failures: int,
    excluded: Collection[str] = (),
    known: frozenset[str] = frozenset(),
) -> Refined:
    """Find the counterexamples of a window, but for ``known`` keys, and draft their texts; writes nothing."""
    window = merge(rollups, days)
    found = find_counterexamples(window, min_failures=min_failures, excluded=excluded, known=known)
    sample = read_sample(window)
    names = {one.tool for one in found.counterexamples} | sample.tools
    names |= {step.name for one in found.counterexamples for step in one.steps}
    tools = resolve_tools(names, root=workspace.root, configured=workspace.settings.tools)
    words = Vocabulary(tools, workspace.settings)
    conditions = find_conditions(sample, words)
    lines = [
        draft_statement(one, words, section=SECTION) for one in conditions.statements if one.key not in known
    ]
    said = replace(conditions, statements=with_questions(lines, conditions.places, window))
    explained = {one.tool for one in said.statements}
    drafted, fell = new_keys(
        (draft_counterexample(one, words, explained=explained) for one in found.counterexamples), known
    )
    found = replace(found, counterexamples=drafted, fell={**found.fell, **fell})
    oddities = find_oddities((rollup.path, rollup.oddities) for rollup in rollups)
    return Refined(days, window.n_records(), len(rollups), found, said, oddities, words)


def write_refined(
    refined: Refined, folder: Path, *, now: datetime, sanitized: bool
) -> tuple[CounterexamplesFile, tuple[Path, Path]]:
    """Write ``{day}-counterexamples.json`` and ``{day}-draft.md``; a key that the day knows keeps its id.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. Nothing is half written.
    """

    def build(numbered: Numbered[Statement | Counterexample]) -> tuple[CounterexamplesFile, str]:
        document = CounterexamplesFile(
            generated_at=now,
            window=refined.days,
            statements=numbered.of(Statement),
            counterexamples=numbered.of(Counterexample),
            ids=numbered.ids,
            n_folded=numbered.n_folded,
        )
        return document, counterexamples_markdown(document)

    redacting = partial(redact_entry, words=refined.words) if sanitized else None
    found: list[Statement | Counterexample] = [*refined.said.statements, *refined.found.counterexamples]
    return write_night(folder, now.date(), found, kind=COUNTEREXAMPLES, redact=redacting, build=build)
