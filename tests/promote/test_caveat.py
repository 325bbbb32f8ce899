"""A failure of real requests, mined, and promoted into the example shop as a caveat."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coreloop.history.trailers import read_trailers
from retail_shop import descriptions, git, run, shop_with_records

TOOL = "get_return_refund_options"
FAILED = "57 of 57 calls failed (invalid_argument); with them 0 of 70"
CAVEAT = f"- Fails: called without order_id and item_ids: {FAILED}."


@dataclass(frozen=True)
class Shop:
    """The shop after a night of refining."""

    folder: Path
    remote: Path

    def coreloop(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run([sys.executable, "-m", "coreloop", *words], self.folder)

    def refine(self) -> list[dict[str, Any]]:
        done = self.coreloop("refine", "--since", "2025-07-01", "--json")
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)["counterexamples"]
        return found

    @property
    def file(self) -> Path:
        (path,) = (self.folder / "data" / "audit" / "counterexamples").glob("*.json")
        return path

    def first(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))["counterexamples"][0]
        return found

    def promote(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.coreloop("promote", "--candidate", str(self.file), "--id", self.first()["id"], *options)

    def branches(self) -> list[str]:
        names = git(self.remote, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        return [name for name in names if name != "main"]


@pytest.fixture
def shop(tmp_path: Path, tau_log: Path) -> Shop:
    shop = Shop(*shop_with_records(tmp_path, tau_log))
    shop.refine()
    return shop


def test_dry_run_of_a_caveat_shows_section_title_and_replay_and_pushes_nothing(shop: Shop) -> None:
    first = shop.first()
    assert (first["tool"], first["suggested_append"]["body"].splitlines()[0]) == (TOOL, CAVEAT)
    before = git(shop.remote, "show-ref")

    done = shop.promote()

    assert f"target   retail/returns.py::{TOOL}, section Caveats" in done.stdout
    assert "[CORELOOP-F] docs(" in done.stdout
    assert "replay   not-applicable" in done.stdout
    assert git(shop.remote, "show-ref") == before


def test_cap_of_the_provider_whose_requests_failed_binds(shop: Shop) -> None:
    assert shop.first()["providers"] == {"openai": 57}

    plan = json.loads(shop.promote("--json").stdout)

    (cap,) = plan["reach"]["caps"]
    assert (cap["provider"], cap["limit"], cap["binds"]) == ("openai", 1024, True)
    assert (cap["lost"] != []) == (plan["obstacles"] != [])


@pytest.mark.slow
def test_confirmed_caveat_is_one_commit_that_the_next_refine_knows(shop: Shop, tmp_path: Path) -> None:
    first = shop.first()
    lines = first["suggested_append"]["body"].splitlines()
    before = descriptions(shop.folder)

    done = shop.promote("--confirm", "--allow-unreached")

    assert done.returncode == 0, done.stderr
    (branch,) = shop.branches()
    assert branch.startswith("skill/caveat-get-return-refund-options-general-")
    assert git(shop.remote, "rev-list", "--count", f"main..{branch}").strip() == "1"
    message = git(shop.remote, "log", "-1", "--format=%B", branch)
    assert message.startswith("[CORELOOP-F] docs(")
    trailers = read_trailers(message)
    assert trailers["Phase"] == "F"
    assert trailers["Candidate-Key"] == first["key"]
    assert trailers["Replay"].startswith("not-applicable")
    assert (trailers["Observed"], trailers["Success-Rate"]) == ("57", "0.000")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", branch, str(shop.remote), str(clone))
    after = descriptions(clone)
    new = [line for line in after[TOOL].splitlines() if line not in before[TOOL].splitlines()]
    assert [line for line in new if line.strip("- ") not in {"", "Caveats"}] == lines
    assert "Caveats" in after[TOOL].splitlines()
    assert {**after, TOOL: ""} == {**before, TOOL: ""}
    sent = git(shop.remote, "show", "--format=", branch)
    assert first["error_template"] not in sent + message
    assert not any(each["question"] in sent + message for each in first["examples"])

    again = shop.promote("--confirm", "--allow-unreached", "--json")

    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["fresh"] is False
    assert shop.branches() == [branch]
    keys = {one["key"] for one in shop.refine()}
    assert first["key"] not in keys
    assert keys
