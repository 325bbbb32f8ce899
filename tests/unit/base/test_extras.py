"""The base installation records; everything else answers with the line that installs it."""

import re
import subprocess
import sys
from importlib.metadata import requires

import pytest

from coreloop.base.extras import CLI_MODULES, DISTRIBUTION, install_line, missing_extra
from rows import slow_after

LINE = f"dartlab-coreloop: the command line needs an extra; install it: {install_line('cli')}\n"
WITHOUT = """
import sys
from importlib.abc import MetaPathFinder
class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def python(code, *, absent, cwd):
    """Run code in a process in which some modules are not installed."""
    script = WITHOUT.format(absent=sorted(absent)) + code
    return subprocess.run(
        [sys.executable, "-c", script], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_a_server_installs_orjson_and_nothing_else():
    base = [requirement for requirement in requires(DISTRIBUTION) or () if "extra ==" not in requirement]
    assert [re.split(r"[<>=!~ ]", requirement)[0] for requirement in base] == ["orjson"]


RECORD = """
from coreloop import AuditCollector, dropped
with AuditCollector(question="why?"{more}) as audit:
    audit.observe_tool_call("search", {{"q": "x"}}, ok=True)
    audit.flush(chunk_len=1)
print(dropped())
"""


def test_recording_works_without_the_extra(tmp_path):
    done = python(RECORD.format(more=""), absent=CLI_MODULES, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")
    (day,) = (tmp_path / "data/audit/ai-ask").iterdir()
    assert b'"search"' in day.read_bytes()


def test_without_pyyaml_the_settings_are_not_read_and_it_is_said_once(tmp_path):
    (tmp_path / "coreloop.yaml").write_text("data_dir: elsewhere\n", encoding="utf-8")
    done = python(RECORD.format(more=""), absent={"yaml"}, cwd=tmp_path)
    assert done.stdout == "{'settings_need_pyyaml': 1}\n"
    assert done.stderr.count("settings_need_pyyaml") == 1
    assert "set CORELOOP_DATA_DIR" in done.stderr
    assert len(list((tmp_path / "data" / "audit" / "ai-ask").iterdir())) == 1


@pytest.mark.parametrize(
    "absent",
    slow_after(2, [CLI_MODULES, {"click"}, {"polars"}, {"msgspec"}]),
    ids=["all", "click", "polars", "msgspec"],
)
def test_a_command_answers_with_the_line_that_installs_the_extra(tmp_path, absent):
    python(RECORD.format(more=""), absent=set(), cwd=tmp_path)
    code = "sys.argv[1:] = ['pattern']; from coreloop.cli import run; run()"
    done = python(code, absent=absent, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", LINE)


def test_another_missing_module_is_a_bug_not_an_extra():
    assert missing_extra(ModuleNotFoundError("No module named 'errno'", name="errno")) is None
    assert missing_extra(ModuleNotFoundError()) is None


def test_a_folder_that_was_removed_is_one_line(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n"
    done = python(code + "from coreloop.cli import run; run()", absent=[], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dartlab-coreloop: the current folder was removed; change")
    assert done.stderr.count("\n") == 1
