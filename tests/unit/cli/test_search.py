"""``index`` and ``search`` from the outside."""

import json
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


def test_index_counts_what_it_did(place: Path, entry_point):
    code, out, errors = entry_point(place, "index", ".")
    assert (code, errors) == (0, "")
    assert out == (
        "2 added, 0 changed, 0 moved, 0 removed, 0 unchanged\n"
        "  1 file skipped: other kind of file, first logo.png\n"
    )
    (place / "news.txt").rename(place / "old.txt")
    assert entry_point(place, "index", ".")[1].startswith(
        "0 added, 0 changed, 1 moved, 0 removed, 1 unchanged\n"
    )


def test_index_answers_in_json(place: Path, entry_point):
    _, out, _ = entry_point(place, "index", "--json", "docs", "logo.png")
    assert json.loads(out) == {
        "added": 1,
        "changed": 0,
        "moved": 0,
        "removed": 0,
        "unchanged": 0,
        "skipped": [{"reason": "other kind of file", "files": 1, "first": "logo.png"}],
    }


def test_index_of_nothing_is_refused_in_one_line(place: Path, entry_point):
    assert entry_point(place, "index", "gone") == (
        2,
        "",
        f"dartlab-coreloop: {place / 'gone'}: does not exist\n",
    )


def test_search_shows_title_place_and_snippet(indexed: Path, entry_point):
    code, out, errors = entry_point(indexed, "search", "how is a run resumed?")
    assert (code, errors) == (0, "")
    assert out == (
        "docs/run.md:3  Runs › Pause\n  ## Pause A paused run is resumed by `runs resume`.\n"
        "docs/run.md:1  Runs\n  # Runs\n"
    )


def test_search_answers_in_json(indexed: Path, entry_point):
    (found,) = json.loads(entry_point(indexed, "search", "--json", "매출")[1])
    assert (found["location"], found["line"], found["start"]) == ("news.txt", 1, 0)
    text, marks = found["untrusted_snippet"]["text"], found["untrusted_snippet"]["marks"]
    assert [text[start:end] for start, end in marks] == ["매출"]


def test_search_keeps_to_its_limit(indexed: Path, entry_point):
    assert len(json.loads(entry_point(indexed, "search", "--json", "--limit", "1", "run 매출")[1])) == 1


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
    assert out == "evil.md:1  Red [31m\n  # Red [31m word ]0;title end\n"
