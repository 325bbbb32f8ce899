"""The evidence for an axis, read from real histories, and the document with the proposal."""

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from coreloop.base.errors import GitError, UsageError, WorkspaceError
from coreloop.base.git.repository import Repository
from coreloop.base.git.trailers import write_trailers
from coreloop.base.project.settings import ToolSettings
from coreloop.base.project.workspace import open_workspace
from coreloop.descriptions.edit import Edited, append_to_section
from coreloop.learn.proposals.advice import parse_advice
from coreloop.promote.axis.case import AxisCase, AxisRequest, Thresholds, make_case
from coreloop.promote.axis.evidence import DisplayedCall, PromotionTarget, calls_in, engines_of, read_target
from coreloop.promote.axis.run import proposal_path, write_proposal
from promoting import FILE, SOURCE, Project, run_git
from rows import each_row, slow_after

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
TODAY = NOW.date()
GUIDE = '- Call: analysis(company, axis="{}") -> show(company, topic).'
CAVEAT = '- Fails: analysis(axis="{}"): 5 of 5 calls failed (invalid_argument); called otherwise 0 of 70.'
NOTHING = Thresholds(phase_r_merges=1, phase_f_caveats=0, age_days=0)
DOCUMENT = "docs/phase-a-proposals/analysis-profitability.md"


