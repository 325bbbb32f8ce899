"""Every attack of the table is held: raw HTTP, pages that lead inside, hostile texts."""

from pathlib import Path

import pytest

from attack.__main__ import tried


@pytest.mark.slow
def test_every_attack_is_held(tmp_path: Path):
    (tmp_path / "project").mkdir()
    results = list(tried(tmp_path))
    assert [(attack.kind, attack.name, broken) for attack, broken in results if broken] == []
    assert len(results) > 350
