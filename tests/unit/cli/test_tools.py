"""The command ``tools`` as people, programs and code review meet it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
PAY = """{"tools": [{
  "name": "pay",
  "description": "Pays the bill of a day.",
  "parameters": {"properties": {
    "day": {"description": "When.", "minimum": 1, "default": 0}, "to_whom": {}, "bill": {}}}
}], "application/json": {"schema": {"properties": {"day": {"description": "Of OpenAPI."}}}}}
"""
ADD = """from fastmcp import FastMCP
mcp = FastMCP("sums")
@mcp.tool()
def add(a: int, b: int) -> int:
    \"\"\"Adds two numbers.\"\"\"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one tool, a test, and a file that cannot be read."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "pay.json").write_text(PAY)
    for name in ("pay.test.json", "test_pay.json", "tests_integ/pay.json"):
        (tmp_path / "shop" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "shop" / name).write_text(PAY)
    (tmp_path / "shop" / "torn.json").write_text('{"description": ')
    return tmp_path


LINES = {
    "the list": ("", 0, "pay: 2 texts, its own 23 characters\n    shop/pay.json:3 JSON string"),
    "an error": ("--check", 1, "shop/pay.json:5: error: pay[day]: the default 0 is outside the"),
    "a warning": ("--check", 1, "shop/pay.json:3: warning: pay: neither this text nor its"),
    "a file": ("--check shop/pay.json", 1, "1 error, 1 warning"),
    "nothing named": ("--check empty", 0, "no text of a tool is found; name the tools under tools:"),
    "a namesake": ("twice", 0, "twice/a.py:5 docstring"),
    "no tool": ("empty", 0, "no text of a tool is found"),
}


@pytest.mark.parametrize(("words", "code", "line"), LINES.values(), ids=LINES)
def test_people_get_the_texts_and_what_is_wrong(project: Path, run: Run, words: str, code: int, line: str):
    for folder in ("empty", "twice"):
        (project / folder).mkdir()
    for name in ("a.py", "b.py"):
        (project / "twice" / name).write_text(ADD)
    done = run("tools", *words.split())
    assert done.returncode == code
    assert line in done.stdout
    is_read = words in {"", "--check"}
    assert ("1 file not read, first shop/torn.json: " in done.stderr) is is_read


@pytest.mark.parametrize(
    "loop",
    [
        "made = [FunctionTool.from_defaults(fn=one) for one in (add, sums.take)]",
        "made = [FunctionTool.from_defaults(one) for one in BOTH]",
        "for one in sums.BOTH:\n    agent.tools.append(FunctionTool.from_defaults(fn=one))",
    ],
)
def test_a_loop_makes_tools_of_functions(tmp_path: Path, run: Run, loop: str):
    functions = 'def add(a):\n    """Adds."""\ndef take(a):\n    """Takes."""\nBOTH = [add, take]\n'
    (tmp_path / "sums.py").write_text(functions)
    (tmp_path / "desk.py").write_text(f"import sums\nfrom sums import BOTH, add\n{loop}\n")
    assert [tool["tool"] for tool in json.loads(run("tools", "--json").stdout)] == ["add", "take"]


def test_a_check_of_nothing_is_no_success(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch):
    assert run("tools", "--check").returncode == 2
    monkeypatch.setitem(sys.modules, "tree_sitter_typescript", None)
    (tmp_path / "pay.ts").write_text("export const tools = { pay: tool({ description: 'Pays.' }) }\n")
    done = run("tools", "--check", "pay.ts")
    assert (done.returncode, "[typescript]" in done.stderr) == (2, True)


def test_programs_get_the_same_facts(project: Path, run: Run):
    (tool,) = json.loads(run("tools", "--json").stdout)
    assert tool == {
        "tool": "pay",
        "texts": 2,
        "characters": 23,
        "waiting": 0,
        "file": "shop/pay.json",
        "line": 3,
        "what": "JSON string",
        "refused": "",
    }
    found = json.loads(run("tools", "--check", "--json").stdout)
    assert [(its["rule"], its["severity"], its["argument"]) for its in found] == [
        ("argument-without-words", "warning", ""),
        ("default-outside-range", "error", "day"),
    ]


def test_code_review_gets_sarif(project: Path, run: Run, tmp_path_factory: pytest.TempPathFactory):
    done = run("tools", "--sarif", "shop")
    log = json.loads(done.stdout)
    assert (done.returncode, log["version"], len(log["runs"])) == (1, "2.1.0", 1)
    driver = log["runs"][0]["tool"]["driver"]
    rules = {rule["id"] for rule in driver["rules"]}
    assert log["$schema"].endswith("sarif-2.1.0.json")
    assert all(rule["help"] and rule["defaultConfiguration"] for rule in driver["rules"])
    for result in log["runs"][0]["results"]:
        assert result["ruleId"] in rules
        assert result["level"] in {"error", "warning"}
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "shop/pay.json"}
        assert place["region"]["startColumn"] > place["region"]["startLine"] >= 1
    outside = tmp_path_factory.mktemp("other") / "b c.json"
    outside.write_text(PAY)
    results = json.loads(run("tools", "--sarif", str(outside)).stdout)["runs"][0]["results"]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": str(outside).replace(" ", "%20")
    }