class History:
    """A history of promotions as promote writes them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.n = 0

    def add(
        self,
        line: str,
        *,
        phase: str = "R",
        at: str = "",
        file: str = FILE,
        symbol: str = "analysis",
        target: str | None = None,
    ) -> str:
        """Commit a line with trailers (and an evidence line, unless it is a statement); return the hash."""
        self.n += 1
        line = line.replace("5 of 5", f"{self.n} of {self.n}")
        path = self.project.root / file
        edited = append_to_section(
            path.read_bytes(),
            symbol,
            "Guide" if phase == "R" else "Caveats",
            (line,) if parse_advice(line) is not None else (line, f"- Evidence: {self.n}."),
        )
        assert isinstance(edited, Edited)
        return self.project.commit(
            {file: edited.source}, self.message(phase, target or f"{file}::{symbol}"), **clock(at)
        )

    def message(self, phase: str = "R", target: str = f"{FILE}::analysis") -> str:
        trailers = {
            "Phase": phase,
            "Candidate-Id": f"cand-2026-04-01-{self.n:03}",
            "Candidate-Key": f"{self.n:016x}",
            "Target": target,
            "Evidence": "12 of 12 requests, lower bound 0.76",
        }
        return f"[CORELOOP-{phase}] docs(analysis): a line\n\nAppends.\n\n{write_trailers(trailers)}\n"

    def mature(self, axis: str = "수익성") -> list[str]:
        """Three Guides and two caveats of an axis, the first 40 days before `NOW`."""
        guides = [
            self.add(GUIDE.format(axis).replace("topic", topic), at=f"2026-03-{day}")
            for day, topic in ((16, "topic"), (20, "year"), (24, "quarter"))
        ]
        return guides + [self.add(CAVEAT.format(axis), phase="F", at=f"2026-04-0{day}") for day in (1, 2)]

    def revert(self, sha: str, *options: str) -> str:
        self.project.git("revert", "--no-edit", *options, sha)
        return self.project.git("rev-parse", "HEAD")

    def on_branch(self, name: str, line: str, *, at: str) -> str:
        """A promotion on its own branch off main; main is checked out again."""
        self.project.git("switch", "--quiet", "--create", name, "main")
        sha = self.add(line, at=at)
        self.project.git("switch", "--quiet", "main")
        return sha


def clock(at: str) -> dict[str, str]:
    return {"GIT_COMMITTER_DATE": f"{at}T00:00:00Z"} if at else {}


@pytest.fixture
def history(project: Project) -> History:
    project.git("remote", "remove", "origin")
    project.git("commit", "--quiet", "--amend", "-m", "first", **clock("2026-01-01"))
    return History(project)


def weigh(
    history: History,
    axis: str | None = "수익성",
    *,
    engine: str = "analysis",
    now: datetime = NOW,
    **more: Any,
) -> AxisCase:
    workspace = open_workspace(history.project.root)
    with Repository(workspace.root) as repository:
        request = AxisRequest(engine=engine, axis=axis, **more)
        return make_case(repository, workspace, request, now=now)


def figures(case: AxisCase) -> list[int]:
    return [gate.figure for gate in case.gates]


def write(history: History, case: AxisCase, today: date = TODAY) -> tuple[Path, bool]:
    return write_proposal(case, open_workspace(history.project.root), today=today)


# --- docstring, engine and axis of a promotion ------------------------------------------------------


@each_row(
    ("trailer", "target"),
    [
        pytest.param("a/b.py::f", PromotionTarget("a/b.py", "f"), id="a function"),
        pytest.param("./a/b.py::C.f:12", PromotionTarget("a/b.py", "C.f"), id="one of several definitions"),
        pytest.param("분석.py::분석", PromotionTarget("분석.py", "분석"), id="Korean names"),
        pytest.param("../b.py::f", None, id="outside the project"),
        pytest.param("/b.py::f", None, id="an absolute path"),
        pytest.param("b.txt::f", None, id="not Python"),
        pytest.param("::f", None, id="no file"),
        pytest.param("b.py", None, id="no symbol"),
        pytest.param("", None, id="no target"),
    ],
)
def test_target_is_a_docstring_below_the_project(trailer: str, target: PromotionTarget | None) -> None:
    assert read_target(trailer) == target


@each_row(
    ("tools", "engines"),
    [
        pytest.param({}, {"run"}, id="the symbol's last name"),
        pytest.param({"analysis": "./a.py::Tool.run"}, {"analysis"}, id="the tool that coreloop.yaml names"),
        pytest.param({"x": "a.py::Tool.run", "y": "a.py::Tool.run"}, {"x", "y"}, id="two names of one"),
        pytest.param({"run": "other.py::run"}, {"run"}, id="a file that moved since"),
    ],
)
def test_docstring_belongs_to_an_engine(tools: dict[str, str], engines: set[str]) -> None:
    configured = {name: ToolSettings(target=target) for name, target in tools.items()}
    assert engines_of(PromotionTarget("a.py", "Tool.run"), configured) == engines


@each_row(
    ("line", "calls"),
    [
        ('- Call: a(x, axis="수익성") -> show(x).', [("a", [("axis", "수익성")]), ("show", [])]),
        ('- Call: a(axis="이익 (순)", sub="=").', [("a", [("axis", "이익 (순)"), ("sub", "=")])]),
        ("- Call: a(axis=<axis>, …).", [("a", [("axis", None)])]),
        ("- Call: a(axis=<sub>).", [("a", [])]),
        ('- Fails: axis="수익성" without company.', [("a", [("axis", "수익성")])]),
        ("- Fails: called without company: 5 of 5 calls failed (invalid_argument); with it 0 of 70.", []),
        ('- Fails: scan() -> a(axis="수익성"): 1 of 18.', [("scan", []), ("a", [("axis", "수익성")])]),
        ('- When: questions on 이익(순) and axis="수익성" (category FIN-x).', []),
        ("- Evidence: 12 of 12 requests (95 % lower bound 0.76).", []),
        ("- company: from search().hits[].company", [("search", [])]),
        ("- Call before pay (same order_id)", []),
        (
            '- axis="수익성" fails (auth): show(by="sub")',
            [("show", [("by", "sub")]), ("a", [("axis", "수익성")])],
        ),
    ],
)
def test_calls_are_read_from_a_line(line: str, calls: list[tuple[str, list[tuple[str, str | None]]]]) -> None:
    assert list(calls_in([line], owner="a")) == [DisplayedCall(tool, tuple(pairs)) for tool, pairs in calls]


def test_axis_is_that_of_the_last_call_with_a_selector(history: History) -> None:
    """As pattern chooses what it documents, so that one promotion is not two axes' evidence."""
    history.add('- Call: analysis(axis="안정성") -> analysis(axis="수익성") -> analysis(company) -> show().')
    assert weigh(history).axes == {"수익성": 1}
    assert figures(weigh(history, "안정성"))[0] == 0


