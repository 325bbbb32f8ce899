"""The report: every link leads to a file, nothing in it is private or live, it is replaced as a whole."""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.web.pages.page_data import PageSnapshots, PageSource
from coreloop.web.pages.report import write_report
from coreloop.web.pages.review import read_review


class Links(HTMLParser):
    """The addresses in a page, and its elements."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.elements: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src"}]


@pytest.fixture(scope="module")
def report(unchanged: PageSource, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "보고서"
    write_report(unchanged, out)
    return out


def test_every_link_leads_to_a_file(report: Path):
    pages = list(report.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        assert not Links(page).elements & {"script", "form"}, page
        for address in Links(page).addresses:
            path = unquote(address.partition("#")[0])
            assert not path or (page.parent / path).resolve().is_file(), (page, address)


def test_no_page_has_a_question_of_a_user(report: Path, unchanged: PageSource):
    asked = {text for one in read_review(unchanged)["proposals"] for text in one.entry.example_questions}
    assert len(asked) > 10
    for page in report.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not [question for question in asked if question and question in text], page


@pytest.mark.slow
def test_names_that_only_the_log_has_are_left_out(source: PageSource, tmp_path: Path):
    (log, *_) = sorted(source.workspace.records_dir.glob("*.jsonl"))
    log.write_text(log.read_text().replace('"search_articles"', '"ask_dana_kim"'))
    write_report(source, tmp_path / "out")
    for page in (tmp_path / "out").rglob("*.html"):
        assert "ask_dana_kim" not in page.read_text(encoding="utf-8"), page


@pytest.mark.slow
def test_an_earlier_report_is_replaced_as_a_whole(unchanged: PageSource, tmp_path: Path):
    out = tmp_path / "out"
    write_report(unchanged, out)
    (out / "old.html").write_text("old")
    write_report(unchanged, out)
    assert not (out / "old.html").exists()
    assert (out / "index.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_other_files_is_not_touched(unchanged: PageSource, tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="has other files"):
        write_report(unchanged, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_a_report_that_cannot_be_made_leaves_the_earlier_one(source: PageSource, tmp_path: Path):
    out = tmp_path / "out"
    write_report(source, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    (source.workspace.judgments_dir / "2026-04-26.jsonl").mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="cannot be read"):
        write_report(replace(source, snapshots=PageSnapshots()), out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == ["out"]
