"""Which promotions speak for an axis: their docstring, their engine, their calls."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from axis_histories import (
    DOCUMENT,
    GUIDE,
    NOTHING,
    History,
    figures,
    replace_root,
    weigh,
    write,
)
from coreloop.base.project.settings import ToolSettings
from coreloop.promote.axis.engine_history import (
    DisplayedCall,
    PromotionTarget,
    calls_in,
    engines_of,
    read_target,
)
from promoting import FILE, SOURCE, Project
from rows import each_row, slow_after


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
    history.add("- company: from search().company")
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


def test_known_engines_are_listed_for_an_unknown_engine(history: History) -> None:
    history.add(GUIDE.format("수익성"))
    case = weigh(history, engine="credit")
    assert (figures(case), case.engines) == ([0, 0, 0], ("analysis",))
