"""One pull request per docstring: all about a tool, a branch that grows or moves, lines that give way."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import RefusedError
from coreloop.base.git.trailers import read_promoted
from coreloop.base.github.protocol import Forge
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.guard.change import CheckInputs
from coreloop.guard.check import Decision, check_event
from coreloop.promote.commits import WritableRepository
from coreloop.promote.draft_pull_request import Done, promote
from coreloop.promote.plan import Plan
from coreloop.promote.run import PromoteRequest, plan_promotion, prepare_promotion, select_tool
from github_stand_in import GithubStandIn
from guarding import Payload, event
from promoting import (
    BASE,
    FILE,
    Project,
    candidate,
    statement,
    write_candidates,
    write_counterexamples,
)

SOURCE_LINE = "- company: from search().hits[].company"
FIRST, ONCE, ALWAYS = "- company: from show().code", "- axis: from show().name", "- Always pass company"
ASK = PromoteRequest(tool="analysis")

KINDS = {SOURCE_LINE: "source", FIRST: "source", ONCE: "source"}
VALUES = {"n_ok": 58, "n": 61, "other_ok": 1, "other_n": 9, "cases": 20, "other_cases": 5}


def statement_entry(line: str, number: int, **changes: Any) -> dict[str, Any]:
    """A statement about ``analysis``; what is of no other kind is a condition."""
    kind = KINDS.get(line, "presence")
    more = {"sides": VALUES, "held": VALUES} if kind == "source" else {}
    id = f"{'cand' if kind == 'source' else 'ce'}-2026-04-25-{number:03}"
    return statement(**{"line": line, "kind": kind, "id": id, **more, **changes})


@pytest.fixture
def workspace(project: Project) -> Workspace:
    project.settle(json.dumps({**BASE, "docstring": {"placement": "first-block"}}))
    write(project, [statement_entry(FIRST, 1), statement_entry(ONCE, 2)], [statement_entry(ALWAYS, 1)])
    return open_workspace(project.root)


def write(project: Project, guides: list[dict[str, Any]], caveats: list[dict[str, Any]]) -> None:
    write_candidates(project.candidates, *guides)
    folder = project.root / "data/audit/counterexamples"
    write_counterexamples(folder / "2026-04-25-counterexamples.json", *caveats)


def next_night(project: Project, guides: list[dict[str, Any]], caveats: list[dict[str, Any]]) -> None:
    """Write what is new; what is on a branch stands in the files of the night before."""
    for path in (project.root / "data/audit").glob("c*/2026-04-25-*.json"):
        path.rename(path.with_name(path.name.replace("25", "24")))
    write(project, guides, caveats)


def run(
    project: Project, workspace: Workspace, forge: Forge | None, request: PromoteRequest = ASK
) -> tuple[Plan | None, Done]:
    """What the command does with --confirm."""
    chosen = select_tool(workspace, "analysis", request.path)
    repository = WritableRepository(workspace.root)
    return promote(prepare_promotion(workspace, chosen, repository, request, confirmed=True), forge)


def merge(project: Project, hub: GithubStandIn, branch: str) -> None:
    project.git("fetch", "--quiet", "origin")
    project.git("merge", "--quiet", "--ff-only", f"origin/{branch}")
    project.git("push", "--quiet", "origin", "main")
    for pull in hub.pulls:
        pull.state, pull.merged_at = "closed", pull.created_at


def listed(project: Project, branch: str) -> list[str]:
    """The bullets of the docstring on a branch."""
    project.git("fetch", "--quiet", "origin")
    source = project.git("show", f"origin/{branch}:{FILE}")
    return [line.strip() for line in source.splitlines() if line.strip().startswith("- ")]


def judged(project: Project, hub: GithubStandIn, branch: str, folder: Path) -> Decision:
    """What the guard says of the pull request of a branch."""
    project.git("fetch", "--quiet", "origin")
    head, base = project.heads()[branch], project.heads()["main"]
    pull = next(entry for entry in hub.pulls if entry.branch == branch and entry.state == "open")
    words = {"title": pull.title, "body": pull.body, "branch": branch, "number": pull.number}
    path = Payload(event(head_sha=head, base_sha=base, **words)).write(folder / "event.json")
    return check_event(CheckInputs(event=path, event_name="pull_request", folder=project.root))


def test_all_that_is_known_about_a_tool_is_one_commit_that_the_guard_lets_pass(
    project, workspace, hub, forge, tmp_path
) -> None:
    plan, done = run(project, workspace, forge)

    assert plan is not None
    assert [entry.lines[0] for entry in plan.proposals] == [FIRST, ONCE, ALWAYS]
    assert done.branch == "skill/docstring-analysis-general-20260425"
    assert listed(project, done.branch) == [FIRST, ONCE, ALWAYS]
    assert project.git("rev-list", "--count", f"main..origin/{done.branch}") == "1"
    (pull,) = hub.pulls
    assert pull.title == "[CORELOOP-R] docs(analysis): how it is used with success and how it fails"
    message = project.git("log", "-1", "--format=%B", f"origin/{done.branch}")
    assert [group["Phase"] for group in read_promoted(message)] == ["R", "R", "F"]
    assert read_promoted(message) == read_promoted(pull.body)
    for line in (FIRST, ONCE, ALWAYS):
        assert f"- `{line[2:]}` (" in pull.body
    assert judged(project, hub, done.branch, tmp_path).state == "pending"


@pytest.mark.slow
def test_another_promotion_of_the_docstring_is_refused_with_what_to_do(
    project, workspace, hub, forge
) -> None:
    write(project, [statement_entry(FIRST, 1)], [])
    run(project, workspace, forge)
    heads = project.heads()
    write(project, [statement_entry(ONCE, 2)], [])
    for plan in (lambda: run(project, workspace, forge), lambda: plan_promotion(workspace, ASK)):
        project.git("fetch", "--quiet", "origin")
        with pytest.raises(RefusedError, match=r"already changes tools/finance.py::analysis; .* --extend"):
            plan()
    assert (project.heads(), len(hub.pulls)) == (heads, 1)


@pytest.mark.slow
def test_an_open_promotion_grows_on_the_newest_base(project, workspace, hub, forge, tmp_path) -> None:
    write(project, [statement_entry(FIRST, 1)], [])
    _, first = run(project, workspace, forge)
    project.commit({"README.md": "more"}, "theirs")
    project.git("push", "--quiet", "origin", "main")
    next_night(project, [statement_entry(ONCE, 2)], [statement_entry(ALWAYS, 1)])

    _, grown = run(project, workspace, forge, replace(ASK, extend=True))

    assert grown.branch == first.branch
    assert listed(project, grown.branch) == [FIRST, ONCE, ALWAYS]
    assert project.git("rev-parse", f"origin/{grown.branch}^") == project.heads()["main"]
    (pull,) = hub.pulls
    assert pull.draft
    assert [f"`{line[2:]}`" in pull.body for line in (FIRST, ONCE, ALWAYS)] == [True] * 3
    assert judged(project, hub, grown.branch, tmp_path).state == "pending"
    again = run(project, workspace, forge, replace(ASK, extend=True))
    assert (again[0], again[1].fresh) == (None, False)


@pytest.mark.slow
def test_a_branch_under_review_is_left_where_it_is(project, workspace, hub, forge) -> None:
    _, done = run(project, workspace, forge)
    hub.pulls[0].draft = False
    project.commit({"README.md": "more"}, "theirs")
    project.git("push", "--quiet", "origin", "main")
    heads = project.heads()
    assert run(project, workspace, forge)[0] is None
    assert project.heads() == heads
    assert done.branch in heads


@pytest.mark.slow
def test_a_reviewers_work_on_the_branch_is_never_written_over(project, workspace, hub, forge) -> None:
    _, done = run(project, workspace, forge)
    project.git("fetch", "--quiet", "origin")
    project.git("switch", "--quiet", "--detach", f"origin/{done.branch}")
    project.commit({FILE: (project.root / FILE).read_bytes().replace(b"Ratios", b"All ratios")}, "reviewed")
    project.git("push", "--quiet", "origin", f"HEAD:{done.branch}")
    project.git("switch", "--quiet", "main")
    heads = project.heads()
    write(project, [statement_entry(SOURCE_LINE, 3)], [])
    for hosted in (forge, None):
        with pytest.raises(RefusedError, match=r", and has other commits than coreloop's"):
            run(project, workspace, hosted, replace(ASK, extend=True))
    assert project.heads() == heads


@pytest.mark.slow
def test_a_line_of_an_earlier_promotion_gives_way_to_a_better_one(
    project, workspace, hub, forge, tmp_path
) -> None:
    write(project, [statement_entry(FIRST, 1)], [statement_entry(ALWAYS, 1)])
    merge(project, hub, run(project, workspace, forge)[1].branch)
    better = "- Always pass company and axis"
    write(project, [], [statement_entry(better, 2)])

    plan, done = run(project, workspace, forge)

    assert plan is not None
    assert plan.edited.removed == (ALWAYS,)
    assert listed(project, done.branch) == [FIRST, better]
    assert f"Replaces: `{ALWAYS}`" in hub.pulls[-1].body
    assert judged(project, hub, done.branch, tmp_path).state == "pending"


@pytest.mark.slow
def test_a_line_that_a_person_wrote_never_gives_way(project, workspace, hub, forge) -> None:
    source = (
        (project.root / FILE).read_bytes().replace(b"company.\n", b"company.\n\n    - Always pass axis\n", 1)
    )
    project.commit({FILE: source}, "theirs")
    project.git("push", "--quiet", "origin", "main")
    with pytest.raises(RefusedError, match=r"a person wrote '- Always pass axis', on the same subject"):
        run(project, workspace, forge)
    assert list(project.heads()) == ["main"]


@pytest.mark.slow
def test_a_pull_request_that_is_out_of_draft_does_not_grow(project, workspace, hub, forge) -> None:
    write(project, [statement_entry(FIRST, 1)], [])
    run(project, workspace, forge)
    hub.pulls[0].draft = False
    heads = project.heads()
    next_night(project, [statement_entry(ONCE, 2)], [])
    with pytest.raises(RefusedError, match="is ready for review and cannot grow"):
        run(project, workspace, forge, replace(ASK, extend=True))
    assert project.heads() == heads


@pytest.mark.slow
def test_a_run_that_ended_before_the_text_was_new_is_finished_by_the_next(
    project, workspace, hub, forge, tmp_path
) -> None:
    write(project, [statement_entry(FIRST, 1)], [])
    _, first = run(project, workspace, forge)
    old = hub.pulls[0].title, hub.pulls[0].body
    write(project, [statement_entry(FIRST, 1), statement_entry(ONCE, 2)], [])
    run(project, workspace, forge, replace(ASK, extend=True))
    hub.pulls[0].title, hub.pulls[0].body = old  # as if GitHub had been away
    assert judged(project, hub, first.branch, tmp_path).state == "failure"
    run(project, workspace, forge)
    assert judged(project, hub, first.branch, tmp_path).state == "pending"


def test_what_is_left_out_is_told_with_the_reason(project, workspace) -> None:
    weak = statement_entry(SOURCE_LINE, 4, suggested_append=None, refused="weak: it is the user's to give")
    same = statement_entry("- Always pass company and axis", 5)
    write(
        project,
        [statement_entry(FIRST, 1), weak, candidate(id="cand-2026-04-25-007")],
        [statement_entry(ALWAYS, 1), same],
    )
    chosen = select_tool(workspace, "analysis", None)
    assert [entry.lines[0] for entry in chosen.proposals] == [FIRST, ALWAYS]
    assert chosen.left_out == (
        "cand-2026-04-25-004: weak: it is the user's to give",
        "cand-2026-04-25-007: a sequence is replayed, so it is promoted alone, with --id",
        "ce-2026-04-25-005: another line says the same or more",
    )
