"""What document 003 promises of commands, scripts and the schedule, a test a row."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from acceptance.core_loop import (
    AXIS,
    BACKFILL,
    EXCLUDE,
    KNOWLEDGE,
    PATTERN,
    PRIVATE,
    PROMOTE,
    REFINE,
    VERIFY,
    log_in,
    post,
    script_module,
)
from acceptance.walk import BIN, REPO, SCRIPTS, command, program, script
from github_stand_in import GithubStandIn
from logs import record, repeated, rest
from old_knowledge import insight, make_old
from promoting import (
    CATEGORIES,
    GOOD,
    REACH,
    Agent,
    Project,
    copy_project,
    hush_git,
)

COMMANDS = {
    "status": 0,
    "pattern --since 7d": 0,
    "refine --since 30d": 0,
    PROMOTE: 0,
    "propose-axis --engine analysis": 1,
    "sanitize --mode hash": 0,
    VERIFY: 0,
    BACKFILL: 0,
    PATTERN: 0,
    f"{PATTERN} --include-audit-analysis": 0,
    f"{PATTERN} --dry-run --sanitize": 0,
    f"{REFINE} {EXCLUDE}": 0,
    AXIS: 1,
    "sanitize --check data/audit/ai-ask/": 1,
    "sanitize --in data/audit/ai-ask/ --out sanitized --mode hash": 0,
    "sanitize --in data/audit/ai-ask/ --out sanitized --mode drop": 0,
    "sanitize --in data/audit/ai-ask/ --out sanitized --mode mask": 0,
}
"""The document's commands with their exit codes here: no promotion was merged, and the log has an e-mail."""
RUN_SCRIPTS = {
    "extract_skill_candidates.py --include-audit-analysis": 0,
    PROMOTE.replace("promote", "promote_skill.py").removesuffix(" --confirm"): 0,
    "refine_skill.py --since 30d --min-failures 2": 0,
    "propose_axis.py --engine analysis": 1,
    "backfill_blog_insights.py --blog-root blog/": 0,
    "cleanup_knowledge_db.py": 0,
    "cleanup_knowledge_db.py --confirm": 0,
    "sanitize_audit.py --mode hash": 0,
    VERIFY.replace("verify", "verify_candidate.py"): 0,
}


@dataclass(frozen=True)
class Workshop:
    """A project in which each command has something to work on."""

    project: Project
    github: GithubStandIn
    environ: dict[str, str]


@pytest.fixture(scope="module")
def first_workshop(first_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with pytest.MonkeyPatch.context() as monkeypatch, GithubStandIn() as github, Agent(GOOD) as agent:
        hush_git(monkeypatch)
        project = copy_project(first_project, tmp_path_factory.mktemp("workshop"))
        project.settle(json.dumps({"reach": REACH, "categories": CATEGORIES, "replay": {"url": agent.url}}))
        log_in(project.root, [*repeated(4), *rest(4), record(question=PRIVATE)])
        post(project.root)
        at = datetime.now(UTC).timestamp()
        make_old(project.root / KNOWLEDGE, insights=[insight(1, at=at, source="live")])
        github.protections = {"main": 1}
        environ = {"GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url, "NO_PROXY": "127.0.0.1"}
        yield Workshop(project, github, environ)


@pytest.fixture
def workshop(first_workshop: Workshop, tmp_path: Path, quiet_git: None) -> Workshop:
    project = copy_project(first_workshop.project, tmp_path)
    first_workshop.github.sha_of = project.head_of
    return Workshop(project, first_workshop.github, first_workshop.environ)


def of_section_11(line: str) -> bool:
    return list(COMMANDS).index(line) < 8


@pytest.mark.promise("003-30", "003-32")
@pytest.mark.parametrize("line", [line for line in COMMANDS if of_section_11(line) and line != PROMOTE])
def test_30_a_literal_command_is_accepted_as_it_stands(workshop: Workshop, line: str) -> None:
    command(workshop.project.root, *line.split(), **workshop.environ).assert_code(COMMANDS[line])


@pytest.mark.slow
@pytest.mark.promise("003-30", "003-32")
@pytest.mark.parametrize("line", COMMANDS)
def test_30_a_literal_command_runs_as_a_process(workshop: Workshop, line: str) -> None:
    done = program(workshop.project.root, "dartlab-coreloop", *line.split(), **workshop.environ)
    done.assert_code(COMMANDS[line])


@pytest.mark.promise("003-30")
@pytest.mark.parametrize("line", [line for line in RUN_SCRIPTS if "promote" not in line])
def test_30_a_script_takes_the_options_of_its_command(workshop: Workshop, line: str) -> None:
    script(workshop.project.root, *line.split(), **workshop.environ).assert_code(RUN_SCRIPTS[line])


@pytest.mark.slow
@pytest.mark.promise("003-30")
@pytest.mark.parametrize("line", RUN_SCRIPTS)
def test_30_a_script_runs_as_a_process(workshop: Workshop, line: str) -> None:
    name, *words = line.split()
    done = program(workshop.project.root, "python", str(SCRIPTS / name), *words, **workshop.environ)
    done.assert_code(RUN_SCRIPTS[line])


@pytest.mark.promise("003-30")
def test_30_every_script_of_the_document_is_there_and_run(tmp_path: Path) -> None:
    run = {line.split()[0] for line in RUN_SCRIPTS}
    imported = {"_axis_slug.py", "_parse_audit_analysis.py"}
    assert {path.name for path in SCRIPTS.glob("*.py")} == run | imported
    assert script_module("_axis_slug.py")["KOREAN_AXIS_SLUG"]
    notes = script_module("_parse_audit_analysis.py")
    assert callable(notes["parse_all"])
    assert callable(notes["parse_engine_improvement_bullets"])


@pytest.mark.promise("003-31", "003-32")
def test_31_status_prints_the_stability_of_30_merges_0_reverts_0_lost_sections(project: Project) -> None:
    log_in(project.root, repeated(1))
    status = command(project.root, "status").assert_code().out
    line = "clean merges in a row: 0 of 30, reverts in 90 days: 0, docstrings that lost a section: 0"
    assert re.search(f"^stability +{line}$", status, re.MULTILINE)
    command(project.root, "status", "--stability").assert_code(1)


@pytest.mark.promise("003-37")
def test_37_the_command_is_registered_by_the_distribution() -> None:
    scripts = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert "dartlab-coreloop" in scripts
    assert (BIN / "dartlab-coreloop").is_file()
