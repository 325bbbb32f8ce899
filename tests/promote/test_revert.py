"""A harmful line is taken back: an alarm, a dry run, a draft that removes that line and nothing else."""

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.admin.status.read_status import read_status
from coreloop.base.git.promotions import read_history
from coreloop.base.git.repository import Repository
from coreloop.cli.main import main
from coreloop.learn.effect.run import run_effect
from coreloop.learn.verdicts.proposal_state import ProposalState
from effects import FILE, Planted, Shop, at, git, make_shop, proposal_id, write_days
from promoting import run_git

PLANTED = (Planted("refund_order", 0.02, 0.4, 60), Planted("cancel_order", 0.3, 0.02, 60))


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Shop:
    shop = make_shop(tmp_path, PLANTED)
    write_days(shop, PLANTED, range(90))
    run_git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(shop.project.remote))
    shop.project.git("remote", "add", "origin", str(shop.project.remote))
    shop.project.git("push", "--quiet", "--set-upstream", "origin", "main")
    monkeypatch.chdir(shop.project.root)
    return shop


def _run(*args: str):
    return CliRunner().invoke(main, ["promote", "--revert", *args])


@pytest.mark.slow
def test_the_status_warns_and_names_the_command(shop: Shop):
    status = read_status(shop.workspace, now=at(90), environ={})
    (alarm,) = [alarm for alarm in status.alarms if alarm.kind == "hurts"]
    assert "refund_order" in alarm.text
    assert f"promote --revert {proposal_id(11)}" in alarm.todo
    states = {standpoint.id: standpoint.state for standpoint in status.states}
    assert states[proposal_id(11)] is ProposalState.HURTS
    assert states[proposal_id(12)] is ProposalState.HELPS


@pytest.mark.slow
def test_a_dry_run_changes_nothing(shop: Shop):
    before = shop.project.fingerprint()
    done = _run(proposal_id(11))
    assert done.exit_code == 0, done.output
    assert "removes  - Always pass reason" in done.stdout
    assert "verdict  hurts" in done.stdout
    after = shop.project.fingerprint()
    changed = {path for path in after if after[path] != before.get(path)}
    remade = f"{shop.workspace.facts_dir}/"
    assert {path for path in changed if not path.startswith(remade)} <= {
        str(shop.workspace.effects_file),
        str(shop.workspace.audit_dir / "case.key"),
    }


@pytest.mark.slow
def test_the_branch_removes_the_line_and_counts_as_a_revert(shop: Shop):
    assert _run(proposal_id(11), "--confirm").exit_code == 0
    branch = f"revert/{shop.shas['refund_order'][:12]}"
    git(shop, "fetch", "--quiet", "origin")
    difference = git(shop, "diff", "--unified=0", "main", f"origin/{branch}").splitlines()
    removed = [line[1:].strip() for line in difference if line.startswith("-") and line[1:2] != "-"]
    assert removed == ['"""Do refund_order.', "", "- Always pass reason", '"""']
    assert git(shop, "diff", "--name-only", "main", f"origin/{branch}") == FILE
    git(shop, "merge", "--quiet", "--no-ff", "-m", "Merge", f"origin/{branch}")
    git(shop, "push", "--quiet")
    repository = Repository(shop.project.root)
    by_id = {found.candidate_id: found.reverted for found in read_history(repository, "main").promotions()}
    assert by_id == {proposal_id(11): True, proposal_id(12): False}
    effects = run_effect(shop.workspace, now=at(90) + timedelta(days=365)).effects
    assert [effect.change.is_revert for effect in effects].count(True) == 1


@pytest.mark.slow
def test_lines_that_a_person_changed_since_are_refused(shop: Shop):
    text = (shop.project.root / FILE).read_text().replace("- Always pass reason", "- Mind the reason")
    shop.project.commit({FILE: text}, "reworded")
    shop.project.git("push", "--quiet")
    assert "cannot be removed with proof" in str(_run(proposal_id(11)).exception)
