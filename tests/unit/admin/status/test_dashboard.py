"""The dashboard's text: what waits, what is wrong, and how the night ended."""

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from coreloop.admin.checks.diagnosis import Alarm
from coreloop.admin.status.dashboard import dashboard_body, dashboard_page
from coreloop.admin.status.promotions import OpenPromotion, Promotions
from coreloop.admin.status.stability import Stability
from coreloop.admin.status.status import Standing, Status
from coreloop.cli.nightly import main
from promoting import counterexample, write_candidates, write_counterexamples

NOTHING = Standing(pending=0, oldest=None, promoted=0, rejected=0)
EMPTY = Status(
    generated_at=datetime(2026, 4, 25, tzinfo=UTC),
    log=None,
    sieved=None,
    candidates=NOTHING,
    counterexamples=NOTHING,
    promotions=None,
)
OPEN = (
    OpenPromotion(
        "skill/docstring-a", datetime(2026, 4, 2, 3, tzinfo=UTC), "https://github.example/octo/tools/pull/1"
    ),
    OpenPromotion("skill/docstring-b", datetime(2026, 4, 3, 3, tzinfo=UTC)),
)


def test_what_waits_and_what_is_wrong_is_listed():
    promotions = Promotions(
        base="main", merged=0, by_phase={}, reverted=0, newest=None, open=OPEN, stability=Stability((), ())
    )
    status = replace(
        EMPTY,
        candidates=replace(NOTHING, pending=1, oldest=date(2026, 4, 1)),
        counterexamples=replace(NOTHING, pending=2),
        promotions=promotions,
        notes=("no history: ask @octo",),
        alarms=(Alarm("no_record", "no record for 8 days", "check [the server](x)"),),
    )
    lines = dashboard_page(status, "### 1 proposal\n").splitlines()
    assert lines == [
        "### Waits",
        "",
        "- 1 proposal from pattern for a promotion or a verdict, the oldest since 2026-04-01",
        "- 2 proposals from refine for a promotion or a verdict",
        "- open since 2026-04-02: https://github.example/octo/tools/pull/1",
        "- open since 2026-04-03: branch skill/docstring-b, no pull request known",
        "",
        "### Wrong",
        "",
        "- **no record for 8 days**: check \\[the server\\](x)",
        "- no history: ask &#64;octo",
        "",
        "### 1 proposal",
    ]


def test_body_says_how_the_run_ended():
    body = dashboard_body("", result="failure", run_url="https://github.example/run")
    assert body.startswith("The [newest nightly run](https://github.example/run) ended with **failure**.")
    assert "It wrote no status" in body


def test_the_outputs_of_a_job_are_the_page_and_the_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    shared = tmp_path / "shared"
    write_candidates(shared / "candidates/2026-04-25-candidates.json")
    write_counterexamples(shared / "counterexamples/2026-04-25-counterexamples.json", counterexample())
    assert main(["outputs", str(shared)], {}) == 0
    first, *page, last = capsys.readouterr().out.splitlines()
    end = first.removeprefix("page<<")
    assert page[:3] == ["### Waits", "", "- nothing"]
    assert "### 1 proposal" in page
    assert "### 1 failing group" in page
    assert page[-3:] == [end, f"comments<<{end}", "[]"]
    assert last == end


def test_usage_errors_are_one_line(capsys: pytest.CaptureFixture[str]):
    assert main(["outputs"], {}) == 2
    capsys.readouterr()
    assert main(["dashboard"], {"GITHUB_REPOSITORY": "octo/tools"}) == 2
    assert capsys.readouterr().err == (
        "coreloop: GITHUB_SERVER_URL is not set; this runs in a GitHub workflow\n"
    )
