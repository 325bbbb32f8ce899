"""What document 003 promises of promotion, refinement and axes, a test a row."""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from acceptance.core_loop import (
    AXIS,
    ERROR,
    EXCLUDE,
    LIMITED,
    NETWORK,
    PROMOTE,
    REFINE,
    VERIFY,
    hashes,
    log_in,
    mine,
    only,
    script_module,
)
from acceptance.walk import REPO, Done, command, public_name
from coreloop.descriptions.edit import Edited
from editing import put_lines
from github_stand_in import GithubStandIn
from logs import call, failed, override, record, repeated, rest, word
from promoting import (
    BRANCH,
    CATEGORIES,
    FILE,
    GOOD,
    ID,
    KEY,
    OTHER,
    REACH,
    SOURCE,
    Agent,
    Project,
    copy_project,
    hush_git,
    make_project,
    run_git,
    statement,
    write_counterexamples,
)


@dataclass(frozen=True)
class Promoted:
    """A project after the literal ``promote``, its GitHub, and the agent that was asked again."""

    project: Project
    github: GithubStandIn
    agent: Agent
    done: Done

    def show(self, form: str) -> str:
        return self.project.git("log", "-1", f"--format={form}", f"origin/{BRANCH}")

    @property
    def edited(self) -> str:
        return self.project.git("show", f"origin/{BRANCH}:{FILE}")


def settle(project: Project, **settings: Any) -> None:
    """Write coreloop.yaml; JSON is YAML."""
    base = {"reach": REACH, "categories": CATEGORIES}
    (project.root / "coreloop.yaml").write_text(json.dumps({**base, **settings}), encoding="utf-8")


