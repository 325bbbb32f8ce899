"""The script that reads a project's tools: what a project can get wrong, as a real process says it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import coreloop.promote.frameworks
from coreloop.base.errors import ReachError
from coreloop.base.project.promotion_settings import Framework, ReachSettings
from coreloop.promote.tool_schemas import SchemaCommand, read_description, schema_command

FOLDER = Path(coreloop.promote.frameworks.__file__).parent


def command(tools: str) -> SchemaCommand:
    chosen = ReachSettings(framework="fastmcp", tools=tools, python=sys.executable)
    result = schema_command(chosen, Path())
    assert result is not None
    return result


def message(folder: Path, tools: str) -> str:
    with pytest.raises(ReachError) as caught:
        read_description(command(tools), folder, "find_orders")
    return str(caught.value)


PYTHON = "set reach: python in coreloop.yaml to the interpreter that runs the tools"
NAME = "change tools under reach: in coreloop.yaml"
FAILING = [
    ("", "shop:TOOLS", f"there is no module shop; {NAME}"),
    (
        "import no_such_package\n",
        "tools:TOOLS",
        f"tools needs the module no_such_package, which {sys.executable} does not have; {PYTHON}",
    ),
    ("x = {}['KEY']\n", "tools:TOOLS", "tools cannot be imported: KeyError: 'KEY'"),
    (
        "x = (\n",
        "tools:TOOLS",
        "tools cannot be imported: SyntaxError: '(' was never closed (tools.py, line 1)",
    ),
    ("", "tools:TOOLS", "tools has no TOOLS; change tools under reach: in coreloop.yaml"),
    (
        "def make(n): pass\n",
        "tools:make",
        "tools:make needs arguments; name a list of tools, or a function that returns a list",
    ),
    (
        "TOOLS = []\n",
        "tools:TOOLS",
        f"fastmcp is not installed for {sys.executable}, or its version is not supported (No module "
        f"named 'fastmcp'); {PYTHON}",
    ),
]


@pytest.mark.parametrize(("source", "tools", "reason"), FAILING)
def test_what_is_wrong_is_one_sentence_that_says_what_to_do(
    tmp_path: Path, source: str, tools: str, reason: str
) -> None:
    package = tmp_path / "tools" if tools.startswith("tools.shop") else tmp_path
    package.mkdir(exist_ok=True)
    (package / ("__init__.py" if package != tmp_path else "tools.py")).write_text(source, encoding="utf-8")
    assert message(tmp_path, tools) == f"reach: {reason}"


def test_no_framework_is_shadowed_by_the_reader_of_its_name(tmp_path: Path) -> None:
    """Readers are named like the packages they read, and a script's folder leads the path."""
    names = [path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("__")]
    assert sorted(names) == sorted(name.replace("-", "_") for name in get_args(Framework))
    (tmp_path / "tools.py").write_text("import sys\nraise LookupError(sys.path)\n", encoding="utf-8")
    assert str(FOLDER) not in message(tmp_path, "tools:TOOLS")


def test_schemas_that_a_project_wrote_itself_need_no_framework_object(tmp_path: Path) -> None:
    """The reader itself is loaded all the same: here it is one without a package to import."""
    copied = tmp_path / "frameworks"
    copied.mkdir()
    (copied / "__main__.py").write_bytes((FOLDER / "__main__.py").read_bytes())
    (copied / "none.py").write_text(
        "KINDS = ''\ndef read(item):\n    return [(item, 'x')] if item == 5 else None\n", encoding="utf-8"
    )
    (tmp_path / "other.py").write_text("N, M = 5, 6\ndef five(): ...\n", encoding="utf-8")
    definition = {"name": "find_orders", "description": "한국어"}
    tools = [definition, {"type": "function", "function": {**definition, "name": "other"}}]
    source = f"import os, sys\nprint('noise')\nos.system('echo more')\nTOOLS = {tools!r}\n"
    (tmp_path / "tools.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(copied / "__main__.py"), "none", "tools:TOOLS, other"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    of_module = {"name": "5", "description": "x"}
    assert json.loads(done.stdout) == [definition, {**definition, "name": "other"}, of_module]
    assert sorted(done.stderr.split()) == ["more", "noise"]


def test_interpreter_is_the_set_one_else_that_of_the_project_else_this_one(tmp_path: Path) -> None:
    def chosen(python: str | None = None) -> str:
        result = schema_command(ReachSettings(framework="mcp", tools="a:b", python=python), tmp_path)
        assert result is not None
        return result.words[0]

    assert chosen() == sys.executable
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    assert chosen() == str(own)
    assert chosen("python3.99") == "python3.99"
    assert chosen("env/bin/python") == str(tmp_path / "env/bin/python")
    assert chosen("/opt/python") == "/opt/python"
