"""A change and its effect as the JSON that `effect --json` prints and others read."""

from typing import Any

from coreloop.base.untrusted import untrusted
from coreloop.base.validation import fields_of
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import Look


def effect_facts(effect: Effect) -> dict[str, Any]:
    """The facts of a change; shares are 0 to 1, days are UTC."""
    change, look = effect.change, effect.look
    return {
        **fields_of(change, "tool", "target", "sha", "merged_at", "pull_request", "ids"),
        "by": "coreloop" if change.is_ours else "revert" if change.is_revert else "human",
        **fields_of(change, "reverted", "added", "removed"),
        **fields_of(effect, "verdict", "decided_on", "reason", "more_calls", "is_given_up", "is_stale"),
        **fields_of(effect, "has_returned", "todo"),
        "counts": "named failure" if effect.lines else "all failures",
        **fields_of(effect, "since", "until"),
        "figures": None if look is None else _figures(look),
        **untrusted(fields_of(effect, "guardrails", "notes")),  # names of tools, models and categories
    }


def _figures(look: Look) -> dict[str, Any]:
    estimate = look.estimate
    return {
        "day": look.day,
        **fields_of(estimate, "before", "expected", "after", "difference"),
        **fields_of(look, "low", "high"),
        **fields_of(estimate, "n_before", "n_after", "days_before", "days_after", "n_controls"),
    }
