"""Sources of an agent's run: fetched, local or given, numbered, and kept whole."""

from pathlib import Path

import pytest

from coreloop.answer.agent.record import SHOWN_CHARS
from coreloop.base.errors import UsageError
from coreloop.runs.state import state_json
from fault_server import fault_server, reader_of, replies
from walking import LENGTH, SEOUL, commit, finding, walk_in


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_file_that_the_agent_wrote_is_only_given(is_committed: bool, tmp_path: Path):
    with walk_in(tmp_path) as walk:
        (tmp_path / "docs" / "mine.md").write_text("The answer is 42.")
        (tmp_path / "docs" / "han.md").write_text("The Han river is 42 kilometres long.")
        if is_committed:
            commit(tmp_path)
        assert [walk.read(f"docs/{name}.md").trust for name in ("mine", "han")] == ["given", "given"]


def test_without_git_a_file_is_only_given(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        (tmp_path / ".git").rename(tmp_path / "gone")
        walk.open()
        assert walk.read("docs/han.md").trust == "given"


def test_a_page_is_fetched_whatever_text_is_given_with_its_address(tmp_path: Path):
    page = f"<html><body><article><p>{LENGTH} {SEOUL}</p></article></body></html>"
    with walk_in(tmp_path) as walk, fault_server() as server:
        server.paths["/robots.txt"] = replies(404)
        server.paths["/han"] = replies(200, page.encode(), content_type="text/html")
        url = f"http://page.example:{server.port}/han"
        shown = walk.read(url, "The Han river is 9 km long.", pages=reader_of(server.port))
        assert (shown.trust, LENGTH in shown.read.source.text) == ("fetched", True)
        recorded = walk.record(finding("The Han river is 9 km long.", 1), finding(LENGTH, 1))
    assert [one.sentence for one in recorded.unbelieved] == ["The Han river is 9 km long."]


def test_a_page_that_coreloop_cannot_reach_is_given(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        url = "http://127.0.0.1/han"
        with pytest.raises(
            UsageError, match=r"is not a public address; nothing was stored\. If your own tools"
        ):
            walk.read(url)
        shown = walk.read(url, LENGTH)
    assert (shown.trust, shown.note) == ("given", "robots.txt: 127.0.0.1 is not a public address")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("docs/none.md", "no such file"),
        ("../other.md", "leads out of the project"),
        ("7", "no source 7; the run has none"),
    ],
)
def test_what_cannot_be_read_is_a_line(place: str, message: str, tmp_path: Path):
    with walk_in(tmp_path) as walk, pytest.raises(UsageError, match=message):
        walk.read(place)


def test_a_long_source_is_shown_in_parts_and_stays_out_of_the_state(tmp_path: Path):
    text = "\n\n".join(f"Paragraph {number} about sediment and silt." * 5 for number in range(200))
    with walk_in(tmp_path, {"docs/long.md": f"{text}\n\n{SEOUL}\n"}) as walk:
        shown = walk.read("docs/long.md")
        assert shown.following is not None
        assert sum(len(part.text) for part in shown.passages) < 2 * SHOWN_CHARS
        rest = walk.read("1", start=shown.following)
        assert rest.passages[0].start >= shown.passages[-1].end
        near = walk.read("1", query="Which city does the Han river flow through?")
        assert any(SEOUL in part.text for part in near.passages)
        assert len(str(state_json(walk.state))) < 20_000
        assert walk.record(finding(SEOUL, 1)).unbelieved == ()