def test_existing_call_still_gives_the_axis(history: History) -> None:
    """Another category's candidate with the same calls: promote does not repeat the line."""
    history.add(GUIDE.format("수익성"))
    history.add(GUIDE.format("수익성"))
    history.add('- Call: analysis(axis="안정성").')
    history.add(GUIDE.format("수익성"))
    case = weigh(history, None)
    assert [item.lines for item in case.evidence][1::2] == [("- Evidence: 2.",), ("- Evidence: 4.",)]
    assert [item.axes for item in case.evidence] == [("수익성",), ("수익성",), ("안정성",), ()]


def test_statement_that_names_no_axis_gets_none_from_an_existing_call(history: History) -> None:
    history.add(GUIDE.format("수익성"))
    history.add("- First: search")
    assert [item.axes for item in weigh(history, None).evidence] == [("수익성",), ()]


def test_caveat_that_names_no_axis_gets_none_from_a_guide(history: History) -> None:
    history.add(GUIDE.format("수익성"))
    history.add(
        "- Fails: called without company: 5 of 5 calls failed (invalid_argument); with it 0 of 70.", phase="F"
    )
    assert figures(weigh(history))[:2] == [1, 0]


def test_any_selector_of_that_call_can_be_weighed(history: History) -> None:
    history.add('- Call: analysis(axis="수익성", sub="roe").')
    assert [figures(weigh(history, axis))[0] for axis in ("수익성", "roe", "company")] == [1, 1, 0]


def test_selector_of_a_companion_is_not_the_engine_s(history: History) -> None:
    history.add('- Call: analysis(company) -> scan(axis="수익성").')
    assert (figures(weigh(history))[0], figures(weigh(history, None))[0]) == (0, 1)


def test_undeclared_axis_counts_for_the_whole_engine_only(history: History) -> None:
    history.add("- Call: analysis(company, axis=<axis>).")
    history.add(GUIDE.format("수익성"))
    case = weigh(history)
    assert (figures(case)[0], case.n_without_axis, case.axes) == (1, 1, {"수익성": 1})
    assert figures(weigh(history, None))[0] == 2


def test_axis_typed_on_a_mac_is_the_same(history: History) -> None:
    history.add(GUIDE.format("수익성"))
    case = weigh(history, unicodedata.normalize("NFD", "수익성") + " ")
    assert (figures(case)[0], case.axis) == (1, "수익성")


def test_lines_are_those_that_the_commit_added(history: History) -> None:
    """Not lines of earlier commits, nor changes of a squash elsewhere in the file."""
    history.add(GUIDE.format("안정성"))
    path = history.project.root / FILE
    path.write_bytes(path.read_bytes() + b'\n\ndef other():\n    """- Call: analysis(axis="growth")."""\n')
    history.add(GUIDE.format("수익성"))
    assert weigh(history, None).evidence[1].lines == (GUIDE.format("수익성"), "- Evidence: 2.")
    assert weigh(history, None).axes == {"안정성": 1, "수익성": 1}


