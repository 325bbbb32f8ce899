"""The demo ends with sixty days after a merge, which it says are simulated."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.admin.demo.effect import simulate_effect
from coreloop.admin.demo.run import make_project, record_requests
from coreloop.cli.main import main
from coreloop.learn.effect.verdict import EffectVerdict
from scripted import NOW


def test_the_share_before_is_that_of_the_records(tmp_path: Path):
    make_project(tmp_path)
    record_requests(tmp_path, seed=7, now=NOW)
    effect = simulate_effect(tmp_path, "update_ticket", ["- priority: one of high, low, normal"], seed=7)
    again = simulate_effect(tmp_path, "update_ticket", ["- priority: one of high, low, normal"], seed=7)
    assert effect == again
    assert effect.decision.verdict is EffectVerdict.HELPS
    assert effect.decision.look is not None
    found = effect.decision.look.named
    assert 0.05 < found.before < 0.5
    assert found.after < found.expected / 2


@pytest.mark.slow
def test_the_caption_says_that_it_is_simulated(tmp_path: Path):
    said = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "demo")]).stdout
    caption, shown = (
        said.index("effect   SIMULATED: 60 days of 40 calls a day"),
        said.index("days after the merge"),
    )
    assert caption < shown < said.index("Try it yourself")
    assert re.search(r"0 .*├.*●.*┤.*○", said)
