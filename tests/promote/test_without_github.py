"""What ``promote --confirm`` says was done, and what to do next, where there is no remote or no GitHub."""

from typing import Any

from promoting import Project, run_git, statement, write_candidates

LINE = "- company: from search().hits[].company"


def _confirm(project: Project, entry_point: Any) -> tuple[str, str]:
    """Promote a line; gives what was printed and the branch."""
    project.commit({"coreloop.yaml": "categories: []\n"}, "settings")
    write_candidates(project.candidates, statement(line=LINE))
    options = ("--candidate", str(project.candidates), "--tool", "analysis", "--allow-unreached")
    _, dry, _ = entry_point(project.root, "promote", *options)
    assert ("as there is no remote" in " ".join(dry.split())) is not bool(project.git("remote"))
    code, out, err = entry_point(project.root, "promote", *options, "--confirm")
    assert code == 0, err
    (branch,) = (line.split()[1] for line in out.splitlines() if line.startswith("branch "))
    return out, branch


def _run_printed(project: Project, out: str) -> None:
    """Run the commands that were printed."""
    for line in out.splitlines():
        if line.startswith("  git "):
            for command in line.strip().split(" && "):
                run_git(project.root, *command.split()[1:])


def test_without_a_remote_nothing_is_called_pushed_and_the_commands_merge_the_branch(
    project: Project, entry_point: Any
):
    project.git("remote", "remove", "origin")
    out, branch = _confirm(project, entry_point)
    assert "pushed   " not in out
    assert "gh pr create" not in out
    assert "committed     one commit on main " in out
    assert "here; nothing was pushed" in out
    assert f"  git show {branch}" in out
    _run_printed(project, out)
    assert LINE in (project.root / "tools/finance.py").read_text()
    write_candidates(project.candidates, statement(tool="show"))
    _, _, err = entry_point(
        project.root, "promote", "--candidate", str(project.candidates), "--tool", "analysis"
    )
    merged = project.git("rev-parse", "--short=12", "HEAD")
    assert f"already promoted: commit {merged}, merged on " in err
    assert err.endswith("dartlab-coreloop effect --tool analysis shows what it did\n")


def test_a_remote_that_is_not_on_github_gets_the_commands_that_merge_its_branch(
    project: Project, entry_point: Any
):
    project.git("remote", "set-url", "origin", str(project.remote))
    project.git("push", "--quiet", "origin", "HEAD:main")
    out, branch = _confirm(project, entry_point)
    assert "pushed        one commit on main " in out
    assert "gh pr create" not in out
    assert f"  git show origin/{branch}" in out
    [(_, patch)] = (line.split() for line in out.splitlines() if line.startswith("patch "))
    project.git("am", "--quiet", "--keep-non-patch", patch)
    assert project.git("log", "-1", "--format=%B") == run_git(
        project.remote, "log", "-1", "--format=%B", branch
    )
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    _run_printed(project, out)
    assert LINE in (project.root / "tools/finance.py").read_text()
