"""Where files lie."""

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace, open_workspace


def mode(path):
    return path.stat().st_mode & 0o777


def test_the_nearest_coreloop_yaml_marks_the_root(tmp_path):
    (tmp_path / "coreloop.yaml").write_text("data_dir: outer\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert open_workspace(inner) == Workspace(tmp_path, Settings(data_dir="outer"))
    (tmp_path / "a" / "coreloop.yaml").write_text("data_dir: inner\n")
    assert open_workspace(inner).records_dir == tmp_path / "a/inner/audit/ai-ask"


def test_only_coreloop_s_own_paths_are_closed_to_others(tmp_path):
    workspace = Workspace(tmp_path, Settings())
    own = [workspace.knowledge_dir, workspace.archive_dir, workspace.candidates_dir, workspace.knowledge_file]
    others = [tmp_path / "data" / "other", tmp_path / "data" / "ai" / ".." / "x", tmp_path / "file.db"]
    for path in (*own, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o644) if path.suffix else path.mkdir(0o755, exist_ok=True)
        path.chmod(0o644 if path.suffix else 0o755)
        workspace.keep_private(path)
    assert [mode(path) for path in own] == [0o700, 0o700, 0o700, 0o600]
    assert [mode(path) for path in others] == [0o755, 0o755, 0o644]
