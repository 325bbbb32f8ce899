"""What the model receives, as real schema commands print it."""

import json
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import ReachError
from coreloop.base.project.promotion_settings import ReachSettings
from coreloop.descriptions.edit import Edited
from coreloop.promote import tool_schemas as module
from coreloop.promote.commits import WritableRepository
from coreloop.promote.reach import Measured, compare_descriptions, measure_reach, unread_lines
from coreloop.promote.tool_schemas import schema_command
from editing import put_lines
from promoting import FILE, LINES, SOURCE, Project
from rows import each_row

OUTCOME = put_lines(SOURCE, "analysis", LINES, section="Guide")
assert isinstance(OUTCOME, Edited)
EDITED: Edited = OUTCOME
PRELUDE = "import inspect, json, sys; from tools.finance import analysis; text = inspect.getdoc(analysis); "
SHAPES = {
    "OpenAI": "[{'type': 'function', 'function': {'name': 'analysis', 'description': text}}]",
    "MCP": "{'tools': [{'name': 'analysis', 'description': text, 'inputSchema': {'type': 'object'}}]}",
    "MCP with the server's own name": (
        "{'name': 'finlab', 'description': 'A server.', "
        "'tools': [{'name': 'show', 'description': 'x'}, {'name': 'analysis', 'description': text}]}"
    ),
}


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def printing(schema: str) -> tuple[str, ...]:
    return python(f"{PRELUDE} print(json.dumps({schema}))")


def reach(
    project: Project,
    command: tuple[str, ...],
    *,
    caps: dict[str, int] | None = None,
    prefix: str = "",
    file: str = FILE,
) -> Measured:
    asked = schema_command(ReachSettings(command=command), project.root)
    assert asked is not None
    repository = WritableRepository(project.root)
    return measure_reach(
        asked,
        lambda folder: repository.export("main", folder),
        prefix,
        file,
        EDITED,
        tool="analysis",
        caps=caps or {},
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_description_is_found_in_every_shape(project: Project, shape: str) -> None:
    measured = reach(project, printing(SHAPES[shape]))
    assert (measured.ok, measured.source, measured.missing) == (True, "from the schema command", ())
    assert measured.before.startswith("Ratios of a company.")
    assert "Guide" not in measured.before
    assert measured.after == f"{measured.before}\n\nGuide\n-----\n" + "\n".join(LINES)


@each_row(("limit", "over"), [(1000, None), (999, "1 character"), (500, "500 characters")])
def test_description_beyond_a_cap_fails_every_request(limit: int, over: str | None) -> None:
    """The whole description counts, wherever in it the new lines are."""
    line = "- company: from show().code"
    before, after = "b" * 500, f"{line}\n".ljust(1000, "a")
    measured = compare_descriptions(before, after, [line], caps={"p": limit}, source="")
    wanted = (
        f"reach: every request to p would fail: the description is {over} over its limit "
        f"of {limit:,} (caps in coreloop.yaml); shorten the docstring",
    )
    assert measured.forbidden == (wanted if over else ())
    assert (measured.ok, measured.doubts) == (not over, ())


@each_row(("n", "framework", "where"), [(9, None, None), (2046, "mcp", "2,050"), (2046, "langchain", None)])
def test_a_line_behind_what_claude_code_sends_is_named(n: int, framework: Any, where: str | None) -> None:
    notes = list(unread_lines(f"{'b' * n}\n- hours: at\n  most 4", ["- hours: at most 4"], framework))
    place = f"hours: at most 4: would stand at character {where} of the description"
    assert notes == ([f"{place}, and Claude Code sends the first 2,048 characters"] if where else [])


FAILING = [
    pytest.param(python("print('hello')"), "did not print JSON; it must print the tools' schemas", id="text"),
    pytest.param(python("print('[' * 100000)"), "did not print JSON", id="nested deeply"),
    pytest.param(printing("[{'name': 'show', 'description': text}]"), "have no tool 'analysis'",
                 id="another tool"),
    pytest.param(python("import sys; print('why\\nbecause', file=sys.stderr); sys.exit(3)"),
                 "exited with 3: because", id="exit code"),
    pytest.param(("no-such-program", "--schema"), "no-such-program --schema cannot be run", id="no program"),
    pytest.param(("sh; echo", "x"), "sh; echo x cannot be run", id="no shell reads it"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "reason"), FAILING)
def test_command_that_fails_is_named(project: Project, command: tuple[str, ...], reason: str) -> None:
    with pytest.raises(ReachError, match=r"^reach: ") as caught:
        reach(project, command)
    assert reason in str(caught.value)


@pytest.mark.slow
def test_command_that_does_not_end_is_ended(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_S", 0.2)
    with pytest.raises(ReachError, match=r"took longer than 0\.2 s"):
        reach(project, python("import signal; signal.pause()"))


def test_command_sees_no_token(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("HARMLESS", "kept")
    seen = tmp_path / "seen"
    code = f"{PRELUDE} import os; open({str(seen)!r}, 'w').write(json.dumps(dict(os.environ))); "
    reach(project, python(f"{code} print(json.dumps([dict(name='analysis', description=text)]))"))
    environment = json.loads(seen.read_text())
    assert "canary" not in environment.values()
    assert environment["HARMLESS"] == "kept"
    assert environment["CORELOOP_AUDIT_DISABLE"] == "1"  # an import may run the agent


def test_exported_files_are_read_and_not_the_checkout(project: Project, monkeypatch) -> None:
    """A dirty file in the work tree, which PYTHONPATH names as an editable install would."""
    (project.root / FILE).write_bytes(b"broken (")
    monkeypatch.setenv("PYTHONPATH", str(project.root))
    assert reach(project, printing(SHAPES["MCP"])).ok
    assert (project.root / FILE).read_bytes() == b"broken ("


def test_other_code_that_is_read_instead_is_detected(project: Project, tmp_path: Path) -> None:
    """The hook of an editable install can lead even PYTHONPATH: the edit would seem to change nothing."""
    project.git("rm", "-r", "--quiet", "tools")
    project.commit({f"src/{FILE}": SOURCE})
    folder = tmp_path / "environment"
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "editable.pth").write_text(f"import sys; sys.path.insert(0, {str(project.root / 'src')!r})\n")
    command = (str(folder / "bin/python"), "-c", f"{PRELUDE} print(json.dumps({SHAPES['MCP']}))")
    with pytest.raises(ReachError) as caught:
        reach(project, command, file=f"src/{FILE}")
    decoy = project.root / "src" / FILE
    assert str(caught.value) == f"reach: tools.finance was read from {decoy}, not from the exported files"


def test_lines_that_a_script_reads_from_the_checkout_prove_nothing(project: Project, tmp_path: Path) -> None:
    """The user's dirty checkout holds the lines, and nobody knows what the script read."""
    (project.root / FILE).write_bytes(EDITED.source)
    script = tmp_path / "schemas"
    inner = (
        f"import sys; sys.path.insert(0, {str(project.root)!r}); {PRELUDE} print(json.dumps({SHAPES['MCP']}))"
    )
    script.write_text(f"#!{sys.executable}\n{inner}\n")
    script.chmod(0o755)
    measured = reach(project, (str(script),))
    assert (measured.before == measured.after, measured.missing, measured.ok) == (True, LINES, False)
