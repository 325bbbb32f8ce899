"""Every attack of the table is held: raw HTTP, pages that lead inside, hostile texts, kills."""

from collections import Counter
from pathlib import Path

import pytest

from attack.__main__ import tried
from attack.kills import KILLS


@pytest.mark.slow
def test_every_attack_is_held(tmp_path: Path):
    (tmp_path / "project").mkdir()
    results = list(tried(tmp_path))
    assert [(attack.kind, attack.name, broken) for attack, broken in results if broken] == []
    counts = Counter(attack.kind for attack, _ in results)
    assert counts["raw HTTP"] >= 136
    assert counts["kill"] == KILLS
    assert counts.total() > 400
