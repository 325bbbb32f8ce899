"""The demo's tool package: what coreloop.yaml says of them, their docstrings, and how it is loaded."""

import doctest
import inspect
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from coreloop.admin.demo.run import load_tools, make_project
from coreloop.admin.demo.script import PACKAGE, PROJECT
from rows import each_row
from scripted import tools_of_the_demo

HEADED = ["Parameters", "Returns", "Raises", "Examples", "Notes", "Guide", "See Also"]
TOOLS = tools_of_the_demo()


@pytest.fixture(params=TOOLS)
def tool(request):
    return TOOLS[request.param]


def test_the_tools_are_those_of_the_configuration():
    configured = yaml.safe_load((PROJECT / "coreloop.yaml").read_text(encoding="utf-8"))["tools"]
    assert configured.keys() == TOOLS.keys()
    for name, entry in configured.items():
        path, symbol = entry["target"].split("::")
        assert symbol == TOOLS[name].__name__
        assert Path(inspect.getfile(TOOLS[name])) == PROJECT / path
        assert set(entry.get("selectors", [])) <= set(inspect.signature(TOOLS[name]).parameters)


def test_examples_in_the_docstring_are_true(tool):
    tests = doctest.DocTestFinder().find(tool, tool.__name__, globs=dict(tool.__globals__))
    results = [doctest.DocTestRunner(verbose=False).run(test) for test in tests]
    assert sum(result.attempted for result in results) >= 2
    assert sum(result.failed for result in results) == 0


def test_docstring_has_nine_sections_in_order(tool):
    lines = inspect.getdoc(tool).splitlines()
    headed = [above for above, below in pairwise(lines) if below and set(below) == {"-"}]
    assert headed == HEADED
    summary, blank, description = lines[:3]
    assert summary.endswith(".")
    assert blank == ""
    assert description
    assert description not in HEADED


def test_docstring_names_every_parameter(tool):
    documented = inspect.getdoc(tool).split("Parameters\n")[1].split("Returns\n")[0]
    assert [
        line.split(" : ")[0] for line in documented.splitlines() if " : " in line and line[0] != " "
    ] == list(inspect.signature(tool).parameters)


@each_row("name", TOOLS)
def test_no_guide_names_another_tool(name):
    """Which calls go well together is what the demo's mining must find."""
    guide = inspect.getdoc(TOOLS[name]).split("Guide\n")[1].split("See Also\n")[0]
    assert not [other for other in TOOLS if f"{other}(" in guide or f"`{other}`" in guide]


def test_a_copied_project_loads_from_where_it_was_copied(tmp_path):
    make_project(tmp_path)
    tools = load_tools(tmp_path, PACKAGE)
    assert {Path(inspect.getfile(tool)).parent for tool in tools.values()} == {tmp_path / PACKAGE}


def test_a_folder_without_tools_is_an_import_error(tmp_path):
    with pytest.raises(ImportError, match=PACKAGE):
        load_tools(tmp_path, PACKAGE)


def test_every_file_of_the_demo_is_named_by_its_kind():
    """The wheel takes every file below the package: a stray one would be copied to users."""
    kinds = {path.suffix for path in PROJECT.rglob("*") if path.is_file()} - {".pyc"}
    assert kinds == {".py", ".csv", ".yaml"}
