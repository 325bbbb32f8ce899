"""Every question reads first what is new, changed, moved or removed."""

from datetime import UTC, datetime

import pytest

from coreloop.answer.search.index.run import index_paths, refresh_index
from coreloop.answer.search.index.search_index import entry_named, search_files
from coreloop.base.project.workspace import open_workspace
from indexing import Indexed


def refreshed(project: Indexed) -> str:
    return refresh_index(project.workspace, now=datetime.now(UTC))


def found(project: Indexed, query: str) -> list[str]:
    sources = search_files(project.workspace, query, now=datetime.now(UTC))[0]
    return [source.location for source in sources]


def test_the_first_question_makes_the_index(project: Indexed):
    project.write({"docs/a.md": "# Heron\n"})
    assert found(project, "heron") == ["docs/a.md"]


def test_new_changed_renamed_and_removed_files_are_found_as_they_are_now(project: Indexed):
    project.write({f"docs/{name}.md": f"# Heron {name}\n" for name in ("old", "stale", "gone", "fresh")})
    project.update()
    project.write({"docs/new.md": "# Heron new\n", "docs/stale.md": "# Pelican since\n"})
    (project.root / "docs/old.md").rename(project.root / "docs/renamed.md")
    (project.root / "docs/gone.md").unlink()
    assert sorted(found(project, "heron")) == ["docs/fresh.md", "docs/new.md", "docs/renamed.md"]
    assert found(project, "pelican") == ["docs/stale.md"]


def test_a_file_outside_of_the_settings_that_was_indexed_once_stays_up_to_date(project: Indexed):
    project.write({"coreloop.yaml": "search: {paths: [docs]}\n", "docs/a.md": "# A\n", "b.md": "# Heron\n"})
    workspace = open_workspace(project.root)
    index_paths(workspace, [*workspace.search_paths, project.root / "b.md"], now=datetime.now(UTC))
    (project.root / "b.md").write_text("# Pelican\n")
    refresh_index(workspace, now=datetime.now(UTC))
    assert (project.locations("heron"), project.locations("pelican")) == ([], ["b.md"])
    (project.root / "b.md").unlink()
    refresh_index(workspace, now=datetime.now(UTC))
    assert project.locations("pelican") == []


@pytest.mark.parametrize("search", ["[docs]", "\n - !notes", "['.', '!./notes/*.md']"])
def test_what_the_settings_do_not_name_is_removed_and_not_answered_from(project: Indexed, search: str):
    project.write(
        {"docs/a.md": "# Heron\n", "notes/b.md": "# Heron\n", "c.sql": "CREATE TABLE heron (a int);"}
    )
    project.write({"coreloop.yaml": "schemas: [c.sql]\n"})
    index_paths(open_workspace(project.root), None, now=datetime.now(UTC))
    project.write({"coreloop.yaml": f"schemas: [c.sql]\nsearch:\n paths: {search}\n"})
    workspace, is_excluded = open_workspace(project.root), "!" in search
    refresh_index(workspace, now=datetime.now(UTC))
    assert ("notes/b.md" in project.locations("heron")) is not is_excluded
    assert index_paths(workspace, None, now=datetime.now(UTC)).counts["removed"] == (not is_excluded)
    assert project.locations("heron") == ["docs/a.md"]
    assert entry_named(project.file, "c.sql#heron.a")
    index_paths(workspace, [project.root / "notes"], now=datetime.now(UTC))
    assert ("notes/b.md" in project.locations("heron")) is not is_excluded


def test_a_file_without_text_is_read_once(project: Indexed):
    project.write({"docs/a.md": "# Heron\n", "docs/b.md": b"\x00\x01\x02"})
    project.update()
    report = project.update()
    assert report.skipped == {"binary": ["docs/b.md"]}
    before = project.file.stat().st_mtime_ns
    assert refreshed(project) == ""
    assert project.file.stat().st_mtime_ns == before
    project.write({"docs/b.md": "# Pelican, at last\n"})
    assert found(project, "pelican") == ["docs/b.md"]


@pytest.mark.parametrize(
    ("name", "text", "day"),
    [
        ("docs/a.md", "---\ndate: 2025-01-02\nupdated: 2026-03-04\n---\n# Heron\n", "2026-03-04"),
        ("docs/a.md", "# Heron, 3 March 2026 and later\n", "2026-03-03"),
        ("docs/a.md", "# Heron (March 3, 2026)\n", "2026-03-03"),
        ("docs/2026-04-25-a.md", "# Heron\n", "2026-04-25"),
        ("docs/20260425.txt", "The heron fishes.\n", "2026-04-25"),
        ("docs/a.md", "# 왜가리 heron\n\n## 2026년 4월 25일\n\nheron\n", "2026-04-25"),
        ("docs/a.md", "# Heron\n\nIt was seen on 2026-04-25.\n", None),
        ("docs/2026-02-31-a.md", "# Heron\n", None),
        ("docs/heron-2024.md", "# Heron\n\nLast updated: March 3, 2026\n", "2026-03-03"),
        ("docs/a.md", "# Heron\n\n시행: 2023-01-01, 개정: 2025-03-01\n", "2025-03-01"),
        ("docs/a.md", "# Heron, 2025년 2분기\n", "2025 Q2"),
        ("docs/a.md", "작성일: 2025-05-12\n\n# 2024년\n\n## heron\n\nIt fishes.\n", "2024"),
        ("docs/a.md", "# Heron\n\nIn 2020.\n\n# New\n\n개정: 2025-05-12\n", None),
        ("docs/a.md", "# Heron\n\n# New\n\nIt is.\n\n*Last updated: May 2025*\n", "2025-05"),
        ("docs/heron_2024.md", "# Heron\n\nPort 2049 since 1999.\n", "2024"),
    ],
)
def test_the_date_of_a_file_or_section_is_known(project: Indexed, name: str, text: str, day: str | None):
    project.write({name: text})
    project.update()
    dates = {source.published for source in project.search("heron")}
    assert day in dates


def test_a_file_that_became_a_link_out_of_the_project_is_forgotten(
    project: Indexed, tmp_path_factory: pytest.TempPathFactory
):
    project.write({"notes.md": "aardvark", "other.md": "aardvark"})
    refreshed(project)
    secret = tmp_path_factory.mktemp("outside") / "secret.md"
    secret.write_text("aardvark")
    (project.root / "notes.md").unlink()
    (project.root / "notes.md").symlink_to(secret)
    refreshed(project)
    assert project.locations("aardvark") == ["other.md"]
