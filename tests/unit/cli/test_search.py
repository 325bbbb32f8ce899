"""``index`` and ``search`` from the outside."""

from pathlib import Path

import pytest

FILES = {
    "docs/run.md": "# Runs\n\n## Pause\n\nA paused run is resumed by `runs resume`.\n",
    "news.txt": "삼성전자의 반도체 매출이 늘었다.\n",
    "logo.png": "\x89PNG",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def indexed(place: Path, entry_point) -> Path:
    assert entry_point(place, "index", ".")[0] == 0
    return place


def test_index_of_nothing_is_refused_in_one_line(place: Path, entry_point):
    assert entry_point(place, "index", "gone") == (
        2,
        "",
        f"dartlab-coreloop: {place / 'gone'}: does not exist\n",
    )


@pytest.mark.parametrize("words", [["search", "aardvark"], ["search", '"*']], ids=["unknown", "no words"])
def test_search_that_finds_nothing_says_what_to_do(indexed: Path, entry_point, words: list[str]):
    code, out, errors = entry_point(indexed, *words)
    assert (code, out) == (0, "")
    assert errors.startswith("nothing found; ")
    assert errors.endswith(": dartlab-coreloop index PATH\n")


def test_the_first_search_makes_the_index(place: Path, entry_point):
    code, out, errors = entry_point(place, "search", "pause")
    assert (code, out.splitlines()[0], errors) == (0, "docs/run.md:3  Runs › Pause", "")


def test_text_of_files_cannot_control_the_terminal(place: Path, entry_point):
    (place / "evil.md").write_text("# Red \x1b[31m\n\nword \x1b]0;title\x07 \u202e end\n", encoding="utf-8")
    entry_point(place, "index", ".")
    out = entry_point(place, "search", "word")[1]
    assert out == "evil.md:1  Red [31m\n  word ]0;title end\n"
