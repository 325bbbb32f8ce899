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


def test_knowledge_is_next_to_the_audit_data(tmp_path):
    workspace = Workspace(tmp_path, Settings(data_dir="d"))
    assert workspace.knowledge_file == tmp_path / "d/ai/knowledge/dartlab_knowledge.db"
    assert workspace.archive_dir == tmp_path / "d/ai/knowledge/_archive"
    assert workspace.audit_notes_dir == tmp_path / "d/dart/auditAnalysis"


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


def test_a_folder_of_coreloops_own_is_closed_to_others(tmp_path):
    workspace = Workspace(tmp_path, Settings())
    others = [tmp_path / "out", workspace.audit_dir, tmp_path]
    for folder in (workspace.candidates_dir, *others):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        workspace.keep_private(folder)
    workspace.keep_private(workspace.audit_dir / ".." / ".." / "out")
    assert mode(workspace.candidates_dir) == 0o700
    assert [mode(folder) for folder in others] == [0o755] * 3
    workspace.keep_private(workspace.counterexamples_dir)
    assert not workspace.counterexamples_dir.exists()
