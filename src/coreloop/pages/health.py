"""The section on health: from records to merges, where things fall, and what needs a human."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from coreloop.mine.session import MiningOptions
from coreloop.pages.activity import Activity, read_activity, shared
from coreloop.pages.charts import Bar
from coreloop.pages.section import Section, View
from coreloop.pages.snapshot import Snapshot
from coreloop.pages.source import Source
from coreloop.pages.waiting import read_kept_proposals, vocabulary
from coreloop.status.facts import Status
from coreloop.status.read import read_status

_MAX_SHOWN: Final = 12


def read_health(source: Source) -> View:
    """Read the state of the loop, and the activity of the newest days with records."""
    status = _status(source)
    activity = read_kept_activity(source)
    view: dict[str, Any] = {"status": status.value, "read_at": status.read_at, "problem": status.problem}
    if activity is None:
        return view | {"activity": None, "funnel": (), "fell": {}}
    return view | {
        "activity": activity.value,
        "funnel": _funnel(source, status.value, activity.value),
        "fell": _fell(source, activity.value),
        "categories": activity.value.categories[:_MAX_SHOWN],
        "failures": activity.value.failures[:_MAX_SHOWN],
        "wasted": [
            Bar(f"{one.tool}: {one.error_class}", one.wasted_s, f"{one.wasted_s:,.1f} s, {one.n:,}")
            for one in activity.value.failures[:_MAX_SHOWN]
        ],
    }


def read_kept_activity(source: Source) -> Snapshot[Activity] | None:
    """Return what the records say; None if nothing was recorded."""
    workspace = source.workspace
    if not workspace.records_dir.is_dir():
        return None
    folders = [workspace.records_dir, workspace.judgments_dir]
    kept = source.snapshots.get("activity", folders, lambda: read_activity(workspace, now=source.now))
    if not source.is_shared:
        return kept
    words = vocabulary(workspace, [tool.name for tool in kept.value.tools])
    return replace(kept, value=shared(kept.value, words))


def _status(source: Source) -> Snapshot[Status]:
    workspace = source.workspace
    places = [
        *(workspace.records_dir, workspace.judgments_dir, workspace.candidates_dir),
        *(workspace.counterexamples_dir, workspace.root / ".git" / "HEAD"),
    ]
    return source.snapshots.get(
        "status",
        places,
        lambda: read_status(workspace, now=source.now, environ=source.environ, mining=MiningOptions()),
    )


def _funnel(source: Source, status: Status, activity: Activity) -> list[Bar]:
    """From the records of the window to what was merged."""
    proposals = read_kept_proposals(source)
    promotions = status.promotions
    merged = promotions.merged if promotions else 0
    steps = {
        "Records": sum(activity.by_day.values()),
        "Patterns": sum(activity.sieved.fell.values()) + activity.sieved.n_candidates,
        "Proposals": len(proposals),
        "Proposals with a text": sum(one.entry.refused is None for one in proposals.values()),
        "Pull requests": merged + (len(promotions.open) if promotions else 0),
        "Merged": merged,
    }
    return [Bar(label, n, f"{n:,}") for label, n in steps.items()]


def _fell(source: Source, activity: Activity) -> Mapping[str, int]:
    """Why patterns are not proposed, and why proposals have no text."""
    refused = Counter(
        one.entry.refused.partition(":")[0]
        for one in read_kept_proposals(source).values()
        if one.entry.refused is not None
    )
    gates = {reason: n for reason, n in activity.sieved.fell.items() if n}
    return {**gates, **dict(refused.most_common(_MAX_SHOWN))}


HEALTH: Final = Section(name="health", title="Health", read=read_health)