def promote(project: Project, github: GithubStandIn, *words: str, line: str = PROMOTE) -> Done:
    github.sha_of = project.head_of
    github.protections = {"main": 1}
    environ = {"GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url, "NO_PROXY": "127.0.0.1"}
    done = command(project.root, *line.split(), *words, **environ)
    project.git("fetch", "--quiet", "origin")
    return done


@pytest.fixture(scope="module")
def promoted(first_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Promoted]:
    with pytest.MonkeyPatch.context() as monkeypatch, GithubStandIn() as github, Agent(GOOD) as agent:
        hush_git(monkeypatch)
        project = copy_project(first_project, tmp_path_factory.mktemp("promoted"))
        settle(project, replay={"url": agent.url})
        yield Promoted(project, github, agent, promote(project, github).assert_code())


@pytest.mark.promise("003-12")
def test_12_the_literal_promote_command_opens_a_draft_of_one_commit(promoted: Promoted) -> None:
    assert BRANCH == "skill/docstring-analysis-profitability-20260425"
    assert sorted(promoted.project.heads()) == ["main", BRANCH]
    assert promoted.project.git("rev-list", "--count", f"main..origin/{BRANCH}") == "1"
    assert promoted.project.git("diff", "--name-only", "main", f"origin/{BRANCH}") == FILE
    (pull,) = promoted.github.pulls
    assert (pull.branch, pull.base, pull.draft) == (BRANCH, "main", True)
    assert promoted.show("%s") == pull.title
    assert pull.title.startswith("[CORELOOP-R] ")


@pytest.mark.promise("003-13")
def test_13_the_lines_are_appended_to_the_end_of_the_first_block(promoted: Promoted) -> None:
    docstring = ast.get_docstring(ast.parse(promoted.edited).body[1])  # type: ignore[arg-type]
    assert docstring is not None
    first, _, others = docstring.partition("\n\nParameters\n")
    assert first.startswith("Ratios of a company.\n\n- ")
    assert '- Call: analysis(company, axis="수익성") -> show(company).' in first
    assert others in SOURCE.decode().replace("\n    ", "\n")


@pytest.mark.slow
@pytest.mark.promise("003-13")
@pytest.mark.parametrize("has_guide", [True, False], ids=["with a Guide", "without"])
def test_13_placement_section_appends_to_guide(
    project: Project, github: GithubStandIn, has_guide: bool
) -> None:
    guide = "\n\n    Guide\n    -----\n    - Known.\n" if has_guide else "\n"
    source = SOURCE.replace(b"        Which.\n", b"        Which." + guide.encode())
    project.commit({FILE: source}, "docs: a guide")
    project.git("push", "--quiet", "origin", "main")
    settle(project, docstring={"placement": "section"})
    promote(project, github, "--allow-unverified").assert_code()
    docstring = ast.get_docstring(ast.parse(project.git("show", f"origin/{BRANCH}:{FILE}")).body[1])  # type: ignore[arg-type]
    assert docstring is not None
    head, _, guide = docstring.partition("\nGuide\n-----\n")
    assert "analysis(company" not in head
    assert guide.startswith("- Known.\n") == has_guide
    assert '- Call: analysis(company, axis="수익성") -> show(company).' in guide


@pytest.mark.promise("003-14")
def test_14_the_example_questions_are_posted_to_api_ask_again(promoted: Promoted) -> None:
    assert promoted.agent.url.endswith("/api/ask")
    asked = {body["question"] for body in promoted.agent.asked}
    assert asked == {"첫째 질문?", "둘째 질문?"}
    assert "Replay: reproduced" in promoted.show("%B")


@pytest.mark.promise("003-14")
def test_14_a_replay_with_the_same_sequence_hash_is_reproduced(project: Project) -> None:
    steps = "analysis(axis=수익성)>show()".encode()
    with Agent({"tool_sequence_hash": f"seq:{hashlib.sha256(steps).hexdigest()[:16]}"}) as agent:
        settle(project, replay={"url": agent.url})
        done = command(project.root, *VERIFY.split()).assert_code(0)
    assert done.out.splitlines()[-1] == f"{ID}: reproduced"


@pytest.mark.promise("003-14")
def test_14_what_other_calls_answered_is_not_promoted(project: Project, github: GithubStandIn) -> None:
    with Agent(OTHER) as agent:
        settle(project, replay={"url": agent.url})
        done = command(project.root, *VERIFY.split()).assert_code(1)
        promote(project, github, "--allow-unverified").assert_code(1)
    assert done.out.splitlines()[-1] == f"{ID}: not_reproduced"
    assert sorted(project.heads()) == ["main"]


@pytest.mark.promise("003-14", "003-32")
def test_14_without_an_endpoint_the_replay_is_unavailable(project: Project, github: GithubStandIn) -> None:
    done = command(project.root, *VERIFY.split()).assert_code(1)
    assert f"{ID}: unavailable" in done.out
    assert "replay: url" in done.out
    assert promote(project, github).code == 1
    assert sorted(project.heads()) == ["main"]


@pytest.mark.promise("003-15")
def test_15_a_korean_axis_has_a_slug(project: Project) -> None:
    slugs = public_name("to_slug")
    table = script_module("_axis_slug.py")["KOREAN_AXIS_SLUG"]
    assert {axis: slugs(axis) for axis in table} == dict(table)
    assert table["수익성"] == "profitability"
    settle(project, axis_slugs={"수익성": "margins"})
    plan = command(project.root, *PROMOTE.removesuffix(" --confirm").split()).assert_code(0)
    assert re.search("^branch +skill/docstring-analysis-margins-20260425$", plan.out, re.MULTILINE)


@pytest.mark.promise("003-16")
def test_16_the_guide_text_of_a_korean_docstring_is_korean(tmp_path: Path) -> None:
    guide = "회사의 비율을 계산한다.\n\n    Guide\n    -----\n    기존 안내.\n    "
    source = f'"""도구."""\n\n\ndef analysis(axis):\n    """{guide}"""\n'
    (tmp_path / "tools.py").write_text(source)
    (tmp_path / "coreloop.yaml").write_text("language: ko\n")
    log_in(tmp_path, [*repeated(12), *rest(20)])
    (entry,) = mine(tmp_path).document["candidates"]
    prose = [re.sub(r"\w+\([^)]*\)", "", line) for line in entry["suggested_append"]["body"].splitlines()]
    assert prose
    assert [line for line in prose if not re.search("[가-힣]", line)] == []


@pytest.fixture(scope="module")
def initialised(first_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The project after ``init --confirm``."""
    source = f"git+https://example.com/coreloop.git@{'0' * 40}"
    with pytest.MonkeyPatch.context() as monkeypatch:
        hush_git(monkeypatch)
        project = copy_project(first_project, tmp_path_factory.mktemp("initialised"))
        command(project.root, "init", "--owner", "@octo", "--source", source, "--confirm").assert_code()
        yield project


@pytest.mark.promise("003-17")
def test_17_promote_asks_nobody_to_merge(promoted: Promoted) -> None:
    sent = [(request.line, json.dumps(request.body)) for request in promoted.github.traffic]
    assert [
        line for line, body in sent if re.search(r"/merge\b|auto.?merge", line + body, re.IGNORECASE)
    ] == []
    assert promoted.github.pulls[0].draft


@pytest.mark.promise("003-17")
def test_17_the_branch_protection_requires_a_review(initialised: Project) -> None:
    rules = yaml.safe_load((initialised.root / ".github/branch_protection.yml").read_text())
    assert rules["branch"] == "main"
    assert rules["required_pull_request_reviews"]["required_approving_review_count"] == 1


@pytest.mark.promise("003-17")
def test_17_the_guard_takes_the_label_off_and_fails(
    initialised: Project, promoted: Promoted, tmp_path: Path
) -> None:
    jobs = yaml.safe_load((initialised.root / ".github/workflows/ai-policy.yml").read_text())["jobs"]
    steps = json.dumps(jobs["block-coreloop-auto-merge"])
    assert "guard act --confirm" in steps
    assert "coreloop.guard check" in steps
    with GithubStandIn() as github:
        github.sha_of = promoted.project.head_of
        github.add_pull(branch=BRANCH, title=promoted.show("%s"), body=promoted.show("%B"))
        github.pulls[0].labels[:] = ["coreloop", "auto-merge"]
        event = tmp_path / "event.json"
        event.write_text(json.dumps(labelled(promoted)))
        about = ("--event", str(event), "--event-name", "pull_request")
        environ = {
            "GITHUB_TOKEN": github.token,
            "GITHUB_API_URL": github.url,
            "NO_PROXY": "127.0.0.1",
            "GITHUB_REPOSITORY": github.repo,
        }
        refused = command(promoted.project.root, "guard", "check", *about, "--json").assert_code(1)
        command(promoted.project.root, "guard", "act", "--confirm", *about, **environ).assert_code()
        assert github.pulls[0].labels == ["coreloop"]
    assert "auto-merge" in refused.out


def labelled(promoted: Promoted) -> dict[str, Any]:
    """GitHub's payload after somebody put the label auto-merge on the promotion."""
    repo = {"full_name": promoted.github.repo}
    user = {"login": "somebody", "type": "User"}
    head = {"ref": BRANCH, "sha": promoted.project.head_of(BRANCH), "repo": repo}
    return {
        "action": "labeled",
        "number": 1,
        "label": {"name": "auto-merge"},
        "sender": user,
        "repository": repo,
        "pull_request": {
            "number": 1,
            "title": promoted.show("%s"),
            "body": promoted.show("%B"),
            "draft": True,
            "user": user,
            "head": head,
            "base": {"ref": "main", "sha": promoted.project.head_of("main"), "repo": repo},
            "labels": [{"name": "coreloop"}, {"name": "auto-merge"}],
            "auto_merge": None,
        },
    }


@pytest.mark.promise("003-18")
def test_18_git_revert_of_the_promotion_restores_every_byte(
    promoted: Promoted, tmp_path: Path, quiet_git: None
) -> None:
    tree = tmp_path / "tree"
    promoted.project.git("worktree", "add", "--quiet", "--detach", str(tree), f"origin/{BRANCH}")
    assert (tree / FILE).read_bytes() != SOURCE
    trailers = dict(
        line.split(": ", 1) for line in promoted.show("%B").splitlines() if re.match(r"[\w-]+: ", line)
    )
    assert (trailers["Candidate-Key"], trailers["Target"]) == (KEY, f"{FILE}::analysis")
    run_git(tree, "revert", "--no-edit", "HEAD")
    assert (tree / FILE).read_bytes() == SOURCE


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with each signal of failure, transient errors, and a call that fails for its arguments."""
    folder = tmp_path_factory.mktemp("failing")
    (folder / "tools.py").write_text('def plain(company, overrides=None):\n    """Plain."""\n')
    wrong = {"company": "A", "overrides": {"wacc": 1}}
    overrides = [
        record(
            question=f"질문 {word(index)}",
            error=ERROR,
            tool_calls=[failed("plain", wrong)],
            session_hash=f"s{index}",
        )
        for index in range(75)
    ]
    log_in(
        folder,
        [
            *repeated(3, tool_calls=[call("erring")], error=ERROR),
            *repeated(3, tool_calls=[call("violating")], violation="P8 tool zero"),
            *repeated(3, tool_calls=[call("brief")], chunk_len=199),
            *repeated(3, tool_calls=[call("enough")], chunk_len=200),
            *repeated(3, tool_calls=[call("flagged", extreme_flags=["wacc>0.25"])]),
            *repeated(
                3,
                tool_calls=[call("overriding")],
                override_calls=[override("overriding"), override("overriding", succeeded=False)],
            ),
            *repeated(3, tool_calls=[failed("offline", error=NETWORK)], error=NETWORK),
            *repeated(3, tool_calls=[failed("limited", error=LIMITED)], error=LIMITED),
            *repeated(1, tool_calls=[call("once")], error=ERROR),
            *repeated(15, tool_calls=[call("plain", {"company": "A"})]),
            *overrides,
        ],
    )
    return folder


def refine(folder: Path, *words: str) -> dict[str, Any]:
    command(folder, *REFINE.split(), *words).assert_code()
    return json.loads(only(folder, "data/audit/counterexamples/*-counterexamples.json").read_text())


@pytest.mark.promise("003-19")
def test_19_the_literal_refine_command_finds_what_makes_calls_fail(failing: Path) -> None:
    document = refine(failing, *EXCLUDE.split())
    assert [statement["line"] for statement in document["statements"]] == ["- Leave out overrides"]
    tools = {entry["tool"] for entry in document["counterexamples"]}
    assert {"erring", "plain"} <= tools
    assert not {"offline", "limited", "once"} & tools


@pytest.mark.promise("003-20")
def test_20_each_of_the_five_signals_is_a_counterexample(failing: Path) -> None:
    document = refine(failing, "--min-chunk-len", "400")
    signals = {entry["tool"]: entry["labels"] for entry in document["counterexamples"]}
    assert {
        tool: labels for tool, labels in signals.items() if tool not in {"plain", "offline", "limited"}
    } == {
        "erring": ["error"],
        "violating": ["violation"],
        "brief": ["chunk_len_low"],
        "flagged": ["extreme_flags"],
        "overriding": ["override_failed"],
    }
    path = only(failing, "data/audit/counterexamples/*-counterexamples.json")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-counterexamples\.json", path.name)


def git_time(days_ago: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days_ago)).isoformat(timespec="seconds")


@pytest.fixture
def old_project(tmp_path: Path, quiet_git: None) -> Project:
    """A project that was begun 40 days ago."""
    with pytest.MonkeyPatch.context() as patch:
        for who in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{who}_DATE", git_time(40))
        return make_project(tmp_path)


def merge(project: Project, number: int, *, phase: str, days_ago: int) -> None:
    """Merge a promotion of the axis 수익성, as it looks in the history some days ago."""
    section = {"R": "Guide", "F": "Caveats"}[phase]
    line = f'- Call: analysis(company, axis="수익성") -> show(company{number}).'
    path = project.root / FILE
    edited = put_lines(path.read_bytes(), "analysis", [line], section=section)
    assert isinstance(edited, Edited)
    path.write_bytes(edited.source)
    trailers = (
        f"Phase: {phase}\nCandidate-Id: cand-2026-04-25-00{number}\n"
        f"Candidate-Key: {number:016x}\nTarget: {FILE}::analysis"
    )
    at = git_time(days_ago)
    project.git("add", FILE)
    message = f"[CORELOOP-{phase}] docs(analysis): a line\n\n{trailers}"
    project.git("commit", "--quiet", "-m", message, GIT_AUTHOR_DATE=at, GIT_COMMITTER_DATE=at)


def merge_all(project: Project, phases: str = "RRRFF", *, days_ago: int = 31) -> None:
    for number, phase in enumerate(phases, 1):
        merge(project, number, phase=phase, days_ago=days_ago - number + 1)
    project.git("push", "--quiet", "origin", "main")


@pytest.mark.promise("003-21", "003-34")
def test_21_the_gates_of_an_axis_are_3_merges_2_caveats_and_30_days(old_project: Project) -> None:
    project = old_project
    merge_all(project)
    before = {path: text for path, text in hashes(project.root).items() if "/.git/" not in path}
    command(project.root, *AXIS.split()).assert_code(0)
    after = {path: text for path, text in hashes(project.root).items() if "/.git/" not in path}
    (proposal,) = after.keys() - before.keys()
    assert proposal.endswith("docs/phase-a-proposals/analysis-profitability.md")
    assert {path: after[path] for path in before} == before
    for option, figure in (("r-merges", 4), ("f-caveats", 3)):
        command(project.root, *AXIS.split(), f"--min-phase-{option}", str(figure)).assert_code(1)
    command(project.root, *AXIS.split(), "--min-age-days", "32").assert_code(1)


@pytest.mark.promise("003-21")
def test_21_without_options_the_gates_are_the_same_and_each_that_fails_is_shown(project: Project) -> None:
    done = command(project.root, "propose-axis", "--engine", "analysis").assert_code(1)
    gates = [" ".join(line.split()) for line in done.out.splitlines()[1:4]]
    assert gates == [
        "Phase R merges 0 of 3 3 short",
        "Phase F caveats 0 of 2 2 short",
        "days since the first merge 0 of 30 30 short",
    ]
    assert done.out.splitlines()[-1] == "No proposal: 3 of 3 gates fail."
    assert not (project.root / "docs").exists()


@pytest.mark.promise("003-31")
def test_31_the_pattern_workflow_runs_every_night(initialised: Project) -> None:
    workflow = yaml.safe_load((initialised.root / ".github/workflows/coreloop-pattern.yml").read_text())
    (schedule,) = workflow[True]["schedule"]  # YAML reads the key "on" as true
    minute, hour, *days = schedule["cron"].split()
    assert minute.isdecimal()
    assert hour.isdecimal()
    assert days == ["*", "*", "*"]
    assert " pattern --sanitize " in json.dumps(workflow)


@pytest.mark.promise("003-33")
def test_33_the_page_on_nights_has_the_steps_of_the_roadmap(initialised: Project) -> None:
    page = (REPO / "docs/how-to/nightly.md").read_text(encoding="utf-8")
    steps = ("## By hand or by cron", "## As a GitHub workflow", "### Drafts")
    places = [page.index(step) for step in steps]
    assert places == sorted(places)
    jobs = yaml.safe_load((initialised.root / ".github/workflows/coreloop-pattern.yml").read_text())["jobs"]
    (prepare,) = [step for step in jobs["propose"]["steps"] if step.get("id") == "prepare"]
    (check,) = [step for step in jobs["propose"]["steps"] if step.get("id") == "tier1"]
    assert prepare["if"] == "steps.tier1.outputs.open == 'true'"
    assert jobs["propose"]["outputs"]["prepared"] == "${{ steps.prepare.outputs.prepared }}"
    assert jobs["drafts"]["if"] == "needs.propose.outputs.prepared == 'true'"
    assert check["env"]["WANTED"] == "${{ vars.CORELOOP_TIER1 }}"
    assert "status --stability" in check["run"]


@pytest.mark.promise("003-34")
def test_34_no_workflow_proposes_an_axis(initialised: Project) -> None:
    workflows = list((initialised.root / ".github/workflows").glob("*.yml"))
    assert {path.name for path in workflows} == {"ai-policy.yml", "coreloop-pattern.yml"}
    assert [path.name for path in workflows if "propose-axis" in path.read_text()] == []


@pytest.mark.slow
@pytest.mark.promise("003-36")
def test_36_a_caveat_is_promoted_like_a_guide(project: Project, github: GithubStandIn) -> None:
    path = write_counterexamples(
        project.root / "data/audit/counterexamples/2026-04-25-counterexamples.json",
        statement(kind="presence", line="- Leave out axis", tool="analysis"),
    )
    line = f"promote --candidate {path.relative_to(project.root)} --id ce-2026-04-25-001 --confirm"
    promote(project, github, line=line).assert_code()
    (pull,) = github.pulls
    assert (pull.draft, pull.title.partition(" ")[0]) == (True, "[CORELOOP-F]")
    edited = project.git("show", f"origin/{pull.branch}:{FILE}")
    assert edited.replace("\n    - Leave out axis\n", "", 1).encode().split() == SOURCE.split()


@pytest.mark.promise("003-38")
def test_38_code_owners_review_what_promotions_change(initialised: Project) -> None:
    owners = (initialised.root / ".github/CODEOWNERS").read_text()
    rules = yaml.safe_load((initialised.root / ".github/branch_protection.yml").read_text())
    assert "@octo" in owners
    assert rules["required_pull_request_reviews"]["require_code_owner_reviews"] is True
