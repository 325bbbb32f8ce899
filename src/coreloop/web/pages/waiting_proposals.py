"""Proposals that wait for a verdict, those that promise most first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final, Literal

from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.find_tools import find_tools
from coreloop.learn.line import parse_advice
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.entry import Candidate, Counterexample, Entry, Statement
from coreloop.learn.proposals.proposal_files import MIN_PUBLISHED, read_every_night
from coreloop.learn.verdicts.proposal_state import UNDECIDED, Standpoint
from coreloop.web.pages.charts import Interval, rate_of
from coreloop.web.pages.page_data import PageSource

_LABELS: Final = {
    "statement": ("following it", "not following it", "Calls that succeeded"),
    "sequence": ("with these steps", "other requests", "Requests that succeeded"),
    "failure": ("these calls", "other calls", "Calls that failed"),
}
"""What the two sides, and their rates, are called, by the kind of a proposal."""
Kind = Literal["statement", "sequence", "failure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingProposal:
    """A proposal.

    Attributes
    ----------
    entry : Statement, Candidate or Counterexample
        As its newest file has it.
    path : Path
        That file.
    first, last : date
        Days on which it was first and last proposed.
    """

    entry: Entry
    path: Path
    first: date
    last: date

    @property
    def kind(self) -> Kind:
        """What it is."""
        if isinstance(self.entry, Statement):
            return "statement"
        return "sequence" if isinstance(self.entry, Candidate) else "failure"

    @property
    def text(self) -> str:
        """Its line, or its steps."""
        entry = self.entry
        if not isinstance(entry, Counterexample):
            return entry.text
        steps = " > ".join(map(str, entry.steps or (entry.call,)))
        return f"{steps}: {entry.error_class or ', '.join(entry.labels)}"

    @property
    def counts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Hits and all of the two sides that it compares."""
        entry = self.entry
        if isinstance(entry, Statement):
            return (entry.sides.n_ok, entry.sides.n), (entry.sides.other_ok, entry.sides.other_n)
        if isinstance(entry, Candidate):
            return (entry.n_succeeded, entry.n_begun), (entry.rest_ok, entry.rest_n)
        return (entry.n_failures, entry.n_calls), (entry.n_other_failures, entry.n_other_calls)

    @property
    def gain(self) -> float:
        """What it promises.

        For a statement, calls wasted per 1,000 requests; for a failure, failed calls beyond those of the
        tool's other calls; for a sequence, requests beyond those that would succeed without it.
        """
        entry, ((hits, n), (other_hits, other_n)) = self.entry, self.counts
        if isinstance(entry, Statement):
            return entry.wasted
        unknown = entry.base_rate if isinstance(entry, Candidate) else 0.0
        return hits - n * (other_hits / other_n if other_n else unknown)

    @property
    def meaning(self) -> str:
        """What its rates are of."""
        is_of_requests = isinstance(self.entry, Counterexample) and self.entry.kind != "call"
        return "Requests that failed" if is_of_requests else _LABELS[self.kind][2]

    def sides(self) -> tuple[Interval, ...]:
        """Return the rates that it compares, with their 95 % intervals (Wilson)."""
        rows = zip(_LABELS[self.kind][:2], self.counts, (False, True), strict=True)
        return tuple(rate_of(label, *count, is_other=other) for label, count, other in rows if count[1])


def read_kept_proposals(source: PageSource) -> dict[str, WaitingProposal]:
    """Return the newest entry of each key, as it was last read."""
    workspace = source.workspace
    folders = [workspace.candidates_dir, workspace.counterexamples_dir]
    proposals = source.snapshots.get("proposals", folders, lambda: read_proposals(workspace)).value
    if not source.is_shared:
        return proposals
    places = [*folders, workspace.root / "coreloop.yaml"]
    return source.snapshots.get(
        "shared proposals", places, lambda: shared_proposals(workspace, proposals)
    ).value


def shared_proposals(
    workspace: Workspace, proposals: dict[str, WaitingProposal]
) -> dict[str, WaitingProposal]:
    """Return the proposals that a shared file lists, without what only the log names."""
    words = vocabulary(workspace, {name for one in proposals.values() for name in _tools_of(one.entry)})
    return {
        key: replace(one, entry=replace(one.entry.shared(), key=key))
        for key, one in proposals.items()
        if one.entry.n_behind >= MIN_PUBLISHED and one.entry.is_declared(words)
    }


def _tools_of(entry: Entry) -> set[str]:
    """Return every tool that a proposal names."""
    if isinstance(entry, Candidate):
        return {entry.engine, *(step.name for step in entry.tool_pattern)}
    if isinstance(entry, Counterexample):
        return {entry.tool, *(step.name for step in entry.steps)}
    advice = parse_advice(entry.line)
    return {entry.tool, *(advice.tools if advice is not None else ())}


def vocabulary(workspace: Workspace, tools: Iterable[str]) -> Vocabulary:
    """Return the names that coreloop.yaml or the source declares."""
    return Vocabulary(find_tools(tools, workspace), workspace.settings)


def read_proposals(workspace: Workspace) -> dict[str, WaitingProposal]:
    """Return the newest entry of each key; damaged files are skipped."""
    files, _ = read_every_night(workspace)
    newest: dict[str, WaitingProposal] = {}
    for path, document in sorted(files.items(), key=lambda file: file[1].generated_at):
        day = document.generated_at.date()
        for entry in document.entries:
            first = newest[entry.key].first if entry.key in newest else day
            newest[entry.key] = WaitingProposal(entry=entry, path=path, first=first, last=day)
    return newest


def by_gain(proposals: dict[str, WaitingProposal], states: Iterable[Standpoint]) -> Sequence[WaitingProposal]:
    """Return the proposals that nobody decided: those with a text first, statements first, then by gain.

    A sequence without a text waits for nothing.
    """
    open_keys = {one.key for one in states if one.state in UNDECIDED and not one.is_judged}
    known = (one for key, one in proposals.items() if key in open_keys)
    order: tuple[Kind, ...] = ("statement", "failure", "sequence")
    return sorted(
        [one for one in known if one.kind != "sequence" or one.entry.refused is None],
        key=lambda one: (one.entry.refused is not None, order.index(one.kind), -one.gain, one.entry.id),
    )