@pytest.mark.parametrize(
    "convert",
    slow_after(
        2,
        [
            pytest.param(lambda s: s.replace(b"\n", b"\r\n"), id="CRLF"),
            pytest.param(lambda s: s.replace(b"\n", b"\r"), id="bare CR"),
            pytest.param(lambda s: b"\xef\xbb\xbf" + s, id="byte order mark"),
            pytest.param(lambda s: b"# coding: cp949\n" + s, id="another encoding"),
            pytest.param(lambda s: s.replace(b"Ratios", b"\\\\d Ratios"), id="an invalid escape"),
        ],
    ),
)
def test_source_of_any_kind_is_read(history: History, convert: Callable[[bytes], bytes]) -> None:
    history.project.commit({FILE: convert(SOURCE)})
    history.add(GUIDE.format("수익성"))
    assert weigh(history).axes == {"수익성": 1}


def test_method_is_read_and_its_namesake_is_not(history: History) -> None:
    source = (
        SOURCE + b'\n\nif True:\n    class Tool:\n        def analysis(self):\n            """Other."""\n'
    )
    history.project.commit({FILE: source})
    history.add(GUIDE.format("수익성"), symbol="Tool.analysis")
    (item,) = weigh(history).counted
    assert (item.promotion.target, item.axes) == (f"{FILE}::Tool.analysis", ("수익성",))


def test_unreadable_file_counts_for_the_engine(history: History) -> None:
    history.project.commit({FILE: "def (\n"}, history.message())
    history.n += 1
    history.project.commit({"other.txt": "x"}, history.message(target="gone.py::analysis"))
    assert (figures(weigh(history, None))[0], weigh(history).n_without_axis) == (2, 2)


def test_promotion_in_the_very_first_commit_counts(tmp_path: Path, quiet_git: None) -> None:
    project = Project(tmp_path / "p", tmp_path / "none")
    project.root.mkdir()
    project.git("init", "--quiet", "--initial-branch=main")
    source = SOURCE.replace(b"Which.", GUIDE.format("수익성").encode())
    project.commit({FILE: source}, History(project).message())
    assert figures(weigh(History(project)))[0] == 1


def test_project_in_a_folder_of_the_repository_reads_its_own_files(history: History) -> None:
    project = history.project
    project.commit({f"sub/{FILE}": SOURCE, "sub/coreloop.yaml": "data_dir: data\n"})
    history.add(GUIDE.format("수익성"), file=f"sub/{FILE}", target=f"{FILE}::analysis")
    inner = History(replace_root(project, project.root / "sub"))
    assert figures(weigh(inner))[0] == 1
    path, _ = write(inner, weigh(inner, thresholds=NOTHING))
    assert path == project.root / "sub" / DOCUMENT


def replace_root(project: Project, root: Path) -> Project:
    return Project(root, project.remote)


def test_known_engines_are_listed_for_an_unknown_engine(history: History) -> None:
    history.add(GUIDE.format("수익성"))
    case = weigh(history, engine="credit")
    assert (figures(case), case.engines) == ([0, 0, 0], ("analysis",))


# --- what counts -----------------------------------------------------------------------------------


