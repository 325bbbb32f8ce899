"""Suggestions that only a person may apply."""

from datetime import datetime
from pathlib import Path

from coreloop.answer.repair.actions import SUGGEST_LINK
from coreloop.answer.repair.store import RepairStore
from coreloop.answer.repair.tables import Link, Status, Suggestion
from coreloop.answer.search.index.find_symbols import entry_named
from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import Workspace


def apply_suggestion(
    workspace: Workspace, tables: RepairStore, suggestion_id: str, *, now: datetime
) -> Suggestion:
    """Apply a suggestion: its link becomes a row that retrieval uses. No file changes.

    Raises
    ------
    UsageError
        There is no such suggestion, or it was decided already.
    """
    suggestion = tables.suggestion(suggestion_id)
    if suggestion.action != SUGGEST_LINK:
        raise UsageError(
            f"a suggestion {suggestion.action} cannot be applied by this version; upgrade coreloop"
        )
    link = Link(suggestion.details["code_symbol"], suggestion.details["schema_ref"], now)
    status: Status = "applied" if _exists(workspace.index_file, link) else "failed"
    tables.decide(suggestion_id, status, now=now, link=link if status == "applied" else None)
    return tables.suggestion(suggestion_id)


def reject_suggestion(tables: RepairStore, suggestion_id: str, *, now: datetime) -> Suggestion:
    """Reject a suggestion; the same one is not made again.

    Raises
    ------
    UsageError
        There is no such suggestion, or it was decided already.
    """
    tables.decide(suggestion_id, "rejected", now=now)
    return tables.suggestion(suggestion_id)


def _exists(index: Path, link: Link) -> bool:
    """Whether the index still has both ends of a link."""
    location, _, name = link.code_symbol.partition("::")
    schema, _, place = link.schema_ref.partition("#")
    ends = ((location, name), (schema, f"#{place}"))
    return all(entry_named(index, file, entry) is not None for file, entry in ends)
