"""Bullets of audit notes, extracted with a Markdown parser."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.knowledge.audit_analysis import (
    improvement_bullets,
    parse_all,
    parse_engine_improvement_bullets,
    read_notes,
)
from rows import each_row


@each_row(
    "heading",
    ["## 엔진 개선", "## 엔진개선", "## 개선 제안", "엔진 개선\n---", "## Improvements", "## 3. 개선점"],
)
def test_every_usual_heading_opens_the_section(heading: str):
    assert improvement_bullets(f"# x\n- no\n\n{heading}\n\n- a\n- b\n") == ["a", "b"]


@each_row(
    "heading", ["# 엔진 개선", "#### 엔진 개선", "## 엔진 개선 내역", "## 개선", "엔진 개선", "**엔진 개선**"]
)
def test_other_headings_do_not_open_the_section(heading: str):
    assert improvement_bullets(f"{heading}\n\n- a\n") == []


@each_row(
    ("body", "expected"),
    [
        pytest.param("- a\n* b\n+ c\n1. d\n2) e\n", ["a", "b", "c", "d", "e"], id="every bullet sign"),
        pytest.param("- a\n  b\nc\n", ["a b c"], id="wrapped lines"),
        pytest.param("- a\n  - b\n    1. c\n- d\n", ["a", "b", "c", "d"], id="nested"),
        pytest.param("```\n- a\n```\n- b\n", ["b"], id="a fence"),
        pytest.param("> - a\n", [], id="a quote"),
        pytest.param("- a\n\n## 다음\n\n- b\n", ["a"], id="the next heading ends the section"),
        pytest.param("- a\n\n### 참고\n\n- b\n", ["a", "b"], id="a lower heading does not end the section"),
        pytest.param(
            "- a\n\n## 다음\n- no\n\n### 개선 제안\n- b\n\n### x\n- no\n", ["a", "b"], id="two sections"
        ),
    ],
)
def test_the_items_of_lists_are_bullets(body: str, expected: list[str]):
    assert improvement_bullets(f"# x\n\n## 엔진 개선\n\n{body}") == expected


@given(st.text(), st.text())
def test_any_text_is_read(before: str, body: str):
    for bullet in improvement_bullets(f"{before}\n\n## 엔진 개선\n\n{body}\n\n- 끝"):
        assert bullet == " ".join(bullet.split()) != ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "990168.md").write_text("## 엔진 개선\n- 가\n", encoding="utf-8")
    (tmp_path / "990021.md").write_text("# nothing\n", encoding="utf-8")
    (tmp_path / "990030.md").write_bytes("## 엔진 개선\n- 가\n".encode("euc-kr"))
    (tmp_path / "README.md").write_text("## 엔진 개선\n- no\n", encoding="utf-8")
    (tmp_path / "990047.txt").write_text("## 엔진 개선\n- no\n", encoding="utf-8")
    (tmp_path / "990087.md").mkdir()
    return tmp_path


def test_notes_are_read_by_stock_code_and_other_files_are_reported(folder: Path):
    bullets, skipped = read_notes(folder)
    assert bullets == {"990168": ("가",)}
    assert skipped == {"README.md": "its name is not a stock code", "990030.md": "it is not UTF-8"}


def test_the_functions_of_the_maintainers_script_give_lists(folder: Path):
    assert parse_all(folder) == {"990168": ["가"]}
    assert parse_engine_improvement_bullets(folder / "990168.md") == ["가"]
    assert parse_engine_improvement_bullets(folder / "README.md") == ["no"]
    assert parse_engine_improvement_bullets(folder / "990030.md") == []
    assert parse_engine_improvement_bullets(folder / "nowhere.md") == []
