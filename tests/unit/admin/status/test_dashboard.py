"""The dashboard's text, from the JSON that ``status`` prints."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coreloop.admin.checks.diagnosis import Alarm
from coreloop.admin.status.dashboard import (
    AlarmFacts,
    OpenFacts,
    PromotionFacts,
    StandingFacts,
    StatusFacts,
    dashboard_body,
    dashboard_page,
    read_facts,
)
from coreloop.admin.status.status import Standing, Status
from coreloop.base.errors import WorkspaceError
from coreloop.cli.dashboard import main
from coreloop.cli.emit import json_of
from coreloop.cli.status import status_facts
from promoting import counterexample, write_candidates, write_counterexamples

EMPTY = StatusFacts(StandingFacts(0), StandingFacts(0), None, (), ())


def full(**changes: Any) -> StatusFacts:
    facts = {
        "candidates": StandingFacts(1, "2026-04-01"),
        "counterexamples": StandingFacts(2, None),
        "promotions": PromotionFacts(
            (
                OpenFacts(
                    "skill/docstring-a",
                    "2026-04-02T03:00:00+00:00",
                    "https://github.example/octo/tools/pull/1",
                ),
                OpenFacts("skill/docstring-b", "2026-04-03T03:00:00+00:00"),
            )
        ),
        "notes": ("no history: ask @octo",),
        "alarms": (AlarmFacts("no record for 8 days", "check [the server](x)"),),
    }
    return StatusFacts(**{**facts, **changes})


def test_what_waits_and_what_is_wrong_is_listed():
    lines = dashboard_page(full(), "### 1 proposal\n").splitlines()
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


def test_nothing_is_said_where_nothing_waits():
    assert dashboard_page(EMPTY, "") == "### Waits\n\n- nothing\n\n### Wrong\n\n- nothing\n"


def test_body_says_how_the_run_ended():
    body = dashboard_body("", result="failure", run_url="https://github.example/run")
    assert body.startswith("The [newest nightly run](https://github.example/run) ended with **failure**.")
    assert "It wrote no status" in body


def test_page_is_read_from_what_status_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    standing = Standing(pending=3, oldest=datetime(2026, 4, 1, tzinfo=UTC).date(), promoted=0, rejected=0)
    alarm = Alarm("no_record", "no record for 8 days", "check the server")
    status = Status(
        generated_at=datetime(2026, 4, 25, tzinfo=UTC),
        log=None,
        sieved=None,
        candidates=standing,
        counterexamples=standing,
        promotions=None,
        alarms=(alarm,),
    )
    path = tmp_path / "status.json"
    path.write_bytes(json_of(status_facts(status)))
    facts = read_facts(path)
    assert facts.candidates == StandingFacts(3, "2026-04-01")
    assert facts.alarms == (AlarmFacts("no record for 8 days", "check the server"),)
    write_candidates(tmp_path / "candidates/2026-04-25-candidates.json")
    write_counterexamples(tmp_path / "counterexamples/2026-04-25-counterexamples.json", counterexample())
    assert main(["--render", str(path), str(tmp_path)], {}) == 0
    page = capsys.readouterr().out
    assert "- 3 proposals from pattern for a promotion" in page
    assert "### 1 proposal\n" in page
    assert "### 1 failing group, 1 without text\n" in page


@pytest.mark.parametrize("content", ["", "[]", json.dumps({"alarms": []})])
def test_file_that_is_not_a_status_is_an_error(tmp_path: Path, content: str):
    path = tmp_path / "status.json"
    path.write_text(content)
    with pytest.raises(WorkspaceError, match="is not the output of status --json"):
        read_facts(path)
    assert main(["--render", str(path), str(tmp_path)], {}) == 2


def test_usage_errors_are_one_line(capsys: pytest.CaptureFixture[str]):
    assert main(["--render"], {}) == 2
    capsys.readouterr()
    assert main([], {"GITHUB_REPOSITORY": "octo/tools"}) == 2
    assert capsys.readouterr().err == (
        "coreloop: GITHUB_SERVER_URL is not set; this runs in a GitHub workflow\n"
    )
