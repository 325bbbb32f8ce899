"""Words of Korean texts: short nouns are words, and with the extra korean, so are morphemes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.answer.search.index.search_index import search_files
from coreloop.answer.text.terms import search_words, terms, use_morphemes
from coreloop.base.errors import MissingExtraError
from coreloop.base.project.settings import SearchSettings, Settings
from coreloop.base.project.workspace import Workspace
from rows import each_row


@pytest.fixture
def morphemes() -> Iterator[None]:
    use_morphemes(wanted=True)
    yield
    use_morphemes(wanted=False)


@each_row(
    "noun", ["주가", "원가", "이자", "한도", "왜곡", "인가", "목표주가", "매출원가", "대출한도", "시험결과"]
)
def test_a_noun_that_ends_like_a_particle_is_a_word(noun: str):
    assert search_words(noun) == search_words(f"{noun}는 무엇") == (noun,)
    assert noun[-2:] in terms(noun)


@pytest.mark.usefixtures("morphemes")
@each_row(
    ("text", "words"),
    [
        ("신용대출한도를", ["신용", "대출", "한도"]),
        ("제주가 커졌다", ["제주", "커지"]),
        ("주가는 언제 올랐나요?", ["주가", "오르"]),
        ("JSON 문서를 읽는다", ["json", "문서", "읽"]),
    ],
)
def test_morphemes_are_words(text: str, words: list[str]):
    assert terms(text) == words
    assert search_words("대출한도를 제주가") == ("대출한도", "제주")


@pytest.mark.usefixtures("morphemes")
def test_a_project_that_chooses_morphemes_has_an_index_of_them(tmp_path: Path):
    (tmp_path / "a.md").write_text("출한의 값은 3이다.", encoding="utf-8")
    (tmp_path / "b.md").write_text("대출한도는 5억이다.", encoding="utf-8")
    workspace = Workspace(tmp_path, replace(Settings(), search=SearchSettings(morphemes=True)))
    found, _ = search_files(workspace, "출한", now=datetime.now(UTC))
    assert [source.location for source in found] == ["a.md"]
    assert workspace.index_file.name == "morphemes.db"


def test_without_the_extra_the_choice_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("coreloop.answer.text.terms.find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match="korean"):
        use_morphemes(wanted=True)
