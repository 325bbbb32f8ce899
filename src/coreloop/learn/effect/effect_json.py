"""A change and its effect as the JSON that `effect --json` prints and others read."""

from typing import Any

from coreloop.learn.effect.effect import Effect


def effect_facts(effect: Effect) -> dict[str, Any]:
    """The facts of a change; shares are 0 to 1, days are UTC."""
    change, look = effect.change, effect.look
    estimate = look.estimate if look is not None else None
    return {
        "tool": change.tool,
        "target": change.target,
        "sha": change.sha,
        "merged_at": change.merged_at,
        "pull_request": change.pull_request,
        "ids": change.ids,
        "by": "coreloop" if change.is_ours else "revert" if change.is_revert else "human",
        "reverted": change.reverted,
        "added": change.added,
        "removed": change.removed,
        "verdict": effect.verdict,
        "decided_on": effect.decided_on,
        "reason": effect.reason,
        "more_calls": effect.more_calls,
        "is_given_up": effect.is_given_up,
        "is_stale": effect.is_stale,
        "has_returned": effect.has_returned,
        "todo": effect.todo,
        "counts": "named failure" if effect.lines else "all failures",
        "since": effect.since,
        "until": effect.until,
        "figures": None
        if estimate is None or look is None
        else {
            "day": look.day,
            "before": estimate.before,
            "expected": estimate.expected,
            "after": estimate.after,
            "difference": estimate.difference,
            "low": look.low,
            "high": look.high,
            "n_before": estimate.n_before,
            "n_after": estimate.n_after,
            "days_before": estimate.days_before,
            "days_after": estimate.days_after,
            "n_controls": estimate.n_controls,
        },
        "guardrails": effect.guardrails,
        "notes": effect.notes,
    }
