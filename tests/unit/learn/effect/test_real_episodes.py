"""Real episodes of an agent, into which the failures of a line are planted."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from coreloop.learn.effect.verdict import EffectVerdict
from effects import Planted, at, effect_at, make_shop
from logs import write_log

TOOL, OTHER, DAY, N_DAYS = "get_order_details", "get_user_details", 56, 100
PLANTED = Planted(TOOL, 0.22, 0.04, DAY, line="- Always pass order_id")


def _planted(call: dict[str, Any], place: float, kind: str, *, is_after: bool) -> dict[str, Any]:
    """A call, failed if it is among those that are planted; ``place`` is drawn from 0 to 1."""
    changed = {"another tool": OTHER, "none": ""}.get(kind, TOOL)
    share = 0.04 if is_after and call["name"] == changed else 0.22
    if call["name"] not in {TOOL, changed} or place >= 0.22:
        return call
    if place < share:
        return call | {"ok": False, "error": "no id was passed", "args": {"shown": "all"}}
    return call | ({"ok": False, "error": "nothing has this id"} if kind == "moved" else {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "expected", "day"),
    [
        ("line", EffectVerdict.HELPS, 8),
        ("moved", EffectVerdict.MOVED, 11),
        ("another tool", EffectVerdict.NO_EFFECT, 19),
        ("none", EffectVerdict.NO_EFFECT, 18),
    ],
)
def test_an_effect_is_found_among_real_failures(
    kind: str, expected: EffectVerdict, day: int | None, tmp_path: Path, quiet_git: None, tau_log: Path
):
    shop, rng = make_shop(tmp_path, [PLANTED]), Random(3)
    episodes = [json.loads(line) for line in tau_log.read_text(encoding="utf-8").splitlines()] * 4
    rng.shuffle(episodes)
    rows = []
    for number, episode in enumerate(episodes):
        moment = N_DAYS * number / len(episodes)
        is_after = moment > DAY + 1
        calls = [_planted(one, rng.random(), kind, is_after=is_after) for one in episode["tool_calls"]]
        about = {"ts": at(moment).isoformat(), "request_id": f"{number}", "session_hash": f"session:{number}"}
        rows.append(episode | about | {"tool_calls": calls})
    write_log(shop.workspace.records_dir / "episodes.jsonl", rows)
    effect = effect_at(shop, N_DAYS)
    assert effect.verdict is expected
    found = (effect.decided_on - at(DAY).date()).days if effect.decided_on else None
    assert found == day