def test_mature_history_passes_every_gate(history: History) -> None:
    history.mature()
    history.add(GUIDE.format("성장성"))
    case = weigh(history)
    assert (figures(case), case.passed, case.first_merge) == (
        [3, 2, 40],
        True,
        datetime(2026, 3, 16, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("thresholds", "passed"),
    slow_after(
        1,
        [
            (Thresholds(), [True, True, True]),
            (Thresholds(phase_r_merges=4), [False, True, True]),
            (Thresholds(phase_f_caveats=3), [True, False, True]),
            (Thresholds(age_days=41), [True, True, False]),
        ],
    ),
)
def test_gates_are_joined_by_and(history: History, thresholds: Thresholds, passed: list[bool]) -> None:
    history.mature()
    case = weigh(history, thresholds=thresholds)
    assert ([gate.passed for gate in case.gates], case.passed) == (passed, all(passed))


def test_branch_that_is_not_merged_is_not_evidence(history: History) -> None:
    history.on_branch("skill/docstring-x", GUIDE.format("수익성"), at="2026-03-01")
    assert figures(weigh(history)) == [0, 0, 0]


def test_age_counts_from_the_merge_and_not_from_the_draft(history: History) -> None:
    project = history.project
    history.on_branch("skill/a", GUIDE.format("수익성"), at="2026-01-05")
    project.git("merge", "--quiet", "--no-ff", "-m", "Merge #1", "skill/a", **clock("2026-04-20"))
    assert figures(weigh(history)) == [1, 0, 5]


def test_squash_counts_once_with_its_lines(history: History) -> None:
    project = history.project
    history.on_branch("skill/a", GUIDE.format("수익성"), at="2026-01-05")
    project.git("merge", "--quiet", "--squash", "skill/a")
    project.git("commit", "--quiet", "-m", f"docs (#7)\n\n* {history.message()}", **clock("2026-04-20"))
    assert figures(weigh(history)) == [1, 0, 5]


@pytest.mark.parametrize(("times", "counted"), slow_after(1, [(1, 2), (2, 3), (3, 2)]))
def test_reverted_promotions_do_not_count_until_the_revert_is_reverted(
    history: History, times: int, counted: int
) -> None:
    history.mature()
    sha = history.add(CAVEAT.format("수익성"), phase="F")
    for _ in range(times):
        sha = history.revert(sha)
    assert figures(weigh(history))[1] == counted


def test_age_is_that_of_the_first_promotion_in_effect(history: History) -> None:
    gone = history.add(GUIDE.format("수익성"), at="2026-01-05")
    history.revert(gone)
    history.add(GUIDE.format("수익성"), at="2026-04-24")
    assert figures(weigh(history)) == [1, 0, 1]


def test_caveat_does_not_start_the_age(history: History) -> None:
    history.add(CAVEAT.format("수익성"), phase="F", at="2026-01-05")
    history.add(GUIDE.format("수익성"), at="2026-04-20")
    assert figures(weigh(history)) == [1, 1, 5]


@pytest.mark.parametrize(
    ("dates", "age_days"),
    slow_after(
        1,
        [
            pytest.param(
                ["2026-04-20", "2001-01-01", "2026-04-22"], 5, id="a later promotion is dated long ago"
            ),
            pytest.param(["2001-01-01", "2026-04-22"], 114, id="the first is dated before its parent"),
            pytest.param(["2038-01-01", "2026-03-01"], 0, id="the first is in the future"),
            pytest.param(["2026-03-26", "2038-01-01"], 30, id="a later promotion is in the future"),
        ],
    ),
)
def test_wrong_commit_times_do_not_make_a_history_older(
    history: History, dates: list[str], age_days: int
) -> None:
    for at in dates:
        history.add(GUIDE.format("수익성"), at=at)
    assert figures(weigh(history))[2] == age_days


def test_wrong_clock_now_gives_no_negative_age(history: History) -> None:
    history.mature()
    assert figures(weigh(history, now=NOW - timedelta(days=9999))) == [3, 2, 0]


def test_base_branch_of_the_remote_counts_and_not_the_local_branch(project: Project) -> None:
    history = History(project)
    history.add(GUIDE.format("수익성"))
    assert figures(weigh(history))[0] == 0
    project.git("push", "--quiet", "origin", "main")
    assert figures(weigh(history))[0] == 1


def test_other_base_branch_can_be_set(history: History) -> None:
    project = history.project
    history.on_branch("trunk", GUIDE.format("수익성"), at="2026-04-01")
    (project.root / "coreloop.yaml").write_text("forge: {base: trunk}\n")
    assert (figures(weigh(history))[0], weigh(history).base) == (1, "trunk")


# --- errors ------------------------------------------------------------------------


def test_missing_base_branch_is_an_error(history: History) -> None:
    (history.project.root / "coreloop.yaml").write_text("forge: {base: trunk}\n")
    with pytest.raises(GitError, match="there is no branch trunk; set forge: base"):
        weigh(history)


def test_shallow_clone_is_an_error(project: Project, tmp_path: Path) -> None:
    project.commit({"other.txt": "x"})
    project.git("push", "--quiet", "origin", "main")
    clone = tmp_path / "clone"
    run_git(tmp_path, "clone", "--quiet", "--depth=1", project.remote.as_uri(), str(clone))
    with pytest.raises(GitError, match=r"this clone is shallow.*git fetch --unshallow"):
        weigh(History(replace_root(project, clone)))


@pytest.mark.parametrize(("engine", "axis"), [("", None), ("a b", None), ("../x", None), ("analysis", " ")])
def test_engine_and_axis_must_be_names(history: History, engine: str, axis: str | None) -> None:
    with pytest.raises(UsageError, match=r"^--(engine|axis) "):
        weigh(history, axis, engine=engine)


# --- the document ----------------------------------------------------------------------------------


@each_row(
    ("engine", "axis", "name"),
    [
        ("analysis", "수익성", "analysis-profitability"),
        ("analysis", None, "analysis-general"),
        ("analysis", "배당", "analysis-dividend"),
        ("dart/Lab.analysis", "Cash Flow", "dart-lab-analysis-cash-flow"),
    ],
)
def test_document_is_named_after_engine_and_axis(engine: str, axis: str | None, name: str) -> None:
    path = proposal_path(engine, axis, {"배당": "dividend"})
    assert path == PurePosixPath(f"docs/phase-a-proposals/{name}.md")


def test_document_is_all_that_is_written(history: History) -> None:
    history.mature()
    before = history.project.fingerprint()
    path, written = write(history, weigh(history))
    after = history.project.fingerprint()
    assert (written, path) == (True, history.project.root / DOCUMENT)
    assert {name for name in after if after[name] != before.get(name)} == {str(path)}
    assert before.keys() <= after.keys()


def test_document_shows_the_history(history: History) -> None:
    shas = history.mature()
    gone = history.add('- Call: analysis(axis="수익성", sub="roe") -> scan(company).', at="2026-04-10")
    text = write(history, weigh(history))[0].read_text()
    assert text.startswith("# Proposal: analysis, axis 수익성\n")
    assert "## 2026-04-25: analysis, axis 수익성\n" in text
    assert (
        "| Phase R merges | 4 | 3 |\n| Phase F caveats | 2 | 2 |\n| days since the first merge | 40 | 30 |"
        in text
    )
    assert all(f"| `{sha[:12]}` | " in text for sha in [*shas, gone])
    assert "12 of 12 requests, lower bound 0.76" in text
    assert f"    {GUIDE.format('수익성')}\n    - Evidence: 1.\n" in text
    assert "### Selector values\n\n- axis=수익성: 6\n- sub=roe: 1\n" in text
    assert "### Companion tools\n\n- show: 3\n- scan: 1\n" in text
    assert re.findall(r"^- (\d\d\d\d-\d\d-\d\d) Phase ([RF])", text, re.MULTILINE) == [
        ("2026-03-16", "R"),
        ("2026-03-20", "R"),
        ("2026-03-24", "R"),
        ("2026-04-01", "F"),
        ("2026-04-02", "F"),
        ("2026-04-10", "R"),
    ]


def test_document_says_what_a_human_must_do(history: History) -> None:
    history.mature()
    text = write(history, weigh(history))[0].read_text()
    tasks = text.split("## What a human must do\n", 1)[1].split("\n## ", 1)[0]
    assert all(
        f"- [ ] {task}" in tasks for task in ("Override key", "Axis", "Docstring", "Tests", "Pull request")
    )
    assert "write its 9 sections (Summary, Description, " in tasks
    assert f"`dartlab-coreloop docstring check {FILE}`" in tasks
    assert "without coreloop's marks" in tasks


def test_reverted_promotion_is_in_the_timeline_and_not_in_the_evidence(history: History) -> None:
    history.mature()
    gone = history.add(GUIDE.format("수익성"), at="2026-04-10")
    history.revert(gone)
    text = write(history, weigh(history))[0].read_text()
    assert f"- 2026-04-10 Phase R `{gone[:12]}`, reverted: does not count\n" in text
    assert text.count(gone[:12]) == 1


@pytest.mark.parametrize(
    ("address", "link"),
    [
        (
            "https://token:secret@github.com/octo/tools.git",
            "[`{short}`](https://github.com/octo/tools/commit/{sha})",
        ),
        ("git@gitlab.com:octo/tools.git", "| `{short}` |"),
    ],
)
def test_commits_are_links_if_the_remote_is_on_github(history: History, address: str, link: str) -> None:
    sha = history.mature()[0]
    history.project.git("remote", "add", "origin", address)
    text = write(history, weigh(history))[0].read_text()
    assert link.format(short=sha[:12], sha=sha) in text
    assert "secret" not in text


def test_markup_in_a_commit_is_escaped(history: History) -> None:
    history.add(GUIDE.format("수익성"))
    message = history.message().replace("12 of 12 requests", "<b>x</b> | [y](http://z) \x1b[0m")
    history.project.git("commit", "--quiet", "--amend", "-m", message)
    text = write(history, weigh(history, thresholds=NOTHING))[0].read_text()
    assert r"\<b\>x\</b\> \| \[y\](http://z) \\u\{1b\}\[0m" in text


def test_second_run_on_a_day_adds_nothing(history: History) -> None:
    history.mature()
    path, _ = write(history, weigh(history))
    before = path.read_bytes()
    history.add(GUIDE.format("수익성"), at="2026-04-24")
    assert write(history, weigh(history)) == (path, False)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "old", slow_after(2, [b"# Ours\n", b"# Ours", b"", b"# Ours\r\n", b"\xff\xfe# Ours\n"])
)
def test_existing_text_of_a_document_is_unchanged(history: History, old: bytes) -> None:
    history.mature()
    path = history.project.root / DOCUMENT
    path.parent.mkdir(parents=True)
    path.write_bytes(old)
    assert write(history, weigh(history)) == (path, True)
    assert write(history, weigh(history), date(2026, 4, 26)) == (path, True)
    added = path.read_bytes().removeprefix(old)
    assert path.read_bytes().startswith(old)
    assert re.findall(rb"^## (.{10}): analysis", added, re.MULTILINE) == [b"2026-04-25", b"2026-04-26"]
    assert b"What a human must do" not in added
    assert (b"\n" in added.replace(b"\r\n", b"")) != (b"\r\n" in old)
    assert write(history, weigh(history), date(2026, 4, 25)) == (path, False)


def test_two_axes_with_one_slug_both_have_their_section(history: History) -> None:
    for axis in ("cash flow", "cash-flow"):
        history.add(GUIDE.format(axis))
    paths = {write(history, weigh(history, axis, thresholds=NOTHING)) for axis in ("cash flow", "cash-flow")}
    assert len(paths) == 1
    assert paths.pop()[1]


def test_undeclared_selector_stays_undeclared(history: History) -> None:
    history.add("- Call: analysis(company, axis=<axis>).")
    text = write(history, weigh(history, None, thresholds=NOTHING))[0].read_text()
    assert r"- axis=\<axis\>: 1" in text
    assert "### Companion tools\n\nNone: " in text


def test_folder_that_cannot_be_made_is_an_error_with_its_name(history: History) -> None:
    history.mature()
    history.project.commit({"docs": "a file"})
    with pytest.raises(WorkspaceError, match=r"analysis-profitability\.md: cannot be written"):
        write(history, weigh(history))


def test_folder_in_the_place_of_the_document_is_an_error(history: History) -> None:
    history.mature()
    (history.project.root / DOCUMENT).mkdir(parents=True)
    with pytest.raises(WorkspaceError, match=r"analysis-profitability\.md: cannot be read"):
        write(history, weigh(history))
