"""One run of Phase P: a folder of records in, two files of proposals out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from coreloop.mine.folder import newest_day
from coreloop.mine.rollup import Rollup
from coreloop.mine.window import Days, merge
from coreloop.pattern.candidates import Found, find_candidates
from coreloop.pattern.document import CandidatesFile, number, read_document, redact, to_json, to_markdown
from coreloop.pattern.draft import draft
from coreloop.pattern.success import Gate
from coreloop.settings import Settings
from coreloop.tools import Tool, Unresolved, resolve_tools
from coreloop.workspace import Workspace, locked, write_private


@dataclass(frozen=True, slots=True)
class Proposals:
    """What one run found.

    Attributes
    ----------
    days : Days
        The window.
    n_records, n_files : int
        Records in the window, and files that were read.
    newest : date or None
        Day of the newest record of all, in the window or not.
    found : Found
        Candidates with their texts, best first, and the groups that fell.
    skipped : dict of str to int
        Lines that were not mined, by reason, in all of the files.
    tools : dict of str to Tool or Unresolved
        Definitions of the candidates' tools.
    """

    days: Days
    n_records: int
    n_files: int
    newest: date | None
    found: Found
    skipped: Mapping[str, int]
    tools: Mapping[str, Tool | Unresolved]


def propose(
    rollups: list[Rollup],
    days: Days,
    gate: Gate,
    *,
    workspace: Workspace,
    known: frozenset[str] = frozenset(),
) -> Proposals:
    """Find the candidates of a window, but for ``known`` keys, and draft their texts; writes nothing."""
    window = merge(rollups, days)
    found = find_candidates(window, gate, known=known)
    names = {step.name for candidate in found.candidates for step in candidate.tool_pattern}
    tools = resolve_tools(names, root=workspace.root, configured=workspace.settings.tools)
    drafted = tuple(draft(candidate, tools, workspace.settings) for candidate in found.candidates)
    return Proposals(
        days=days,
        n_records=window.n_records(),
        n_files=len(rollups),
        newest=newest_day(rollups),
        found=Found(drafted, found.n_groups, found.fell),
        skipped=window.skipped,
        tools=tools,
    )


def write_proposals(
    proposals: Proposals, folder: Path, *, now: datetime, sanitized: bool, settings: Settings
) -> tuple[CandidatesFile, tuple[Path, Path]]:
    """Write ``{day}-candidates.json`` and ``{day}-draft.md``; a key that the day knows keeps its id.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. Nothing is half written.
    """
    day = now.date()
    path, draft_path = folder / f"{day}-candidates.json", folder / f"{day}-draft.md"
    with locked(folder):
        known = read_document(path).ids if path.exists() else {}
        candidates, ids = number(proposals.found.candidates, known, day)
        if sanitized:
            candidates = tuple(redact(candidate, proposals.tools, settings) for candidate in candidates)
        document = CandidatesFile(generated_at=now, window=proposals.days, candidates=candidates, ids=ids)
        write_private(draft_path, to_markdown(document, proposals.tools).encode("utf-8", "replace"))
        write_private(path, to_json(document))
    return document, (path, draft_path)
