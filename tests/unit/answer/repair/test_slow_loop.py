"""What failed and was repaired becomes evidence of the slow loop."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from coreloop.answer.research.run import answer
from coreloop.base.date_range import Days
from coreloop.learn.mine.folder import MiningOptions
from coreloop.learn.propose import NightRequest, run_refine
from repairing import shop, shop_deps


def test_repaired_failures_are_a_counterexample_with_their_cause(tmp_path: Path):
    workspace = shop(tmp_path)
    with shop_deps(workspace) as deps:
        for name in ("lamp", "chair", "table", "shelf", "mirror", "carpet"):
            (tmp_path / "docs" / f"{name}.md").write_text(
                f"# {name}\n\nThe warranty of a {name} is five years long.\n"
            )
            found = answer(f"How long is the warranty of a {name}?", deps=deps)
            assert (found.supported, found.repairs) == (True, 1)
    now = datetime.now(UTC)
    result = run_refine(
        workspace,
        NightRequest(
            days=Days(now.date() - timedelta(days=1), now.date()),
            mining=MiningOptions(in_dir=workspace.own_records_dir),
        ),
        now=now,
    )
    example, *_ = [one for one in result.document.counterexamples if one.kind == "call"]
    assert (example.tool, example.error_class, example.n_failures) == ("retrieve", "not_found", 5)
    assert example.error_template is not None
    assert "not found in the index" in example.error_template
