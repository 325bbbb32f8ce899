"""What `refine` says about a tool whose statement is promoted, on a branch or rejected."""

from pathlib import Path

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.cli.refine import unproposed_lines
from coreloop.learn.facts.counting import mine_settings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.refine.run import Refined, refine
from logs import call, failed, on_days, record, word, write_log
from samples import ALWAYS

SOURCE = '''
def ship(order_id, address=""):
    """Ships an order."""
'''
REASON = "a statement says when this tool fails: it is promoted, open or rejected already"


def _refine(folder: Path, known: frozenset[str] = frozenset()) -> Refined:
    workspace = Workspace(folder, Settings())
    files = read_folder(folder / "log", mine_settings(Settings(), None))
    return refine(files, ALWAYS, workspace=workspace, min_failures=2, known=known)


def _write_log(folder: Path) -> None:
    (folder / "shop.py").write_text(SOURCE)
    rows = []
    for number in range(40):
        args = {"order_id": f"o{word(number)}"}
        rows += [
            record(question=f"Q {word(number)} a", tool_calls=[failed("ship", args), call("done")]),
            record(question=f"Q {word(number)} b", tool_calls=[call("ship", {**args, "address": "x"})]),
        ]
    write_log(folder / "log" / "a.jsonl", on_days(rows))


def test_a_failure_whose_statement_is_settled_does_not_lose_its_reason(tmp_path: Path):
    _write_log(tmp_path)
    before = _refine(tmp_path)
    keys = frozenset(entry.key for entry in before.statements)
    assert len(keys) == 1
    after = _refine(tmp_path, keys)
    assert after.statements == ()
    reasons = {
        example.refused for example in after.counterexample_search.counterexamples if example.tool == "ship"
    }
    assert reasons == {REASON}
    printed = unproposed_lines(after.unproposed, n_days=9, max_shown=4)
    (line,) = [line for line in printed if "(known)" in line]
    assert "1 statement not proposed" in line
