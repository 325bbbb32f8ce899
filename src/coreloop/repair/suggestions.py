"""Suggestions that only a person may apply."""

from datetime import datetime

from coreloop.errors import UsageError
from coreloop.repair.actions import SUGGEST_LINK
from coreloop.repair.desk import RepairDesk
from coreloop.repair.tables import Link, Status, Suggestion
from coreloop.search.index.declared import entry_named


def apply_suggestion(desk: RepairDesk, suggestion_id: str, *, now: datetime) -> Suggestion:
    """Apply a suggestion: its link becomes a row that retrieval uses. No file changes.

    Raises
    ------
    UsageError
        There is no such suggestion, or it was decided already.
    """
    suggestion = desk.tables.suggestion(suggestion_id)
    if suggestion.action != SUGGEST_LINK:
        raise UsageError(
            f"a suggestion {suggestion.action} cannot be applied by this version; upgrade coreloop"
        )
    link = Link(suggestion.details["code_symbol"], suggestion.details["schema_ref"])
    status: Status = "applied" if _exists(desk, link, now) else "failed"
    desk.tables.decide(suggestion_id, status, now=now, link=link if status == "applied" else None)
    return desk.tables.suggestion(suggestion_id)


def reject_suggestion(desk: RepairDesk, suggestion_id: str, *, now: datetime) -> Suggestion:
    """Reject a suggestion; the same one is not made again.

    Raises
    ------
    UsageError
        There is no such suggestion, or it was decided already.
    """
    desk.tables.decide(suggestion_id, "rejected", now=now)
    return desk.tables.suggestion(suggestion_id)


def _exists(desk: RepairDesk, link: Link, now: datetime) -> bool:
    """Whether the index still has both ends of a link."""
    index = desk.workspace.index_file
    location, _, name = link.code_symbol.partition("::")
    schema, _, place = link.schema_ref.partition("#")
    ends = ((location, name), (schema, f"#{place}"))
    return all(entry_named(index, file, entry, now=now) is not None for file, entry in ends)
